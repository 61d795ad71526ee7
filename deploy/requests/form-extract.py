"""POST /v2/forms/extract: extract the fields of a filled-in form."""

from pathlib import Path

from client import read_arguments, send

(file,) = read_arguments("FORM.pdf")
body = Path(file).read_bytes()
print(send("POST", "/v2/forms/extract", body=body, content_type="application/pdf").decode())
