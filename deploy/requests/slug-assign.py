"""POST /v2/slugs: assign a slug to a template."""

from client import read_arguments, send_json

slug, template_id = read_arguments("SLUG ID")
print(send_json("POST", "/v2/slugs", {"slug": slug, "template": template_id}).decode())
