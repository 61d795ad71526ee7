"""Static checks of number formats and counters."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from workers.engine.diagnostics import Findings
from workers.engine.syntax.nodes import Element
from workers.engine.syntax.numbers import (
    COUNTER_RESET,
    COUNTER_SET,
    HEADINGS,
    NUMBER_FORMAT,
    PAGE,
    chain_of,
    counter_of,
    find_counters,
)
from workers.engine.syntax.suggestions import suggest_name
from workers.engine.syntax.values import ValueType

_SETTING: Final[dict[str, ValueType[Any]]] = {
    "counter-reset": COUNTER_RESET,
    "counter-set": COUNTER_SET,
}


def check_numbers(root: Element, findings: Findings) -> None:
    """Report counters that no `number` uses, and formats with more levels than there are counters."""
    checker = _NumberChecker(root, findings)
    for element in root.walk():
        for name, kind in _SETTING.items():
            if name in element.attributes:
                checker.check_setting(element, name, kind)
        if "number" in element.attributes:
            checker.check_format(element)
        if element.attributes.get("counter") == PAGE:
            findings.error(
                "wrong-value",
                f'`counter` of `{element.tag}` is "page", which counts pages; choose another name',
                element.location,
            )


class _NumberChecker:
    def __init__(self, root: Element, findings: Findings) -> None:
        self._findings = findings
        self._counters = find_counters(root)
        self._is_open = any(
            "{{" in name for name in self._counters
        )  # data may name further counters

    def check_setting(self, element: Element, name: str, kind: ValueType[Any]) -> None:
        written = element.attributes[name]
        if "{{" in written and not element.is_literal:
            return
        try:
            counters = [counter for counter, _ in kind.parse(written)]
        except ValueError:  # reported by the check of the value
            return
        self._check_names(element, name, counters)

    def check_format(self, element: Element) -> None:
        written = element.attributes["number"]
        if "{{" in written and element.tag != "style":
            return
        try:
            shape = NUMBER_FORMAT.parse(written)
        except ValueError:
            return
        if shape is None:
            return
        if not shape.is_plain:
            self._check_names(element, "number", [token.name for token in shape.tokens])
            return
        counter = counter_of(element) or element.tag
        if "{{" in counter:
            return
        chain = chain_of(counter, self._counters)
        if len(shape.tokens) > len(chain):
            self._findings.error(
                "number-levels",
                f'The number "{written}" of `{element.tag}` has {len(shape.tokens)} levels; '
                f"{_suggest_fix(counter, chain)}",
                element.location,
            )

    def _check_names(self, element: Element, name: str, counters: Iterable[str]) -> None:
        if self._is_open:
            return
        for counter in counters:
            if counter not in self._counters and not (counter == PAGE and name != "number"):
                near = (
                    suggest_name(counter, self._counters)
                    if self._findings.has_room_for_errors
                    else ""
                )
                self._findings.error(
                    "unknown-counter",
                    f'`{name}` of `{element.tag}` names the counter "{counter}", but no style or '
                    f"element with a `number` counts by it{near}",
                    element.location,
                )


def _suggest_fix(counter: str, chain: tuple[str, ...]) -> str:
    if counter in HEADINGS:
        known = " and ".join(f"`{name}`" for name in chain)
        return f"of the headings down to `{counter}` only {known} have a number"
    return f"name those above its own, as in {{h2}}.{{{counter}}}"
