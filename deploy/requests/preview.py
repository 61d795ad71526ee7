"""POST /v2/preview: draw a page of the template in a file, with DATA, as page.png."""

import json
from base64 import b64decode
from pathlib import Path

from client import read_arguments, send_json

template, data = read_arguments("TEMPLATE.xml [DATA.json]")
fields = {"template": Path(template).read_text("utf-8"), "page": 1}
if data:
    fields["payload"] = Path(data).read_text("utf-8")
answer = json.loads(send_json("POST", "/v2/preview", fields))
if "file" in answer:
    Path("page.png").write_bytes(b64decode(answer["file"]["data"]))
print(json.dumps(answer["findings"], indent=2))
