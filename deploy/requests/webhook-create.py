"""POST /v2/webhooks: create a webhook for jobs and batches; prints the secret, which is returned only here."""

from client import read_arguments, send_json

(url,) = read_arguments("URL")
print(send_json("POST", "/v2/webhooks", {"url": url}).decode())
