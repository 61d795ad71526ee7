"""GET /healthz, /readyz and /metrics."""

from client import send

for path in ("/healthz", "/readyz", "/metrics"):
    print(send("GET", path).decode())
