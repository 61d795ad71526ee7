"""POST /v2/validate: validate a document, or data for TEMPLATE."""

from pathlib import Path

from client import read_arguments, send

file, template = read_arguments("DOCUMENT.xml|DATA.json [TEMPLATE]")
types = {".json": "application/json", ".csv": "text/csv", ".md": "text/markdown"}
content_type = types.get(Path(file).suffix, "application/xml")
query = {"template": template} if template else None
body = Path(file).read_bytes()
print(send("POST", "/v2/validate", query=query, body=body, content_type=content_type).decode())
