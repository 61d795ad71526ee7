"""POST /v2/pdf and /v2/validate: from the request to the response."""
