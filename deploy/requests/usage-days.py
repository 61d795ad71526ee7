"""GET /v2/account/usage/days: usage by day, of the current billing period or that of a date."""

from client import read_arguments, send

(date,) = read_arguments("[DATE]")
query = {"date": date} if date else None
print(send("GET", "/v2/account/usage/days", query=query).decode())
