"""PUT /v2/templates/{id}/tags/{tag}: point a tag at a version."""

from client import read_arguments, send_json

template_id, tag, version = read_arguments("ID TAG VERSION")
path = f"/v2/templates/{template_id}/tags/{tag}"
print(send_json("PUT", path, {"version": int(version)}).decode())
