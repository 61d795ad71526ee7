"""POST /v2/fonts: store a font sent as base64 in JSON."""

import base64
from pathlib import Path

from client import read_arguments, send_json

name, file = read_arguments("NAME FILE")
data = base64.b64encode(Path(file).read_bytes()).decode()
print(send_json("POST", "/v2/fonts", {"name": name, "data": data}).decode())
