"""POST /v2/templates: create a template; without a file it has no content yet."""

from pathlib import Path

from client import read_arguments, send

name, file = read_arguments("NAME [TEMPLATE.xml]")
query, body = {"name": name}, Path(file).read_bytes() if file else b""
print(
    send("POST", "/v2/templates", query=query, body=body, content_type="application/xml").decode()
)
