"""GET /v2/account/usage: of the current period, or of the one a day lies in."""

from client import read_arguments, send

(date,) = read_arguments("[DATE]")
query = {"date": date} if date else None
print(send("GET", "/v2/account/usage", query=query).decode())
