"""POST /v2/preview: one page of a document, for editors."""
