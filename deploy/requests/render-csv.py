"""POST /v2/pdf with CSV rows into a stored template; writes document.pdf."""

from client import read_arguments, render

template, rows = read_arguments("TEMPLATE ROWS.csv")
render(rows, "text/csv; charset=utf-8", template=template)
