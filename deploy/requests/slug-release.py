"""DELETE /v2/slugs/{slug}."""

from client import read_arguments, send

(slug,) = read_arguments("SLUG")
send("DELETE", f"/v2/slugs/{slug}")
