"""DELETE /v2/templates/{id}/tags/{tag}."""

from client import read_arguments, send

template_id, tag = read_arguments("ID TAG")
print(send("DELETE", f"/v2/templates/{template_id}/tags/{tag}").decode())
