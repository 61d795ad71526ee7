"""GET /v2/jobs: the jobs of the account, newest first, optionally those of one status."""

from client import read_arguments, send

(status,) = read_arguments("[STATUS]")
print(send("GET", "/v2/jobs", query={"status": status} if status else None).decode())
