"""GET /v2/images: list the images of the workspace by name, with their total size."""

from client import read_arguments, send

(limit,) = read_arguments("[LIMIT]")
print(send("GET", "/v2/images", query={"limit": limit or "100"}).decode())
