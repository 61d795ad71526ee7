"""GET /v2/templates/{id}/dependents: list the templates that extend or import one."""

from client import read_arguments, send

(template_id,) = read_arguments("ID")
print(send("GET", f"/v2/templates/{template_id}/dependents").decode())
