"""Members that an expression reads and neither a declaration nor the data have.

A record is checked if a field declares a member of it. A member read with `default` or `is defined`
may be missing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from jinja2 import nodes

from workers.engine.diagnostics import Findings, SourceLocation
from workers.engine.merge.declarations import DataPath, DeclaredShape
from workers.engine.tree.expressions.grammar import Expression, path_of
from workers.engine.tree.expressions.runtime import suggest_identifier

_OPTIONAL: Final = frozenset({"default", "defined", "undefined"})
MAX_MEMBER_USES: Final = 1000  # warnings of one template
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


# The names that an expression knows, each with what is declared of its value.
KnownNames = Mapping[str, DeclaredShape | None]


def find_shape(expression: Expression, names: KnownNames) -> DeclaredShape | None:
    """Return what is declared of an expression that is a name or a member of one, None of others."""
    return _follow_shape(path_of(expression.node), names)


def _follow_shape(path: Sequence[str], names: KnownNames) -> DeclaredShape | None:
    if not path:
        return None
    shape = names.get(path[0])
    for step in path[1:]:
        if shape is None or shape.records is not None:
            return None
        shape = shape.members.get(step)
    return shape


def find_member_uses(
    expression: Expression, names: KnownNames, location: SourceLocation
) -> Iterator[MemberUse]:
    """Yield the undeclared members that an expression reads."""
    for *path, name in expression.paths:
        record = _follow_shape(path, names)
        if record is None or record.records is not None or not record.is_declared:
            continue
        if name not in record.members and not _is_lenient(expression):
            declared = tuple(record.members)
            yield MemberUse(name, record.path, record.rows, declared, expression.text, location)


def _is_lenient(expression: Expression) -> bool:
    """Return whether an expression asks if something is defined."""
    calls = (expression.node, *expression.node.find_all((nodes.Filter, nodes.Test)))
    return any(isinstance(c, nodes.Filter | nodes.Test) and c.name in _OPTIONAL for c in calls)


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
