"""GET /v2/batches/{batch_id}: tell how far a batch is, waiting up to a minute for its end."""

from client import read_arguments, send

batch_id, seconds = read_arguments("ID [SECONDS]")
print(send("GET", f"/v2/batches/{batch_id}", query={"wait": seconds or "60"}).decode())
