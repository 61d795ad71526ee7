"""POST /v2/templates/{id}/versions: publish the live content."""

from client import read_arguments, send_json

template_id, message = read_arguments("ID [MESSAGE]")
path = f"/v2/templates/{template_id}/versions"
print(send_json("POST", path, {"message": message}).decode())
