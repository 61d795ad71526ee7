"""GET /v2/templates/{id}/versions: list the newest versions."""

from client import read_arguments, send

(template_id,) = read_arguments("ID")
print(send("GET", f"/v2/templates/{template_id}/versions").decode())
