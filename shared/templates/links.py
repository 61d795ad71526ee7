"""The links of a template's text: the templates that it extends, or imports from."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import Any, Final
from xml.parsers.expat import ExpatError

from defusedxml.common import DefusedXmlException

from shared.templates.well_formed import make_tag_parser

# The engine refuses a document with more, whatever it links to.
_MAX_ELEMENTS: Final = 400_000
# A process of the front answers other requests after so many elements.
_ELEMENTS_AT_ONCE: Final = 2_000
_PAUSE_SECONDS: Final = 0.0001


def find_links(text: str) -> tuple[str, ...]:
    """Return the references that `extends` and `import` name, as written, each once.

    Only the engine reports what is wrong with them. A text that is not well-formed has those before its
    error.
    """
    if "extends" not in text and "<import" not in text:
        return ()
    reader = _LinkReader()
    expat = make_tag_parser(reader.enter, reader.leave)
    with suppress(ExpatError, DefusedXmlException, _TooManyElementsError):
        # In one call, see `check_well_formed`.
        expat.Parse(text.encode("utf-8", "replace"), True)
    return tuple(dict.fromkeys(reader.links))


class _TooManyElementsError(Exception):
    """The text has more elements than the engine accepts."""


class _LinkReader:
    """Collects the links of the root and of its children."""

    def __init__(self) -> None:
        self.links: list[str] = []
        self._depth = self._elements = 0

    def enter(self, tag: str, attributes: Any) -> None:
        """Read the start of an element."""
        self._elements += 1
        if self._elements % _ELEMENTS_AT_ONCE == 0:
            if self._elements > _MAX_ELEMENTS:
                raise _TooManyElementsError
            time.sleep(_PAUSE_SECONDS)
        self._depth += 1
        if self._depth > 2:
            return
        # Attributes come as a list of names and values in turns, or as a mapping.
        pairs = (
            dict(attributes)
            if isinstance(attributes, dict)
            else dict(zip(attributes[::2], attributes[1::2], strict=True))
        )
        name = "extends" if self._depth == 1 else "template" if tag == "import" else ""
        if name in pairs:
            self.links.append(pairs[name].strip())

    def leave(self, _tag: str) -> None:
        """Read the end of an element."""
        self._depth -= 1
