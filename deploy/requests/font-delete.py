"""DELETE /v2/fonts/{name}."""

from client import read_arguments, send

(name,) = read_arguments("NAME")
send("DELETE", f"/v2/fonts/{name}")
