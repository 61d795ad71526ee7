"""POST /v2/einvoices/check: check a received electronic invoice."""

from pathlib import Path

from client import read_arguments, send

(file,) = read_arguments("INVOICE.pdf|INVOICE.xml")
content_type = "application/pdf" if Path(file).suffix == ".pdf" else "application/xml"
body = Path(file).read_bytes()
print(send("POST", "/v2/einvoices/check", body=body, content_type=content_type).decode())
