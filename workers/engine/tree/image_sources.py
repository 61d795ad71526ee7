"""Sources of images: a stored name, bytes in the document, or an address; of a PDF one of its pages."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StoredImage:
    """An image of the workspace, by name."""

    name: str
    page: int = 1


@dataclass(frozen=True, slots=True)
class DataImage:
    """An image given in the document as a data URL, decoded from base64."""

    data: bytes
    page: int = 1


@dataclass(frozen=True, slots=True)
class RemoteImage:
    """An image at an http or https address; the worker fetches it."""

    address: str
    page: int = 1


ImageSource = StoredImage | DataImage | RemoteImage


def parse_image_source(value: str | bytes, page: int = 1) -> ImageSource:
    """Return the source that a checked value names (syntax/values.py): a name, an address, or bytes.

    `page` is that of a PDF, from 1.
    """
    if isinstance(value, bytes):
        return DataImage(value, page)
    return RemoteImage(value, page) if "://" in value else StoredImage(value, page)
