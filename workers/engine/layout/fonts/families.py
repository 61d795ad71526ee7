"""The fixed font set: its families, and which face each character of a text is set in."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, lru_cache
from itertools import groupby
from typing import Final

from workers.engine.layout.fonts.faces import Face

SANS: Final = "Noto Sans"
SERIF: Final = "Noto Serif"
MONO: Final = "JetBrains Mono"

FAMILIES: Final = (SANS, SERIF, MONO)
ALIASES: Final = {"sans-serif": SANS, "serif": SERIF, "monospace": MONO}

_BOLD_FROM: Final = 600  # CSS Fonts 4, 5.2: with 400 and 700 at hand, 600 and more choose bold


def find_face(families: tuple[str, ...], weight: int, is_italic: bool) -> Face:
    """Find the face of the first family of the set that is named, of the nearest weight.

    A family that is not of the set is passed over; with none at all it is Noto Sans.
    """
    return _chain(families, weight >= _BOLD_FROM, is_italic)[0]


def split_by_face(
    families: tuple[str, ...], weight: int, is_italic: bool, text: str
) -> list[tuple[Face, str]]:
    """Cut `text` into runs of the first face that has each character: the families, then the set.

    A character that no face has stays with the first face, which draws its empty box;
    `find_missing` tells which these are.
    """
    chain = _chain(families, weight >= _BOLD_FROM, is_italic)
    if chain[0].covers_all(text):
        return [(chain[0], text)]
    chosen = ((_face_of(chain, char), char) for char in text)
    return [
        (face, "".join(char for _, char in run))
        for face, run in groupby(chosen, key=lambda pair: pair[0])
    ]


def find_missing(text: str) -> str:
    """Give the characters of `text` that no family of the set has, each once, in order."""
    chain = _chain((), False, False)
    if chain[0].covers_all(text):
        return ""
    return "".join(
        char for char in dict.fromkeys(text) if not any(face.covers(char) for face in chain)
    )


@cache
def _face(family: str, is_bold: bool, is_italic: bool) -> Face:
    return Face(family, is_bold=is_bold, is_italic=is_italic)


@lru_cache(maxsize=256)
def _chain(families: tuple[str, ...], is_bold: bool, is_italic: bool) -> tuple[Face, ...]:
    named = [*_known(families), *FAMILIES]
    return tuple(_face(family, is_bold, is_italic) for family in dict.fromkeys(named))


def _known(families: Iterable[str]) -> list[str]:
    by_name = {name.casefold(): name for name in FAMILIES} | ALIASES
    found = (by_name.get(family.casefold()) for family in families)
    return [family for family in found if family]


def _face_of(chain: tuple[Face, ...], char: str) -> Face:
    return next((face for face in chain if face.covers(char)), chain[0])
