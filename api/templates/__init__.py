"""/v2/templates: making, reading, changing and removing templates."""
