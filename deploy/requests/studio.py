"""GET /studio and /studio/{file}: the web page for template authors."""

from pathlib import Path

from client import send

Path("studio.html").write_bytes(send("GET", "/studio"))
print(send("GET", "/studio/licenses.txt").decode())
