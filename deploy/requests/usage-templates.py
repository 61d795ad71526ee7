"""GET /v2/account/usage/templates: usage by template, of the current billing period or that of a date."""

from client import read_arguments, send

(date,) = read_arguments("[DATE]")
query = {"date": date} if date else None
print(send("GET", "/v2/account/usage/templates", query=query).decode())
