"""GET /v2/slugs/{slug}: check whether a slug is available."""

from client import read_arguments, send

(slug,) = read_arguments("SLUG")
print(send("GET", f"/v2/slugs/{slug}").decode())
