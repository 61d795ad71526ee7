"""Counter styles and list markers (CSS Counter Styles 3)."""

from __future__ import annotations

from typing import Final

CHECK_BOXES: Final = {True: "\u2611", False: "\u2610"}
_BULLETS: Final = {"disc": "•", "circle": "◦", "square": "▪", "dash": "–", "none": ""}
_ROMAN: Final = (
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"),
    (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
)  # fmt: skip
_MAX_ROMAN: Final = 3999
_SIGNS: Final = "*\u2020\u2021\u00a7\u00b6\u2016"  # as LaTeX and Typst have them
_MAX_SIGNS: Final = 10  # of one number; higher ones are digits


def format_marker(style: str, number: int) -> str:
    """Return the marker of a list item; numbers out of a style's range are decimal."""
    if style in _BULLETS:
        return _BULLETS[style]
    return f"{format_counter(style, number)}."


def format_counter(style: str, number: int) -> str:
    """Return a number in a counter style; numbers out of its range are decimal."""
    match style:
        case "lower-alpha" | "upper-alpha" if number >= 1:
            text = _letters(number)
        case "lower-roman" | "upper-roman" if 1 <= number <= _MAX_ROMAN:
            text = _roman(number)
        case "symbolic" if 1 <= number <= len(_SIGNS) * _MAX_SIGNS:
            times, place = divmod(number - 1, len(_SIGNS))
            return _SIGNS[place] * (times + 1)
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
