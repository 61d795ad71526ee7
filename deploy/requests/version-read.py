"""GET /v2/templates/{id}/versions/{version}: read a version and its content."""

from client import read_arguments, send

template_id, version = read_arguments("ID VERSION")
print(send("GET", f"/v2/templates/{template_id}/versions/{version}").decode())
