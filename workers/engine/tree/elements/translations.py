"""Words that the engine writes into documents, by language: titles of alerts, and the word before figures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from workers.engine.data_tables import read_table
from workers.engine.syntax.nodes import ALERTS
from workers.engine.tree.styles.computed import Numbering
from workers.engine.tree.styles.user_agent import DEFAULT_FIGURE_NUMBER

_TITLES: Final = read_table(__package__, "alert_titles.txt")
_FIGURES: Final = {"en": "Figure", **read_table(__package__, "figure_words.txt")}


def translate_alert(kind: str, lang: str) -> str:
    """Return the title of a kind of alert in a language, in English where there is none."""
    return _find(_TITLES, lang).split(" ")[ALERTS.index(kind)]


def translate_figure_number(number: str, numbering: Numbering, lang: str) -> str:
    """Return the number of a figure in a language, unless an author has chosen its format."""
    shape = numbering.format
    if shape is None or shape.text != DEFAULT_FIGURE_NUMBER:
        return number
    return _find(_FIGURES, lang) + number.removeprefix(_FIGURES["en"])


def _find(words: Mapping[str, str], lang: str) -> str:
    return words.get(lang.partition("-")[0].lower(), words["en"])
