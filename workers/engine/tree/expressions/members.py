"""Members that an expression reads and neither a declaration nor the data have.

A record is checked if a field declares a member of it. A member read with `default` or `is defined`
may be missing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from jinja2 import nodes

from workers.engine.caches import cache_short
from workers.engine.diagnostics import Findings, SourceLocation
from workers.engine.merge.declarations import DataPath, Declarations
from workers.engine.syntax import values as v
from workers.engine.syntax.nodes import JSON_TAGS, Element, PartExpansion, SlotExpansion, Text
from workers.engine.syntax.vocabulary import ELEMENTS
from workers.engine.tree.expressions.grammar import (
    Expression,
    ExpressionSyntaxError,
    parse_expression,
    parse_text,
)
from workers.engine.tree.expressions.runtime import suggest_identifier

_OPTIONAL: Final = frozenset({"default", "defined", "undefined"})
# A `part` left in the document is unused, and messages know their arguments alone.
_SEPARATE: Final = frozenset({"part", "messages"})
_MAX_USES: Final = 1000  # warnings of one template
_MAX_ROWS: Final = 100  # records of a list that are searched for a member


@dataclass(frozen=True, slots=True)
class MemberUse:
    """An undeclared member that an expression reads of a declared record.

    `path` leads to the record from the top, or from a record of the dataset at `rows`.
    """

    name: str
    path: DataPath
    rows: DataPath | None
    declared: tuple[str, ...]
    expression: str
    location: SourceLocation


def find_member_uses(root: Element, declarations: Declarations) -> tuple[MemberUse, ...]:
    """Find the undeclared members that a template reads, once for all its documents."""
    if not (declarations.fields or declarations.datasets):
        return ()
    top = _DeclaredShape()
    for declared in declarations.fields:
        _declare(top, declared.path)
    for dataset in declarations.datasets:
        shape = _declare(top, dataset.path)
        shape.records = _DeclaredShape(rows=dataset.path)
        shape.is_declared = bool(dataset.fields)
        for declared in dataset.fields:
            _declare(shape.records, declared.path)
    walk = _MemberFinder(top)
    walk.walk(root, {})
    return tuple(walk.uses)


def check_member_uses(
    uses: Iterable[MemberUse], data: Mapping[str, object], findings: Findings
) -> None:
    """Warn of members that neither the data section nor the data of this call have."""
    for use in uses:
        known = _find_known(use, data)
        if known is not None and use.name not in known:
            findings.warn(
                "undeclared-member",
                f'No field and no data have the member "{use.name}" in '
                f"{{{{ {use.expression[:80]} }}}}{suggest_identifier(use.name, {*use.declared, *known})}",
                use.location,
            )


def _find_known(use: MemberUse, data: Mapping[str, object]) -> set[str] | None:
    """Return the members the record has in these data; None if it is a list there."""
    if use.rows is None:
        record = _follow(data, use.path)
        return None if isinstance(record, list) else _names_of(record)
    rows = _follow(data, use.rows)
    known: set[str] = set()
    for row in rows[:_MAX_ROWS] if isinstance(rows, list) else ():
        known |= _names_of(_follow(row, use.path))
    return known


def _follow(value: object, path: DataPath) -> object:
    for step in path:
        value = value.get(step) if isinstance(value, Mapping) else None
    return value


def _names_of(record: object) -> set[str]:
    return {str(name) for name in record} if isinstance(record, Mapping) else set()


@dataclass(slots=True)
class _DeclaredShape:
    """The declared members of a value, or those of its records if it is a list of them."""

    path: DataPath = ()
    rows: DataPath | None = None
    members: dict[str, _DeclaredShape] = field(default_factory=dict)
    is_declared: bool = False
    records: _DeclaredShape | None = None


def _declare(shape: _DeclaredShape, path: DataPath) -> _DeclaredShape:
    for step in path:
        shape.is_declared = True
        inner = shape.members.get(step)
        if inner is None:
            inner = shape.members[step] = _DeclaredShape((*shape.path, step), shape.rows)
        shape = inner
    return shape


class _MemberFinder:
    """One pass over a template; names of loops and `let`s hide those of the data."""

    def __init__(self, top: _DeclaredShape) -> None:
        self._top = top
        # Names around the parts in use.
        self._callers: list[Mapping[str, _DeclaredShape | None]] = []
        self.uses: list[MemberUse] = []

    def walk(self, element: Element, names: Mapping[str, _DeclaredShape | None]) -> None:
        if element.is_literal or element.tag not in ELEMENTS or element.tag in _SEPARATE:
            return
        inner = dict(names)
        specs = ELEMENTS[element.tag].attributes
        for loop in ("for", "data"):  # a chart may have both
            if loop in element.attributes and loop in specs:
                inner |= self._loop(element, loop, inner)
        for name, text in element.attributes.items():
            if name in specs and specs[name].value_type is not v.LOOP:
                self._check_text(text, inner, element.location, is_bare=specs[name].is_expression)
        match element:
            case PartExpansion():
                inner = self._arguments(element, inner)
                self._callers.append(names)
                self._walk_children(element, inner)
                self._callers.pop()
            case SlotExpansion():
                self._walk_slot(element)
            case _:
                self._walk_children(element, inner)

    def _walk_children(self, element: Element, names: dict[str, _DeclaredShape | None]) -> None:
        for child in element.children:
            if isinstance(child, Text):
                if not child.is_literal and element.tag not in JSON_TAGS:
                    self._check_text(child.text, names, element.location, is_bare=False)
                continue
            self.walk(child, names)
            if child.tag == "let":
                names[child.attributes.get("name", "")] = None

    def _arguments(
        self, element: PartExpansion, names: Mapping[str, _DeclaredShape | None]
    ) -> dict[str, _DeclaredShape | None]:
        """Return the names in a part, each with the declared shape of its argument."""
        made: dict[str, _DeclaredShape | None] = {}
        for parameter in element.parameters:
            text = element.arguments.get(parameter.name, "")
            self._check_text(text, names, element.source_location, is_bare=False)
            made[parameter.name] = None
            if text.startswith("{{"):
                try:
                    sole = parse_text(text).sole
                except ExpressionSyntaxError:  # reported where it is compiled
                    sole = None
                if sole is not None:
                    made[parameter.name] = self._find(_chain_of(sole.node), names)
        return made

    def _walk_slot(self, element: SlotExpansion) -> None:
        """Walk the content of a slot, with the names where the part is used."""
        names = self._callers.pop()
        self._walk_children(element, dict(names))
        self._callers.append(names)

    def _loop(
        self, element: Element, attribute: str, names: Mapping[str, _DeclaredShape | None]
    ) -> dict[str, _DeclaredShape | None]:
        try:
            clause = v.LOOP.parse(element.attributes[attribute])
            parse_expression(clause.expression)
        except (ValueError, ExpressionSyntaxError):
            return {}
        self._check_text(clause.expression, names, element.location, is_bare=True)
        items = self._find(_chain_of(parse_expression(clause.expression).node), names)
        made: dict[str, _DeclaredShape | None] = {"loop": None, clause.name: None}
        if clause.key:
            made[clause.key] = None
        elif items is not None and items.records is not None:
            made[clause.name] = items.records
        return made

    def _check_text(
        self,
        text: str,
        names: Mapping[str, _DeclaredShape | None],
        location: SourceLocation,
        *,
        is_bare: bool,
    ) -> None:
        if "." not in text or not (is_bare or "{{" in text):
            return
        for expression, chains in _read_chains(text, is_bare=is_bare):
            for *path, name in chains:
                record = self._find(path, names)
                if record is None or record.records is not None or not record.is_declared:
                    continue
                if name not in record.members and len(self.uses) < _MAX_USES:
                    declared = tuple(record.members)
                    use = MemberUse(name, record.path, record.rows, declared, expression, location)
                    self.uses.append(use)

    def _find(
        self, chain: Sequence[str] | None, names: Mapping[str, _DeclaredShape | None]
    ) -> _DeclaredShape | None:
        """Return the declared shape of a name, or of a member of one; None for anything else."""
        if not chain:
            return None
        first = chain[0]
        shape = names[first] if first in names else self._top.members.get(first)
        for step in chain[1:]:
            if shape is None or shape.records is not None:
                return None
            shape = shape.members.get(step)
        return shape


_Chains = tuple[tuple[str, ...], ...]


# Documents without a template are compiled for each render, mostly with the same expressions.
@cache_short(len, max_entries=512, max_length=2000)
def _read_chains(text: str, *, is_bare: bool) -> tuple[tuple[str, _Chains], ...]:
    """Return the expressions of a text, each with the member chains it reads."""
    try:
        found = (parse_expression(text),) if is_bare else parse_text(text).expressions
    except ExpressionSyntaxError:
        return ()  # reported where it is compiled
    return tuple((parsed.text, chains) for parsed in found if (chains := _chains_of(parsed)))


def _chains_of(parsed: Expression) -> _Chains:
    calls = (parsed.node, *parsed.node.find_all((nodes.Filter, nodes.Test)))
    if any(isinstance(c, nodes.Filter | nodes.Test) and c.name in _OPTIONAL for c in calls):
        return ()
    members = (parsed.node, *parsed.node.find_all(nodes.Getattr))
    chains = (_chain_of(member) for member in members if isinstance(member, nodes.Getattr))
    return tuple(chain for chain in chains if chain is not None)


def _chain_of(node: nodes.Node) -> tuple[str, ...] | None:
    """Return a name and the members read of it, None for anything else."""
    names: list[str] = []
    while isinstance(node, nodes.Getattr):
        names.append(node.attr)
        node = node.node
    if not isinstance(node, nodes.Name):
        return None
    return (node.name, *reversed(names))
