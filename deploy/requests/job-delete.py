"""DELETE /v2/jobs/{id}: cancel a job, or remove one that has ended."""

from client import read_arguments, send

(job_id,) = read_arguments("JOB_ID")
send("DELETE", f"/v2/jobs/{job_id}")
