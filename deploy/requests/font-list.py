"""GET /v2/fonts: list the fonts of the workspace by name, with their total size."""

from client import read_arguments, send

(limit,) = read_arguments("[LIMIT]")
print(send("GET", "/v2/fonts", query={"limit": limit or "100"}).decode())
