"""POST /v2/pdf with Prefer: respond-async and an Idempotency-Key; prints the job."""

from pathlib import Path

from client import read_arguments, send

document, key = read_arguments("DOCUMENT.xml KEY")
headers = {"Prefer": "respond-async", "Idempotency-Key": key}
body = Path(document).read_bytes()
job = send("POST", "/v2/pdf", body=body, content_type="text/xml", headers=headers)
print(job.decode())
