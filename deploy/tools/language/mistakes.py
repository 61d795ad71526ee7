"""Common mistakes of authors, one per rule (mistakes.txt), with the engine's diagnostics."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Final

from deploy.tools.language.examples import OPTIONS, RESOURCES, Example, read_sections
from workers.engine.diagnostics import AuthoringError, Diagnostic
from workers.engine.pipeline import render
from workers.engine.ports import Payload, PayloadKind


@dataclass(frozen=True, slots=True)
class Mistake:
    """A document, or a part of one, that breaks the rule `code` at the element `tag`."""

    code: str
    tag: str
    text: str


def find_diagnostic(mistake: Mistake) -> Diagnostic:
    """Return the diagnostic that the engine reports for a mistake.

    Raises:
        LookupError: The engine does not report that rule at that element.
    """
    for diagnostic in _render(Example((mistake.tag,), mistake.text).document):
        tags = {place.tag_name for place in diagnostic.chain}
        if diagnostic.code == mistake.code and mistake.tag in tags:
            return diagnostic
    raise LookupError(f"{mistake.code} is not reported for {mistake.text}")


def _render(document: str) -> tuple[Diagnostic, ...]:
    payload = Payload(PayloadKind.XML, document.encode())
    try:
        return render(None, payload, options=OPTIONS, resources=RESOURCES).warnings
    except AuthoringError as error:
        return error.diagnostics


def _read(code_and_tag: str, text: str) -> Mistake:
    code, tag = code_and_tag.split(" ")
    return Mistake(code, tag, text)


GENERAL, _OF_ELEMENTS = (
    tuple(_read(*entry) for entry in entries) for entries in read_sections("mistakes.txt").values()
)
SPECIAL: Final[defaultdict[str, list[Mistake]]] = defaultdict(list)
for _mistake in _OF_ELEMENTS:
    SPECIAL[_mistake.tag].append(_mistake)
