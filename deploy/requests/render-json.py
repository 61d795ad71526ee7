"""POST /v2/pdf with JSON data into a stored template; writes document.pdf."""

from client import read_arguments, render

template, data = read_arguments("TEMPLATE DATA.json")
render(data, "application/json", template=template)
