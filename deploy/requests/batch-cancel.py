"""DELETE /v2/batches/{batch_id}: cancel what is not begun."""

from client import read_arguments, send

(batch_id,) = read_arguments("ID")
print(send("DELETE", f"/v2/batches/{batch_id}").decode())
