"""GET /v2/keys: list the keys of the account."""

from client import send

print(send("GET", "/v2/keys").decode())
