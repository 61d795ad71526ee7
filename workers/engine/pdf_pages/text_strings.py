"""Text strings of a PDF (ISO 32000-2, 7.9.2.2) as Unicode, within a budget of characters."""

from __future__ import annotations

import codecs
import re
from typing import Final

import pikepdf

from workers.engine.pdf_pages.objects import UnusablePdfError

_MARKS: Final = (
    (codecs.BOM_UTF16_BE, "utf-16-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),  # not in the standard, but viewers read it
    (codecs.BOM_UTF8, "utf-8"),
)
_LANGUAGE: Final = re.compile("\x1b[^\x1b]*\x1b")
_LINE_END: Final = re.compile(r"\r\n?")


class TextBudget:
    """Decodes texts of one file up to a number of characters in total.

    The same object may be the value of every field, so the size of the file is no limit.
    """

    def __init__(self, characters: int) -> None:
        self._limit = self._remaining = characters

    def decode(self, data: bytes) -> str:
        """Return a text string; line ends become line feeds, and invalid characters U+FFFD.

        Raises:
            UnusablePdfError: more characters than the budget.
        """
        # Before decoding: no encoding has more than four bytes a character.
        self._take(len(data) // 4)
        text = _decode(data)
        self._take(len(text) - len(data) // 4)
        return text

    def _take(self, characters: int) -> None:
        self._remaining -= characters
        if self._remaining < 0:
            raise UnusablePdfError(
                f"The texts of the form have more than {self._limit:,} characters",
                advice="Send a form with shorter values.",
            )


def _decode(data: bytes) -> str:
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            text = _LANGUAGE.sub("", data[len(mark) :].decode(encoding, "replace"))
            break
    else:
        text = str(pikepdf.String(data))
    return _LINE_END.sub("\n", text)
