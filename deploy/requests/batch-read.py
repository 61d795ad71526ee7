"""GET /v2/batches/{batch_id}: read a batch, waiting up to a minute for its end."""

from client import read_arguments, send

batch_id, seconds = read_arguments("ID [SECONDS]")
print(send("GET", f"/v2/batches/{batch_id}", query={"wait": seconds or "60"}).decode())
