"""PUT /v2/templates/{id}: replace the live content."""

from pathlib import Path

from client import read_arguments, send

template_id, file = read_arguments("ID TEMPLATE.xml")
path, body = f"/v2/templates/{template_id}", Path(file).read_bytes()
print(send("PUT", path, body=body, content_type="application/xml").decode())
