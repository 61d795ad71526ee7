"""The product's fonts by family, weight and slant."""

from __future__ import annotations

from workers.engine.fonts import BUNDLED, Face, FontRequest

find_missing = BUNDLED.find_missing


def find_face(families: tuple[str, ...], weight: int, is_italic: bool) -> Face:
    return BUNDLED.find(families, FontRequest(weight, 100, is_italic=is_italic))


def split_by_face(
    families: tuple[str, ...], weight: int, is_italic: bool, text: str, lang: str = "en"
) -> list[tuple[Face, str]]:
    request = FontRequest(weight, 100, is_italic=is_italic)
    return list(BUNDLED.split(families, request, text, lang))
