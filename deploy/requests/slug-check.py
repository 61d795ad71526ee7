"""GET /v2/slugs/{slug}: whether a slug is free."""

from client import read_arguments, send

(slug,) = read_arguments("SLUG")
print(send("GET", f"/v2/slugs/{slug}").decode())
