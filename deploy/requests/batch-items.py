"""GET /v2/batches/{batch_id}/items: list the documents and their statuses."""

from client import read_arguments, send

(batch_id,) = read_arguments("ID")
print(send("GET", f"/v2/batches/{batch_id}/items").decode())
