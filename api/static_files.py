"""Files that are the same for every client: kept compressed in the process, and revalidated by browsers."""

from __future__ import annotations

import gzip
import re
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from importlib.resources import files
from typing import Final

from flask import Response, request

_TYPES: Final[Mapping[str, str]] = {
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "json": "application/json; charset=utf-8",
    "svg": "image/svg+xml",
    "png": "image/png",
    "rng": "application/xml",
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


def make_file(name: str, data: bytes) -> StaticFile:
    """Make a static file of its content; the suffix of the name gives its media type."""
    return StaticFile(
        content_type=_TYPES[name.rpartition(".")[2]],
        plain=data,
        gzipped=gzip.compress(data, 9, mtime=0),
        etag=sha256(data).hexdigest()[:32],
        cache_control=_IMMUTABLE if _HASHED.match(name) else "no-cache",
    )


def load_folder(package: str, folder: str) -> Mapping[str, StaticFile]:
    """Load the files in a folder of a package by name."""
    found = files(package).joinpath(folder)
    return {each.name: make_file(each.name, each.read_bytes()) for each in found.iterdir()}


def write_file(file: StaticFile, headers: Mapping[str, str]) -> Response:
    """Return a file, compressed where the client accepts it; 304 where the client has it already."""
    headers = {
        **headers,
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
