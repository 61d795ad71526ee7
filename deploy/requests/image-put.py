"""PUT /v2/images/{name}: store a PNG, JPEG, WebP, SVG or PDF under a name; the format is detected from the bytes."""

from pathlib import Path

from client import read_arguments, send

name, file = read_arguments("NAME FILE")
body = Path(file).read_bytes()
print(send("PUT", f"/v2/images/{name}", body=body, content_type="image/png").decode())
