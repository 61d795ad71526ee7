"""The sRGB colour profile (IEC 61966-2.1) as an ICC file, made by Little CMS."""

from __future__ import annotations

from functools import cache
from typing import Final

from PIL import ImageCms

_CREATED: Final = slice(24, 36)  # of the header (ICC.1:2010, 7.2)
_SRGB_PUBLISHED: Final = b"".join(part.to_bytes(2, "big") for part in (1999, 10, 18, 0, 0, 0))


@cache
def make_srgb_profile() -> bytes:
    """Return the profile with the date of the standard instead of its own; the result is constant."""
    profile = bytearray(ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes())
    profile[_CREATED] = _SRGB_PUBLISHED
    return bytes(profile)
