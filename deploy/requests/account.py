"""GET /v2/account: plan, rate and user."""

from client import send

print(send("GET", "/v2/account").decode())
