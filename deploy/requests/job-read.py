"""GET /v2/jobs/{id}: the record, as soon as the job has ended or after a minute."""

from client import read_arguments, send

(job_id,) = read_arguments("JOB_ID")
print(send("GET", f"/v2/jobs/{job_id}", query={"wait": "60"}).decode())
