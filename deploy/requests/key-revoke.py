"""DELETE /v2/keys/{key_id}: revoke a key of the account permanently."""

from client import read_arguments, send

(key_id,) = read_arguments("ID")
print(send("DELETE", f"/v2/keys/{key_id}").decode())
