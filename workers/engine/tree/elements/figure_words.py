"""The word before the default number of figures, by language."""

from __future__ import annotations

from typing import Final

from workers.engine.data_tables import read_table
from workers.engine.tree.styles.computed import Numbering
from workers.engine.tree.styles.user_agent import DEFAULT_FIGURE_NUMBER

_ENGLISH: Final = "Figure"
_WORDS: Final = read_table(__package__, "figure_words.txt")


def translate_figure_number(number: str, numbering: Numbering, lang: str) -> str:
    """Return the number of a figure in a language, unless an author has chosen its format."""
    shape = numbering.format
    if shape is None or shape.text != DEFAULT_FIGURE_NUMBER:
        return number
    word = _WORDS.get(lang.partition("-")[0].lower(), _ENGLISH)
    return word + number.removeprefix(_ENGLISH)
