"""DELETE /v2/webhooks/{webhook_id}: delete a webhook."""

from client import read_arguments, send

(webhook_id,) = read_arguments("ID")
print(send("DELETE", f"/v2/webhooks/{webhook_id}").decode())
