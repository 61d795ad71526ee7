"""Colours of pictures as browsers show them: brought to sRGB by an ICC profile or a gamma."""

from __future__ import annotations

import io
from typing import Final

from PIL import Image as Pillow
from PIL import ImageCms

_SRGB: Final = ImageCms.createProfile("sRGB")
_MODES: Final = {"RGB": "RGB", "GRAY": "L", "CMYK": "CMYK"}
_DISPLAY_GAMMA: Final = 2.2
_LEAST_CHANGE: Final = 0.02  # of an exponent, that anybody sees


def read_profile(data: bytes | None) -> ImageCms.ImageCmsProfile | None:
    """Return an ICC profile, None for one that is damaged or sRGB itself."""
    try:
        profile = ImageCms.ImageCmsProfile(io.BytesIO(data)) if data else None
        if profile is None or "srgb" in ImageCms.getProfileDescription(profile).lower():
            return None
    except (ImageCms.PyCMSError, OSError, TypeError, ValueError):
        return None
    return profile


def to_srgb(image: Pillow.Image, profile: ImageCms.ImageCmsProfile | None) -> Pillow.Image:
    """Return an image in sRGB; one that its profile does not fit is returned as it is."""
    if profile is None:
        return image
    mode = _MODES.get(profile.profile.xcolor_space.strip())
    alpha = image.getchannel("A") if image.mode in ("LA", "RGBA") else None
    color = image.convert(image.mode.removesuffix("A")) if alpha else image
    if color.mode != mode:
        return image
    try:
        converted = ImageCms.profileToProfile(color, profile, _SRGB, outputMode="RGB")
    except (ImageCms.PyCMSError, OSError, TypeError, ValueError):
        return image
    assert converted is not None, "the image is not changed in place"
    if mode == "L":
        converted = converted.convert("L")
    if alpha is not None:
        converted.putalpha(alpha)
    return converted


def find_exponent(gamma: float) -> float | None:
    """Return the exponent from samples of a gamma to those of a display, None where they are alike."""
    if not gamma:
        return None
    exponent = 1 / (gamma * _DISPLAY_GAMMA)
    return exponent if abs(exponent - 1) > _LEAST_CHANGE else None


def apply_exponent(image: Pillow.Image, exponent: float) -> Pillow.Image:
    """Return an image of mode L, LA, RGB or RGBA with its colours to the power of an exponent."""
    curve = [round(255 * (level / 255) ** exponent) for level in range(256)]
    bands = len(image.getbands())
    same = list(range(256)) if bands in (2, 4) else []
    return image.point(curve * (bands - bool(same)) + same)
