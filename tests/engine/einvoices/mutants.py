"""Changes of one element of an invoice, made without knowledge of any rule."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, Final

Element = Any  # the type of lxml has no public name
Mutation = Callable[[Element], None]


def _parent(element: Element) -> Element:
    parent = element.getparent()
    assert parent is not None
    return parent


def _duplicate(element: Element) -> None:
    element.addnext(copy.deepcopy(element))


def _remove(element: Element) -> None:
    _parent(element).remove(element)


def _move_to_front(element: Element) -> None:
    _parent(element).insert(0, element)


def _move_to_end(element: Element) -> None:
    _parent(element).append(element)


def _move_out(element: Element) -> None:
    parent = _parent(element)
    if parent.getparent() is not None:
        parent.addnext(element)


def _rename(element: Element) -> None:
    element.tag = f"{element.tag}X"


def _empty(element: Element) -> None:
    for child in element:
        element.remove(child)
    element.text = None


def _change_text(element: Element) -> None:
    element.text = f"{(element.text or '').strip()}1"


def _add_currency(element: Element) -> None:
    element.set("currencyID", "CHF")


def _drop_attributes(element: Element) -> None:
    element.attrib.clear()


def _change_attributes(element: Element) -> None:
    for name in element.attrib:
        element.set(name, "ZZ9")


MUTATIONS: Final[dict[str, Mutation]] = {
    "duplicate": _duplicate,
    "remove": _remove,
    "front": _move_to_front,
    "end": _move_to_end,
    "out": _move_out,
    "rename": _rename,
    "empty": _empty,
    "text": _change_text,
    "currency": _add_currency,
    "no-attributes": _drop_attributes,
    "attributes": _change_attributes,
}
