"""POST /v2/keys: create a key, with one scope or all; prints the secret, which is returned only here."""

from client import read_arguments, send_json

name, scope = read_arguments("NAME [SCOPE]")
fields = {"name": name} | ({"scopes": [scope]} if scope else {})
print(send_json("POST", "/v2/keys", fields).decode())
