"""The form fields of one build: their names, which are unique, and the groups of radio buttons."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from workers.engine.diagnostics import Findings
from workers.engine.tree.field_values import FieldKind
from workers.engine.tree.nodes import (
    FormField,
    describe_loops,
)

MAX_FIELDS: Final = 10_000  # of one document; a field takes some 600 bytes of the file


@dataclass(slots=True)
class _NamedButtons:
    """The radio buttons of one name: their values, and whether one of them is checked."""

    is_interactive: bool
    values: set[str] = field(default_factory=set)
    has_checked: bool = False


class FormFieldRegistry:
    """Names in use. Boxes for filling by hand have no name in the file, but are checked alike."""

    __slots__ = ("_groups", "_names", "count", "has_interactive", "signatures")

    def __init__(self) -> None:
        self._names: set[str] = set()
        self._groups: dict[str, _NamedButtons] = {}
        self.count = 0
        self.has_interactive = False
        self.signatures: list[str] = []  # the names of fields that can be signed

    def add(self, node: FormField, findings: Findings) -> None:
        """Register a field; one whose name is taken is reported."""
        self.count += 1
        self.has_interactive = self.has_interactive or node.is_interactive
        if node.kind is FieldKind.SIGNATURE and node.is_interactive:
            self.signatures.append(node.name)
        if node.kind is FieldKind.RADIO:
            self._add_radio(node, findings)
        elif node.name in self._names or node.name in self._groups:
            self._report(
                node,
                findings,
                f'The field name "{node.name}" is given twice. In a loop, a name needs an expression, '
                'such as name="amount-{{ loop.index }}"',
            )
        else:
            self._names.add(node.name)

    def _add_radio(self, node: FormField, findings: Findings) -> None:
        if node.name in self._names:
            self._report(
                node,
                findings,
                f'The field name "{node.name}" belongs to a field that is not a radio button',
            )
            return
        group = self._groups.setdefault(node.name, _NamedButtons(node.is_interactive))
        if node.is_interactive is not group.is_interactive:
            message = f'The radio buttons "{node.name}" are interactive only in part; give all of them the same `interactive`'
        elif node.value in group.values:
            message = f'The group "{node.name}" has two radio buttons of the value "{node.value}"'
        elif node.is_checked and group.has_checked:
            message = (
                f'The group "{node.name}" has two radio buttons that are checked; accepted is one'
            )
        else:
            message = ""
        group.values.add(node.value)
        group.has_checked = group.has_checked or node.is_checked
        if message:
            self._report(node, findings, message)

    def _report(self, node: FormField, findings: Findings, message: str) -> None:
        source = node.source
        findings.error(
            "duplicate-field", f"{message}{describe_loops(source.loop)}", source.location
        )
