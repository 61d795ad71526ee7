"""Sends the requests of this folder; the farm's URL and the key come from the environment."""

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

BUDGET_SECONDS = 90  # above the farm's own budget for a render


def send(
    method: str,
    path: str,
    *,
    query: Mapping[str, str] | None = None,
    body: bytes | None = None,
    content_type: str | None = None,
    headers: Mapping[str, str] | None = None,
) -> bytes:
    """Return the response body; on an error print the error body and exit."""
    url = os.environ["PRESSROOM_URL"] + path + (f"?{urlencode(query)}" if query else "")
    request = Request(url, method=method, data=body, headers=dict(headers or {}))
    request.add_header("Authorization", f"Bearer {os.environ['PRESSROOM_KEY']}")
    if content_type:
        request.add_header("Content-Type", content_type)
    try:
        with urlopen(request, timeout=BUDGET_SECONDS) as response:
            return bytes(response.read())
    except HTTPError as error:
        sys.exit(error.read().decode())


def send_json(method: str, path: str, fields: Mapping[str, object]) -> bytes:
    """Send fields as JSON."""
    body = json.dumps(fields).encode()
    return send(method, path, body=body, content_type="application/json")


def render(document: str, content_type: str, **query: str) -> None:
    """Render a file and write document.pdf."""
    body = Path(document).read_bytes()
    pdf = send("POST", "/v2/pdf", query=query, body=body, content_type=content_type)
    Path("document.pdf").write_bytes(pdf)


def read_arguments(usage: str) -> list[str]:
    """Return the command-line arguments, "" for an omitted one in brackets."""
    names, given = usage.split(), sys.argv[1:]
    least = sum(not name.startswith("[") for name in names)
    if not least <= len(given) <= len(names):
        sys.exit(f"usage: {Path(sys.argv[0]).name} {usage}")
    return given + [""] * (len(names) - len(given))
