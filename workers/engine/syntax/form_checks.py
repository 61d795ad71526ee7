"""Static checks of form fields: which attributes each type of `input` needs and accepts."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from workers.engine.diagnostics import Findings
from workers.engine.syntax.nodes import Element
from workers.engine.syntax.vocabulary.forms import INPUT_TYPES
from workers.engine.syntax.wording import join_words

_TEXT: Final = frozenset({"text"})
_BUTTONS: Final = frozenset({"checkbox", "radio"})
# The types that use an attribute; every type uses the attributes that are not listed.
_TAKERS: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {"checked": _BUTTONS, "max-length": _TEXT, "comb": _TEXT, "text-align": _TEXT}
)


def check_forms(root: Element, findings: Findings) -> None:
    """Report attributes that a type of field needs and lacks, or does not use."""
    for element in root.walk():
        if element.tag == "input":
            kind = element.attributes.get("type", "text")
            if kind in INPUT_TYPES:
                _check_input(element, kind, findings)
        elif element.tag == "select" and not any(child.tag == "option" for child in element.walk()):
            findings.error(
                "missing-option",
                "`select` has no `option`, so nothing could be selected; add one for each choice",
                element.location,
            )


def _check_input(element: Element, kind: str, findings: Findings) -> None:
    given = element.attributes
    for name, types in _TAKERS.items():
        if name in given and kind not in types:
            findings.error(
                "misplaced-attribute",
                f'`{name}` has no effect on an input of type "{kind}"; it is for '
                f"{join_words(sorted(types), 'and')}",
                element.location,
            )
    if "comb" in given and "max-length" in given:
        findings.error(
            "misplaced-attribute",
            "`max-length` has no effect beside `comb`, which states the number of characters",
            element.location,
        )
    if kind == "radio" and "value" not in given:
        findings.error(
            "missing-attribute",
            'An input of type "radio" has no `value`, which it needs: the value of the group while '
            "it is checked",
            element.location,
        )
