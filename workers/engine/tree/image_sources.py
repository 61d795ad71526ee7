"""Sources of images: a stored name, bytes in the document, or an address."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StoredImage:
    """An image of the workspace, by name."""

    name: str


@dataclass(frozen=True, slots=True)
class DataImage:
    """An image given in the document as a data URL, decoded from base64."""

    data: bytes


@dataclass(frozen=True, slots=True)
class RemoteImage:
    """An image at an http or https address; the worker fetches it."""

    address: str


ImageSource = StoredImage | DataImage | RemoteImage


def parse_image_source(value: str | bytes) -> ImageSource:
    """Return the source that a checked value names (syntax/values.py): a name, an address, or bytes."""
    if isinstance(value, bytes):
        return DataImage(value)
    return RemoteImage(value) if "://" in value else StoredImage(value)
