"""The document language as pages at /docs/language, with a search."""
