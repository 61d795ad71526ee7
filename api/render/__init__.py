"""POST /v2/pdf: from the request to the PDF."""
