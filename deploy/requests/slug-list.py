"""GET /v2/slugs: list the slugs of the workspace."""

from client import send

print(send("GET", "/v2/slugs").decode())
