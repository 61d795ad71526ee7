"""GET /studio/ and its files: the output of `npm run build` (decision 0362)."""

from __future__ import annotations

import gzip
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from importlib.resources import files
from typing import Final

from flask import Blueprint, Response, request

from api.ports import Ports
from shared.errors import ErrorKind, ServiceError

INDEX: Final = "index.html"
# Only the page's own scripts, styles and API calls are allowed; blobs are images that the page fetched.
# The page never turns text into markup, so it may create no Trusted Types policy.
_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
_HEADERS: Final[Mapping[str, str]] = {
    "Content-Security-Policy": _POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}
_TYPES: Final[Mapping[str, str]] = {
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "json": "application/json; charset=utf-8",
    "svg": "image/svg+xml",
    "txt": "text/plain; charset=utf-8",
}
# The build adds eight characters of a digest to the name of each file except the index.
_HASHED: Final = re.compile(r"[a-z0-9.-]+-[A-Z0-9]{8}\.[a-z]+\Z")
_IMMUTABLE: Final = "public, max-age=31536000, immutable"


@dataclass(frozen=True, slots=True)
class StaticFile:
    """A static file, uncompressed and gzipped."""

    content_type: str
    plain: bytes
    gzipped: bytes
    etag: str
    cache_control: str


class StudioRoutes:
    """The views; they use none of the ports."""

    def __init__(self, ports: Ports) -> None:
        del ports

    def blueprint(self) -> Blueprint:
        """Return the views at their paths."""
        routes = Blueprint("studio", __name__)
        routes.get("/studio")(self.read_page)
        routes.get("/studio/<file>")(self.read_file)
        return routes

    def read_page(self) -> Response:
        """Return the page; browsers revalidate it each time."""
        return _write_file(INDEX)

    def read_file(self, file: str) -> Response:
        """Return a file of the page."""
        return _write_file(file)


@lru_cache(maxsize=1)
def load_files() -> Mapping[str, StaticFile]:
    """Load the static files by name, once per process: a few hundred kilobytes."""
    folder = files("api.studio").joinpath("static")
    return {each.name: _load(each.name, each.read_bytes()) for each in folder.iterdir()}


def _load(name: str, data: bytes) -> StaticFile:
    return StaticFile(
        content_type=_TYPES[name.rpartition(".")[2]],
        plain=data,
        gzipped=gzip.compress(data, 9, mtime=0),
        etag=sha256(data).hexdigest()[:32],
        cache_control=_IMMUTABLE if _HASHED.match(name) else "no-cache",
    )


def _write_file(name: str) -> Response:
    file = load_files().get(name)
    if file is None:
        message = f"The Studio has no file {name[:100]!r}."
        raise ServiceError(404, message, kind=ErrorKind.NOT_FOUND)
    headers = {
        **_HEADERS,
        "Cache-Control": file.cache_control,
        "ETag": f'W/"{file.etag}"',  # weak: the same for both encodings
        "Vary": "Accept-Encoding",
    }
    if request.if_none_match.contains_weak(file.etag):
        return Response(status=304, headers=headers)
    is_packed = request.accept_encodings["gzip"] > 0
    if is_packed:
        headers["Content-Encoding"] = "gzip"
    return Response(
        file.gzipped if is_packed else file.plain, 200, headers, content_type=file.content_type
    )
