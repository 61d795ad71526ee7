"""PATCH /v2/templates/{template_id}: rename a template."""

from client import read_arguments, send_json

template_id, name = read_arguments("ID NAME")
print(send_json("PATCH", f"/v2/templates/{template_id}", {"name": name}).decode())
