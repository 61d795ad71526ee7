"""POST /v2/images: store an image that the service fetches from an address."""

from client import read_arguments, send_json

name, url = read_arguments("NAME URL")
print(send_json("POST", "/v2/images", {"name": name, "source_url": url}).decode())
