"""GET /v2/webhooks: list the webhooks."""

from client import send

print(send("GET", "/v2/webhooks").decode())
