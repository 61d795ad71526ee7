"""POST /v2/batches: render many documents, one JSON object per line, a JSON array of them, or one CSV row each."""

from pathlib import Path

from client import read_arguments, send

TYPES = {".ndjson": "application/x-ndjson", ".json": "application/json", ".csv": "text/csv"}

template, data, output = read_arguments(
    "TEMPLATE DATA.ndjson|DATA.json|DATA.csv [files|zip|merged]"
)
answer = send(
    "POST",
    "/v2/batches",
    query={"template": template, "output": output or "zip"},
    body=Path(data).read_bytes(),
    content_type=TYPES[Path(data).suffix],
)
print(answer.decode())
