"""GET /v2/webhooks/{webhook_id}: read a webhook."""

from client import read_arguments, send

(webhook_id,) = read_arguments("ID")
print(send("GET", f"/v2/webhooks/{webhook_id}").decode())
