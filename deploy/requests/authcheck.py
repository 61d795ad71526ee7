"""GET /v2/authcheck: check a key."""

from client import send

print(send("GET", "/v2/authcheck").decode())
