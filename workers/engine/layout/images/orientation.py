"""Orientation of photographs (Exif 2.32, 4.6.4 A)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from PIL import Image as Pillow

from workers.engine.prepared_images import DECODER_ERRORS, UPRIGHT, Matrix

# From the stored unit square to the displayed one, by the value of the orientation tag.
_ORIENTATIONS: Final[dict[int, Matrix]] = {
    1: UPRIGHT,
    2: (-1, 0, 0, 1, 1, 0),
    3: (-1, 0, 0, -1, 1, 1),
    4: (1, 0, 0, -1, 0, 1),
    5: (0, -1, -1, 0, 1, 1),
    6: (0, -1, 1, 0, 0, 1),
    7: (0, 1, 1, 0, 0, 0),
    8: (0, 1, -1, 0, 1, 0),
}
_ORIENTATION_TAG: Final = 0x0112


def find_orientation(image: Pillow.Image) -> Matrix:
    """Return the matrix from the stored unit square to the displayed one."""
    return _read(image.getexif)


def read_orientation(exif: bytes) -> Matrix:
    """Return that matrix of Exif data by themselves."""

    def load() -> Pillow.Exif:
        loaded = Pillow.Exif()
        loaded.load(exif)
        return loaded

    return _read(load)


def _read(load: Callable[[], Pillow.Exif]) -> Matrix:
    try:
        return _ORIENTATIONS.get(load().get(_ORIENTATION_TAG, 1), UPRIGHT)
    except DECODER_ERRORS:  # damaged metadata are ignored
        return UPRIGHT
