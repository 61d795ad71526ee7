"""GET /v2/fonts/{name}: read the record of a font."""

from client import read_arguments, send

(name,) = read_arguments("NAME")
print(send("GET", f"/v2/fonts/{name}").decode())
