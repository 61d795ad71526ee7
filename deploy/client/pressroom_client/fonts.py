"""Fonts of a workspace: `Pressroom.fonts`."""

from __future__ import annotations

from collections.abc import Iterator
from os import PathLike
from pathlib import Path

from pressroom_client.records import Font, FontUsage, read_record
from pressroom_client.transport import Transport, path_of


class Fonts:
    """The fonts that documents declare. Storing a name that is taken replaces its font."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def store(self, name: str, data: bytes) -> Font:
        """Store the bytes of a TrueType, OpenType or WOFF2 font, or of a collection."""
        # The bytes decide the format, whatever is declared.
        headers = {"Content-Type": "font/sfnt"}
        answer = self._transport.ask_json("PUT", path_of("fonts", name), headers=headers, body=data)
        return read_record(Font, answer)

    def store_file(self, name: str, path: str | PathLike[str]) -> Font:
        """Store a font from a file."""
        return self.store(name, Path(path).read_bytes())

    def read(self, name: str) -> Font:
        """Return the record of a font; its bytes are not served back."""
        return read_record(Font, self._transport.ask_json("GET", path_of("fonts", name)))

    def list(self) -> Iterator[Font]:
        """Yield the fonts by name."""
        for page in self._transport.pages("/v2/fonts", {}):
            yield from (read_record(Font, each) for each in page["fonts"])

    def usage(self) -> FontUsage:
        """Return what the workspace holds."""
        page = self._transport.ask_json("GET", "/v2/fonts", query={"limit": "1"})
        return read_record(FontUsage, page["usage"])

    def delete(self, name: str) -> None:
        """Delete a font."""
        self._transport.ask("DELETE", path_of("fonts", name))
