"""POST /v2/webhooks: be told of the ends of jobs and batches; prints the secret, once."""

from client import read_arguments, send_json

(url,) = read_arguments("URL")
print(send_json("POST", "/v2/webhooks", {"url": url}).decode())
