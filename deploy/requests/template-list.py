"""GET /v2/templates: list the templates of the account by id."""

from client import read_arguments, send

(limit,) = read_arguments("[LIMIT]")
print(send("GET", "/v2/templates", query={"limit": limit or "100"}).decode())
