"""POST /v2/keys: create a key; prints the secret, which is returned only here."""

from client import read_arguments, send_json

(name,) = read_arguments("NAME")
print(send_json("POST", "/v2/keys", {"name": name}).decode())
