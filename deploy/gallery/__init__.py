"""The pictures of the public templates, and one page with all of them and every golden page."""
