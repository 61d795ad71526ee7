"""Why an image is refused at upload: in the words with which every render would refuse it.

The engine has the same checks and sentences (workers/engine/layout/images, layout/svg); front and
engine import nothing from each other, so tests/api/test_refusals.py compares both over a corpus.
"""

from __future__ import annotations

from typing import Final

from shared.limits import MAX_IMAGE_PIXELS, MAX_UNPACKED_PIXELS, MAX_WEBP_PIXELS

ANEW: Final = "Save it anew from its source, or use another one."
SMALLER: Final = "Make it smaller."
SIMPLER: Final = "Simplify the drawing, or export it as a PNG."
DAMAGED: Final = "The image is damaged: its data cannot be decoded"


class RefusedImageError(Exception):
    """The image cannot be drawn: the reason, and what to do about it."""

    def __init__(self, reason: str, *, advice: str = ANEW) -> None:
        super().__init__(f"{reason}. {advice}")


def check_size(width: int, height: int) -> None:
    """Refuse an image without pixels, or with more than are drawn."""
    if not width or not height:
        raise RefusedImageError("The image has no pixels")
    if width * height > MAX_IMAGE_PIXELS:
        raise _too_many(width, height, f"at most {_megapixels(MAX_IMAGE_PIXELS)} are drawn")


def check_webp_size(width: int, height: int) -> None:
    """Refuse a WebP with more pixels than are drawn of one."""
    check_size(width, height)
    if width * height > MAX_WEBP_PIXELS:
        raise _too_many(
            width, height, f"of a WebP at most {_megapixels(MAX_WEBP_PIXELS)} are drawn"
        )


def check_unpacked_size(width: int, height: int) -> None:
    """Refuse a PNG that must be unpacked in memory and has too many pixels for it."""
    if width * height > MAX_UNPACKED_PIXELS:
        most = _megapixels(MAX_UNPACKED_PIXELS)
        raise _too_many(
            width, height, f"with transparency or interlaced rows at most {most} are drawn"
        )


def too_much(what: str, limit: int) -> RefusedImageError:
    """Return the refusal of a drawing over a bound."""
    return RefusedImageError(
        f"The SVG has too many {what}: at most {limit:,} are drawn", advice=SIMPLER
    )


def _too_many(width: int, height: int, bound: str) -> RefusedImageError:
    return RefusedImageError(f"The image has {width} × {height} pixels; {bound}", advice=SMALLER)


def _megapixels(pixels: int) -> str:
    return f"{pixels // 1_000_000} megapixels"
