"""GET /v2/templates/{id}/tags: list the tags of a template by name."""

from client import read_arguments, send

(template_id,) = read_arguments("ID")
print(send("GET", f"/v2/templates/{template_id}/tags").decode())
