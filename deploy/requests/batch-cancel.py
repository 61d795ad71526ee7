"""DELETE /v2/batches/{batch_id}: cancel a batch, or remove one that has ended."""

from client import read_arguments, send

(batch_id,) = read_arguments("ID")
print(send("DELETE", f"/v2/batches/{batch_id}").decode())
