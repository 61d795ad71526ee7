"""POST /v2/webhooks/{webhook_id}/test: send a webhook a test delivery."""

from client import read_arguments, send

(webhook_id,) = read_arguments("ID")
print(send("POST", f"/v2/webhooks/{webhook_id}/test").decode())
