"""Members that no declaration and no data have: what validate tells before a payload brings them.

A record is judged where a field declares something in it. What is read with `default`, or asked
whether it is defined, may be missing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from jinja2 import nodes

from workers.engine.diagnostics import Findings, Place
from workers.engine.merge.declarations import DataPath, Declarations
from workers.engine.syntax import values as v
from workers.engine.syntax.nodes import Element, Text
from workers.engine.syntax.vocabulary import ELEMENTS
from workers.engine.tree.grammar import (
    Expression,
    ExpressionSyntaxError,
    parse_expression,
    parse_text,
)
from workers.engine.tree.runtime import suggest

_FORGIVING: Final = frozenset({"default", "defined", "undefined"})


@dataclass(slots=True)
class _Shape:
    """What is known of a value: its members, or its items' if it is a list."""

    members: dict[str, _Shape] = field(default_factory=dict)
    is_declared: bool = False
    is_list: bool = False


def check_members(
    root: Element, declarations: Declarations, data: Mapping[str, Any], findings: Findings
) -> None:
    """Warn of members that neither the data section nor the data of this call have."""
    top = _shape_of(dict(data))
    for declared in declarations.fields:
        _declare(top, declared.path)
    for dataset in declarations.datasets:
        shape = _declare(top, dataset.path)
        shape.is_list = True
        for declared in dataset.fields:
            _declare(shape, declared.path)
    _Walk(top, findings).walk(root, {})


def _shape_of(value: Any) -> _Shape:
    if isinstance(value, dict):
        return _Shape({str(name): _shape_of(inner) for name, inner in value.items()})
    if isinstance(value, list):
        shape = _Shape(is_list=True)
        for item in value[:100]:
            shape.members |= _shape_of(item).members
        return shape
    return _Shape()


def _declare(shape: _Shape, path: DataPath) -> _Shape:
    for step in path:
        shape.is_declared = True
        shape = shape.members.setdefault(step, _Shape())
    return shape


class _Walk:
    """One walk over a document; names that a loop or a `let` sets stand before those of the data."""

    def __init__(self, top: _Shape, findings: Findings) -> None:
        self._top = top
        self._findings = findings

    def walk(self, element: Element, names: Mapping[str, _Shape | None]) -> None:
        if element.is_literal or element.tag not in ELEMENTS:
            return
        inner = dict(names)
        if "for" in element.attributes:
            inner |= self._loop(element, names)
        specs = ELEMENTS[element.tag].attributes
        for name, text in element.attributes.items():
            if name != "for" and name in specs:
                self._judge(text, inner, element.place, is_bare=specs[name].is_expression)
        for child in element.children:
            if isinstance(child, Text):
                if not child.is_literal and element.tag != "json":
                    self._judge(child.text, inner, element.place, is_bare=False)
                continue
            self.walk(child, inner)
            if child.tag == "let":
                inner[child.attributes.get("name", "")] = None

    def _loop(
        self, element: Element, names: Mapping[str, _Shape | None]
    ) -> dict[str, _Shape | None]:
        try:
            clause = v.LOOP.parse(element.attributes["for"])
            parsed = parse_expression(clause.expression)
        except (ValueError, ExpressionSyntaxError):
            return {}
        self._judge_expression(parsed, names, element.place)
        items = self._find(parsed.node, names)
        made: dict[str, _Shape | None] = {"loop": None, clause.name: None}
        if clause.key:
            made[clause.key] = None
        elif items is not None and items.is_list:
            made[clause.name] = _Shape(items.members, items.is_declared)
        return made

    def _judge(
        self, text: str, names: Mapping[str, _Shape | None], place: Place, *, is_bare: bool
    ) -> None:
        if not is_bare and "{{" not in text:
            return
        try:
            found = (parse_expression(text),) if is_bare else parse_text(text).expressions
        except ExpressionSyntaxError:
            return  # told where it is compiled
        for parsed in found:
            self._judge_expression(parsed, names, place)

    def _judge_expression(
        self, parsed: Expression, names: Mapping[str, _Shape | None], place: Place
    ) -> None:
        calls = (parsed.node, *parsed.node.find_all((nodes.Filter, nodes.Test)))
        if any(getattr(call, "name", None) in _FORGIVING for call in calls):
            return
        for member in (parsed.node, *parsed.node.find_all(nodes.Getattr)):
            if not isinstance(member, nodes.Getattr):
                continue
            record = self._find(member.node, names)
            if record is None or record.is_list or not record.is_declared:
                continue
            if member.attr not in record.members:
                self._findings.warn(
                    "undeclared-member",
                    f'No field and no data have the member "{member.attr}" in '
                    f"{{{{ {parsed.text[:80]} }}}}{suggest(member.attr, record.members)}",
                    place,
                )

    def _find(self, node: nodes.Node, names: Mapping[str, _Shape | None]) -> _Shape | None:
        """Give what is known of a name, or of a member of one; None for anything else."""
        if isinstance(node, nodes.Name):
            return names[node.name] if node.name in names else self._top.members.get(node.name)
        if not isinstance(node, nodes.Getattr):
            return None
        record = self._find(node.node, names)
        return None if record is None or record.is_list else record.members.get(node.attr)
