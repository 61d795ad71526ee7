"""Pictures of the public templates, and a page with all of them and every golden document."""
