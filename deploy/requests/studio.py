"""GET /studio, /studio/{file} and /studio/sign-in: the web page for template authors.

Browsers alone go on from there to /studio/sign-in/begin and /studio/sign-in/callback.
"""

from pathlib import Path

from client import send

Path("studio.html").write_bytes(send("GET", "/studio"))
print(send("GET", "/studio/licenses.txt").decode())
print(send("GET", "/studio/sign-in").decode())
