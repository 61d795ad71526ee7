"""GET /v2/jobs/{id}/pdf; writes document.pdf."""

from pathlib import Path

from client import read_arguments, send

(job_id,) = read_arguments("JOB_ID")
Path("document.pdf").write_bytes(send("GET", f"/v2/jobs/{job_id}/pdf"))
