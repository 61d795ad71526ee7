"""Numbers as text, and the markers of lists."""

from __future__ import annotations

from typing import Final

CHECK_BOXES: Final = {True: "\u2611", False: "\u2610"}
_BULLETS: Final = {"disc": "•", "circle": "◦", "square": "▪", "dash": "–", "none": ""}
_ROMAN: Final = (
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"),
    (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
)  # fmt: skip
_MAX_ROMAN: Final = 3999


def write_marker(style: str, number: int) -> str:
    """Write the marker of an item; letters and Roman numbers fall back to digits as CSS says."""
    if style in _BULLETS:
        return _BULLETS[style]
    return f"{write_number(style, number)}."


def write_number(style: str, number: int) -> str:
    """Write a number; letters and Roman numbers fall back to digits as CSS says."""
    match style:
        case "lower-alpha" | "upper-alpha" if number >= 1:
            text = _letters(number)
        case "lower-roman" | "upper-roman" if 1 <= number <= _MAX_ROMAN:
            text = _roman(number)
        case _:
            return str(number)
    return text.upper() if style.startswith("upper") else text


def _letters(number: int) -> str:
    text = ""
    while number:
        number, digit = divmod(number - 1, 26)
        text = chr(ord("a") + digit) + text
    return text


def _roman(number: int) -> str:
    text = ""
    for value, letters in _ROMAN:
        count, number = divmod(number, value)
        text += letters * count
    return text
