"""Images and fonts of a workspace: `Pressroom.images` and `Pressroom.fonts`."""

from __future__ import annotations

from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import ClassVar, Generic, TypeVar

from pressroom_client.records import FileUsage, read_record
from pressroom_client.schemas import Font, Image
from pressroom_client.transport import Transport, resource_path

_F = TypeVar("_F", Image, Font)


class _Files(Generic[_F]):
    """The files of one kind. Storing under an existing name replaces the file."""

    _plural: ClassVar[str]
    _declared_type: ClassVar[str]  # the server detects the format from the bytes
    _record: type[_F]

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def store(self, name: str, data: bytes) -> _F:
        """Store the bytes of a file."""
        headers = {"Content-Type": self._declared_type}
        path = resource_path(self._plural, name)
        return self._transport.read(self._record, "PUT", path, headers=headers, body=data)

    def store_file(self, name: str, path: str | PathLike[str]) -> _F:
        """Store a file of this computer."""
        return self.store(name, Path(path).read_bytes())

    def store_from(self, name: str, source_url: str) -> _F:
        """Store a file that the farm fetches once from a public address."""
        fields = {"name": name, "source_url": source_url}
        path = resource_path(self._plural)
        return self._transport.read(self._record, "POST", path, fields=fields)

    def read(self, name: str) -> _F:
        """Return the record of a file; its bytes are not served back."""
        return self._transport.read(self._record, "GET", resource_path(self._plural, name))

    def list(self) -> Iterator[_F]:
        """Yield the files by name."""
        path = resource_path(self._plural)
        return self._transport.read_pages(self._record, path, self._plural)

    def usage(self) -> FileUsage:
        """Return the number and the total size of the stored files."""
        path = resource_path(self._plural)
        page = self._transport.request_json("GET", path, query={"limit": "1"})
        return read_record(FileUsage, page["usage"])

    def delete(self, name: str) -> None:
        """Delete a file."""
        self._transport.request("DELETE", resource_path(self._plural, name))


class Images(_Files[Image]):
    """The images that documents draw: PNG, JPEG, WebP, SVG and PDF."""

    _plural, _declared_type = "images", "image/png"
    _record = Image


class Fonts(_Files[Font]):
    """The fonts that documents declare: TrueType, OpenType, WOFF and WOFF2, and collections."""

    _plural, _declared_type = "fonts", "font/sfnt"
    _record = Font
