"""Images of a workspace: `Pressroom.images`."""

from __future__ import annotations

from collections.abc import Iterator
from os import PathLike
from pathlib import Path

from pressroom_client.records import Image, ImageUsage, read_record
from pressroom_client.transport import Transport, resource_path


class Images:
    """The images that documents draw. Storing under an existing name replaces the image."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def store(self, name: str, data: bytes) -> Image:
        """Store the bytes of a PNG, JPEG, WebP, SVG or PDF."""
        # The server detects the format from the bytes, not from the declared type.
        headers = {"Content-Type": "image/png"}
        path = resource_path("images", name)
        response = self._transport.request_json("PUT", path, headers=headers, body=data)
        return read_record(Image, response)

    def store_file(self, name: str, path: str | PathLike[str]) -> Image:
        """Store an image from a file."""
        return self.store(name, Path(path).read_bytes())

    def store_from(self, name: str, source_url: str) -> Image:
        """Store an image that the farm fetches once from a public address."""
        fields = {"name": name, "source_url": source_url}
        return read_record(Image, self._transport.send_json("POST", "/v2/images", fields))

    def read(self, name: str) -> Image:
        """Return the record of an image; its bytes are not served back."""
        return read_record(
            Image, self._transport.request_json("GET", resource_path("images", name))
        )

    def list(self) -> Iterator[Image]:
        """Yield the images by name."""
        for page in self._transport.pages("/v2/images", {}):
            yield from (read_record(Image, each) for each in page["images"])

    def usage(self) -> ImageUsage:
        """Return the number and the total size of the stored images."""
        page = self._transport.request_json("GET", "/v2/images", query={"limit": "1"})
        return read_record(ImageUsage, page["usage"])

    def delete(self, name: str) -> None:
        """Delete an image."""
        self._transport.request("DELETE", resource_path("images", name))
