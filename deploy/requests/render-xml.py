"""POST /v2/pdf with a complete document; writes document.pdf."""

from client import read_arguments, render

document, draft = read_arguments("DOCUMENT.xml [DRAFT]")
render(document, "application/xml", draft=draft or "false")
