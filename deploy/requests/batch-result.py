"""GET /v2/batches/{batch_id}/result: download the zip or the merged PDF."""

from pathlib import Path

from client import read_arguments, send

batch_id, file = read_arguments("ID FILE")
Path(file).write_bytes(send("GET", f"/v2/batches/{batch_id}/result"))
