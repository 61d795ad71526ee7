"""PUT /v2/fonts/{name}: store a TrueType, OpenType, WOFF or WOFF2 font under a name; the format is detected from the bytes."""

from pathlib import Path

from client import read_arguments, send

name, file = read_arguments("NAME FILE")
body = Path(file).read_bytes()
print(send("PUT", f"/v2/fonts/{name}", body=body, content_type="font/sfnt").decode())
