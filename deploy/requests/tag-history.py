"""GET /v2/templates/{id}/tags/{tag}/history: read the history of a tag."""

from client import read_arguments, send

template_id, tag = read_arguments("ID TAG")
print(send("GET", f"/v2/templates/{template_id}/tags/{tag}/history").decode())
