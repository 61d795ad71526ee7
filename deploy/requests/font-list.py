"""GET /v2/fonts: the fonts of the workspace, by name, and what it holds."""

from client import read_arguments, send

(limit,) = read_arguments("[LIMIT]")
print(send("GET", "/v2/fonts", query={"limit": limit or "100"}).decode())
