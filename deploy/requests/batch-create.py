"""POST /v2/batches: render many documents, a JSON object a line or a CSV row each."""

from pathlib import Path

from client import read_arguments, send

template, data, output = read_arguments("TEMPLATE DATA.ndjson|DATA.csv [files|zip|merged]")
answer = send(
    "POST",
    "/v2/batches",
    query={"template": template, "output": output or "zip"},
    body=Path(data).read_bytes(),
    content_type="application/x-ndjson" if data.endswith(".ndjson") else "text/csv",
)
print(answer.decode())
