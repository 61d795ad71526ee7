"""The word before the default number of figures, by language."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from workers.engine.tree.styles.computed import Numbering
from workers.engine.tree.styles.user_agent import DEFAULT_FIGURE_NUMBER

_ENGLISH: Final = "Figure"
_WORDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "ar": "الشكل", "cs": "Obrázek", "da": "Figur", "de": "Abbildung", "el": "Σχήμα", "es": "Figura",
        "et": "Joonis", "fi": "Kuva", "he": "איור", "hr": "Slika", "it": "Figura", "ja": "図", "ko": "그림",
        "lt": "Pav.", "lv": "Attēls", "nb": "Figur", "nl": "Figuur", "nn": "Figur", "no": "Figur",
        "pl": "Rysunek", "pt": "Figura", "ro": "Figura", "ru": "Рисунок", "sk": "Obrázok", "sl": "Slika",
        "sr": "Слика", "sv": "Figur", "tr": "Şekil", "uk": "Рисунок", "vi": "Hình", "zh": "图",
    }
)  # fmt: skip


def translate_figure_number(number: str, numbering: Numbering, lang: str) -> str:
    """Return the number of a figure in a language, unless an author has chosen its format."""
    shape = numbering.format
    if shape is None or shape.text != DEFAULT_FIGURE_NUMBER:
        return number
    word = _WORDS.get(lang.partition("-")[0].lower(), _ENGLISH)
    return word + number.removeprefix(_ENGLISH)
