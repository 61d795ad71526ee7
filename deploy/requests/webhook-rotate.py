"""POST /v2/webhooks/{webhook_id}/rotate: rotate a webhook's secret."""

from client import read_arguments, send

(webhook_id,) = read_arguments("ID")
print(send("POST", f"/v2/webhooks/{webhook_id}/rotate").decode())
