"""GET /v2/jobs/{id}: read a job, waiting up to a minute for its end."""

from client import read_arguments, send

(job_id,) = read_arguments("JOB_ID")
print(send("GET", f"/v2/jobs/{job_id}", query={"wait": "60"}).decode())
