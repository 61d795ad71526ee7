"""GET /, /docs/openapi.json and /docs: the API description."""

from pathlib import Path

from client import send

print(send("GET", "/docs/openapi.json").decode())
Path("docs.html").write_bytes(send("GET", "/docs"))
