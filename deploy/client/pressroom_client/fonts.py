"""Fonts of a workspace: `Pressroom.fonts`."""

from __future__ import annotations

from collections.abc import Iterator
from os import PathLike
from pathlib import Path

from pressroom_client.records import Font, FontUsage, read_record
from pressroom_client.transport import Transport, resource_path


class Fonts:
    """The fonts that documents declare. Storing under an existing name replaces the font."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def store(self, name: str, data: bytes) -> Font:
        """Store the bytes of a TrueType, OpenType, WOFF or WOFF2 font, or of a collection."""
        # The server detects the format from the bytes, not from the declared type.
        headers = {"Content-Type": "font/sfnt"}
        response = self._transport.request_json(
            "PUT", resource_path("fonts", name), headers=headers, body=data
        )
        return read_record(Font, response)

    def store_file(self, name: str, path: str | PathLike[str]) -> Font:
        """Store a font from a file."""
        return self.store(name, Path(path).read_bytes())

    def store_from(self, name: str, source_url: str) -> Font:
        """Store a font that the farm fetches once from a public address."""
        fields = {"name": name, "source_url": source_url}
        return read_record(Font, self._transport.send_json("POST", "/v2/fonts", fields))

    def read(self, name: str) -> Font:
        """Return the record of a font; its bytes are not served back."""
        return read_record(Font, self._transport.request_json("GET", resource_path("fonts", name)))

    def list(self) -> Iterator[Font]:
        """Yield the fonts by name."""
        for page in self._transport.pages("/v2/fonts", {}):
            yield from (read_record(Font, each) for each in page["fonts"])

    def usage(self) -> FontUsage:
        """Return the number and the total size of the stored fonts."""
        page = self._transport.request_json("GET", "/v2/fonts", query={"limit": "1"})
        return read_record(FontUsage, page["usage"])

    def delete(self, name: str) -> None:
        """Delete a font."""
        self._transport.request("DELETE", resource_path("fonts", name))
