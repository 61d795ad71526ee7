"""GET /v2/webhooks/{webhook_id}/deliveries: list a webhook's deliveries."""

from client import read_arguments, send

(webhook_id,) = read_arguments("ID")
print(send("GET", f"/v2/webhooks/{webhook_id}/deliveries").decode())
