"""Attached XML: whether it is well-formed, and which level of electronic invoice it states."""

from __future__ import annotations

import re
from typing import Final
from xml.parsers import expat

from workers.engine.memory import check_memory

INVOICE_NAMES: Final = ("factur-x.xml", "xrechnung.xml")  # Factur-X 1.0, 6.2.2, and ZUGFeRD 2

_GUIDELINE: Final = (
    "ExchangedDocumentContext",
    "GuidelineSpecifiedDocumentContextParameter",
    "ID",
)
_LEVELS: Final = {  # BT-24 as Factur-X 1.0 writes it
    "urn:factur-x.eu:1p0:minimum": "MINIMUM",
    "urn:factur-x.eu:1p0:basicwl": "BASIC WL",
    "urn:cen.eu:en16931:2017#compliant#urn:factur-x.eu:1p0:basic": "BASIC",
    "urn:cen.eu:en16931:2017": "EN 16931",
    "urn:cen.eu:en16931:2017#conformant#urn:factur-x.eu:1p0:extended": "EXTENDED",
}
_XRECHNUNG: Final = re.compile(
    r"urn:cen\.eu:en16931:2017#compliant#urn:(?:xeinkauf\.de:kosit|xoev-de:kosit:standard):xrechnung_[\d.]+"
)
_MAX_GUIDELINE: Final = 300


class NotWellFormedError(Exception):
    """An XML text that no reader takes; the message says where and why."""


class _Declared(Exception):
    """A document type declaration, with which a text is taken as it is."""


def read_invoice_level(content: bytes) -> str:
    """Read XML; gives the level of the invoice it holds, empty when it is none that is known.

    Raises:
        NotWellFormedError: the XML is broken.
    """
    reader = _Reader()
    try:
        reader.parser.Parse(content, True)
    except expat.ExpatError as error:
        check_memory(error)
        reason = expat.ErrorString(error.code)
        raise NotWellFormedError(
            f"line {error.lineno}, column {error.offset + 1}: {reason}"
        ) from None
    except _Declared:
        return ""
    finally:
        del reader.parser  # it holds the reader by its handlers, and the text
    guideline = "".join(reader.guideline.split())
    if _XRECHNUNG.fullmatch(guideline):
        return "XRECHNUNG"
    return _LEVELS.get(guideline, "")


class _Reader:
    """Reads through an XML text for the identifier of its guideline."""

    def __init__(self) -> None:
        self.guideline = ""
        self._path: list[str] = []
        self.parser = expat.ParserCreate(namespace_separator="}")
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._characters
        self.parser.StartDoctypeDeclHandler = self._declaration

    def _start(self, tag: str, _: dict[str, str]) -> None:
        self._path.append(tag.rpartition("}")[2])

    def _end(self, _: str) -> None:
        self._path.pop()

    def _characters(self, data: str) -> None:
        if tuple(self._path[1:]) == _GUIDELINE and len(self.guideline) < _MAX_GUIDELINE:
            self.guideline += data

    def _declaration(self, *_: object) -> None:
        raise _Declared
