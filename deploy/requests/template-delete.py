"""DELETE /v2/templates/{id}."""

from client import read_arguments, send

(template_id,) = read_arguments("ID")
send("DELETE", f"/v2/templates/{template_id}")
