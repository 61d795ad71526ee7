"""GET /v2/templates/{ref}: read a record and its content."""

from client import read_arguments, send

(reference,) = read_arguments("REFERENCE")
print(send("GET", f"/v2/templates/{reference}").decode())
