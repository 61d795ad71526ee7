"""/v2/templates and /v2/slugs: templates, their versions and tags, and slugs."""
