"""POST /v2/pdf with Markdown into a flow of a stored template; writes document.pdf."""

from client import read_arguments, render

template, text, flow = read_arguments("TEMPLATE TEXT.md [FLOW]")
render(text, "text/markdown", template=template, flow=flow or "body")
