"""GET /v2/images/{name}: read the record of an image."""

from client import read_arguments, send

(name,) = read_arguments("NAME")
print(send("GET", f"/v2/images/{name}").decode())
