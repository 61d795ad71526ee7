"""Mapping between business terms and XML elements: one table per syntax, for reading and writing."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import cached_property
from importlib.resources import files
from itertools import chain
from typing import Any, Final
from xml.etree.ElementTree import Element

from lxml import etree

from workers.engine.einvoices.findings import RuleViolation, Severity
from workers.engine.einvoices.markup import read_xml
from workers.engine.einvoices.terms import INVOICE, BusinessGroup, BusinessTerm, TermType

Record = dict[str, Any]
Stack = tuple[Record, ...]  # the invoice and its nested records, the current one last

# The bound keeps sums exact and cheap. Zeros before and behind the digits are not counted.
_NUMBER: Final = re.compile(
    r"([+-]?(?:0*\d{1,18}(?:\.\d{0,10})?|\.\d{1,10}))(?:(?<=\.\d{10})0*)?", re.ASCII
)
_TRUTH: Final = {"1": "true", "0": "false"}  # the other forms of xsd:boolean
MAX_ENTRIES: Final = 20_000  # of one list
_DECLARATION: Final = b'<?xml version="1.0" encoding="UTF-8"?>\n'
FIRST: Final = "isFirst"  # marks the first entry of a list in an adapted record


@dataclass(frozen=True)
class MappingNode:
    """An XML element of a syntax, and the members of the record that it contains.

    `value` is the path of its text: `name` in the current record, `../name` in its parent, `/name` in
    the invoice. `inside` is the path of a record, which becomes the current one; `each` that of a
    list with one element per record. Constants discriminate between elements of one tag: an element
    with another constant is skipped, except for a `filler`. With `only_without` or `only_with` the
    element is for records without or with that member. `is_always_written` writes it even if empty.
    """

    tag: str
    value: str = ""
    children: tuple[MappingNode, ...] = ()
    inside: str = ""
    each: str = ""
    attributes: tuple[tuple[str, str], ...] = ()  # a name, and a path or "=" and a constant
    constant: str = ""
    filler: str = ""  # a required text without information
    only_without: str = ""
    only_with: str = ""
    is_always_written: bool = False
    is_single: bool = False  # an empty `each` list has one element
    is_read_only: bool = False  # another form of a member, which is never written
    is_summed: bool = False  # a number that is added to its term
    is_key: bool = False  # selects its parent as a constant does
    date_format: str = "%Y%m%d"

    @cached_property
    def is_constant(self) -> bool:
        """Whether it contains no member of a record."""
        is_empty = not self.value and not self.is_always_written
        return is_empty and all(child.is_constant for child in self.children)

    @cached_property
    def is_discriminator(self) -> bool:
        """Whether it distinguishes elements of its parent's tag."""
        has_fixed = any(source.startswith("=") for _, source in self.attributes)
        is_own = not (self.filler or self.each or self.is_read_only)
        return self.is_key or (is_own and (self.is_constant or has_fixed))

    @cached_property
    def children_by_tag(self) -> Mapping[str, Sequence[MappingNode]]:
        """The elements in it."""
        by_tag: dict[str, list[MappingNode]] = {}
        for child in self.children:
            by_tag.setdefault(child.tag, []).append(child)
        return by_tag


_INSTRUCTION: Final = "urn:pressroom:mapping}"  # of attributes that are fields of a node
_GROUP, _USE = f"{{{_INSTRUCTION}group", f"{{{_INSTRUCTION}use"


def read_mapping(file: str) -> Iterator[MappingNode]:
    """Yield the root nodes of a file: elements as they are written, with the fields of their nodes.

    A `group` is elements that others `use`.
    """
    root = read_xml(files(__package__).joinpath(file).read_bytes())
    groups: dict[str, tuple[MappingNode, ...]] = {}

    def read(element: Element) -> MappingNode:
        fields: dict[str, Any] = {"attributes": ()}
        for key, text in element.items():
            if key.startswith(_INSTRUCTION):
                own = key.removeprefix(_INSTRUCTION).replace("-", "_")
                fields[own] = True if own.startswith("is_") else text
            else:
                fields["attributes"] += ((key, text),)
        constant = (element.text or "").strip()
        return MappingNode(element.tag, children=read_all(element), constant=constant, **fields)

    def read_all(parent: Element) -> tuple[MappingNode, ...]:
        nodes = (
            groups[each.attrib["group"]] if each.tag == _USE else (read(each),) for each in parent
        )
        return tuple(chain.from_iterable(nodes))

    for element in root:
        if element.tag == _GROUP:
            groups[element.attrib["name"]] = read_all(element)
        else:
            yield read(element)


# --- writing ----------------------------------------------------------------------------------------


def write_tree(node: MappingNode, record: Record, prefixes: Mapping[str, str]) -> bytes:
    """Return a record as the XML of a syntax, in UTF-8, with the namespaces of `prefixes`."""
    root = etree.Element(node.tag, nsmap=dict(prefixes))
    for element in _write(node, (record,)):
        root.extend(element)
    written: bytes = etree.tostring(root, encoding="UTF-8", pretty_print=True)
    return _DECLARATION + written


def _write(node: MappingNode, stack: Stack) -> list[etree._Element]:
    if node.is_read_only:
        return []
    if node.inside:
        stack = (*stack, find_value(stack, node.inside) or {})
    if not node.each:
        element = _write_one(node, stack)
        return [] if element is None else [element]
    records = find_value(stack, node.each) or ([{}] if node.is_single else [])
    written = (_write_one(node, (*stack, each)) for each in records)
    return [element for element in written if element is not None]


def _write_one(node: MappingNode, stack: Stack) -> etree._Element | None:
    """Return one element, None if it contains nothing of the record."""
    if node.only_without and find_value(stack, node.only_without) is not None:
        return None
    if node.only_with and find_value(stack, node.only_with) is None:
        return None
    value = find_value(stack, node.value) if node.value else None
    text = node.constant or node.filler if value is None else _show(value, node)
    if node.value and not text and not node.is_always_written:
        return None
    has_content = value is not None or node.is_always_written or node.is_constant
    children: list[etree._Element] = []
    for child in node.children:
        written = _write(child, stack)
        children += written
        has_content = has_content or (bool(written) and not child.is_constant)
    if not has_content:
        return None
    element = etree.Element(node.tag)
    element.text = text or None
    element.extend(children)
    for name, source in node.attributes:
        shown = (
            source[1:]
            if source.startswith("=")
            else _show(find_value(stack, source.removeprefix("~")), node)
        )
        if shown:
            element.set(name, shown)
    return element


def _show(value: object, node: MappingNode) -> str:
    match value:
        case None:
            return ""
        case Decimal():
            return f"{value:f}"
        case date():
            return value.strftime(node.date_format)
        case bytes():
            return base64.b64encode(value).decode()
        case _:
            return str(value)


def find_value(stack: Stack, path: str) -> Any:
    """Return the value at a path, None if it is absent."""
    record, steps = _start(stack, path)
    value: object = record
    for step in steps:
        if not isinstance(value, dict):
            return None
        value = value.get(step)
    return value


def _start(stack: Stack, path: str) -> tuple[Record, list[str]]:
    if path.startswith("/"):
        return stack[0], path[1:].split(".")
    if path.startswith("../"):
        return stack[-2], path[3:].split(".")
    return stack[-1], path.split(".")


# --- reading ----------------------------------------------------------------------------------------


def read_tree(node: MappingNode, element: Element) -> tuple[Record, list[RuleViolation]]:
    """Read the record of an invoice from its root element; return it with what it does not take."""
    reader = _RecordReader()
    record: Record = {}
    if reader.matches(node, element, (record,)):
        reader.read_into(node, element, (record,), (INVOICE,))
    return record, reader.deviations


class _RecordReader:
    """Reads the record of one XML document."""

    def __init__(self) -> None:
        self.deviations: list[RuleViolation] = []

    def matches(self, node: MappingNode, element: Element, stack: Stack) -> bool:
        """Return whether an element matches a node: its tag, and the constants in it."""
        if element.tag != node.tag:
            return False
        if node.constant and not node.value:
            text = (element.text or "").strip()
            if node.constant not in (text, _TRUTH.get(text)):
                return False
        for name, source in node.attributes:
            own = element.get(name)
            if source.startswith("=") and own != source[1:]:
                return False
            if source.startswith("/") and own != find_value(stack, source):
                return False
        return all(self._has_constant(child, element, stack) for child in node.children)

    def _has_constant(self, child: MappingNode, element: Element, stack: Stack) -> bool:
        """Return whether an element contains a match of a discriminating child."""
        if not child.is_discriminator:
            return True
        return any(self.matches(child, one, stack) for one in element)

    def read_into(
        self, node: MappingNode, element: Element, stack: Stack, groups: tuple[BusinessGroup, ...]
    ) -> None:
        """Read the content of an element into the current record."""
        if node.value:
            self._store(node.value, element.text or "", stack, groups, node)
        for name, source in node.attributes:
            if not source.startswith(("=", "/", "~")) and name in element.attrib:
                self._store(source, element.attrib[name], stack, groups)
        found: set[int] = set()
        for inner in element:
            known = node.children_by_tag.get(inner.tag, ())
            child = next((one for one in known if self.matches(one, inner, stack)), None)
            if child is None:
                continue
            if id(child) in found and not child.each and not child.is_read_only:
                path = _path_of(groups, child.value or child.inside)
                message = f"{child.tag.rpartition('}')[2]} is stated more than once"
                # Of two amounts due none is the one; of groups, CIUS and extensions allow several.
                severity: Severity = "error" if child.value else "warning"
                deviation = RuleViolation("cardinality", path, message, severity=severity)
                self.deviations.append(deviation)
            found.add(id(child))
            self._enter(child, inner, stack, groups)

    def _enter(
        self, node: MappingNode, element: Element, stack: Stack, groups: tuple[BusinessGroup, ...]
    ) -> None:
        inner, own_groups = stack, groups
        if node.inside:
            inner, own_groups = self._open(node.inside, stack, groups)
        if not node.each:
            self.read_into(node, element, inner, own_groups)
            return
        record, name, group = self._find_group(node.each, inner, own_groups)
        entries = record.setdefault(name, [])
        if len(entries) >= MAX_ENTRIES:
            return
        own: Record = {}
        self.read_into(node, element, (*inner, own), (*own_groups, group))
        if own or not node.is_single:
            entries.append(own)

    def _open(
        self, path: str, stack: Stack, groups: tuple[BusinessGroup, ...]
    ) -> tuple[Stack, tuple[BusinessGroup, ...]]:
        record, name, group = self._find_group(path, stack, groups)
        return (*stack, record.setdefault(name, {})), (*groups, group)

    def _find_group(
        self, path: str, stack: Stack, groups: tuple[BusinessGroup, ...]
    ) -> tuple[Record, str, BusinessGroup]:
        """Return the parent record of a path, and the name and group of its last step."""
        record, steps = _start(stack, path)
        group = groups[0] if path.startswith("/") else groups[-1]
        for step in steps[:-1]:
            record, group = record.setdefault(step, {}), _member(group, step)
        last = _member(group, steps[-1])
        assert isinstance(last, BusinessGroup)
        return record, steps[-1], last

    def _store(
        self,
        path: str,
        text: str,
        stack: Stack,
        groups: tuple[BusinessGroup, ...],
        node: MappingNode | None = None,
    ) -> None:
        record, steps = _start(stack, path)
        group: object = (
            groups[0] if path.startswith("/") else groups[-2 if path[:2] == ".." else -1]
        )
        for step in steps[:-1]:
            record, group = record.setdefault(step, {}), _member(group, step)
        term = _member(group, steps[-1])
        assert isinstance(term, BusinessTerm)
        try:
            value = parse_value(text.strip(), term.data_type)
        except ValueError as error:
            message = f"{term.number}: {error}"
            deviation = RuleViolation("syntax", _path_of(groups, path), message, severity="warning")
            self.deviations.append(deviation)
            return
        if value is None:
            return
        if node is not None and node.is_summed:
            record[steps[-1]] = record.get(steps[-1], 0) + value
        else:
            record.setdefault(steps[-1], value)


def _path_of(groups: tuple[BusinessGroup, ...], path: str) -> str:
    """Return the path from the invoice of a path in the innermost group, such as /buyer/name."""
    names = [] if path.startswith("/") else [one.name for one in groups[1:]]
    if path.startswith("../"):
        names, path = names[:-1], path[3:]
    steps = path.removeprefix("/").split(".")
    return "".join(f"/{name}" for name in (*names, *steps) if name)


def _member(group: Any, name: str) -> Any:
    return next(member for member in group.members if member.name == name)


def parse_value(text: str, kind: TermType) -> object:
    """Parse a text of XML as a value of a type; None if it is empty.

    Raises:
        ValueError: the text is invalid; the message has the reason.
    """
    if not text:
        return None
    match kind:
        case TermType.AMOUNT | TermType.NUMBER:
            return parse_number(text)
        case TermType.DATE:
            return _parse_date(text)
        case TermType.BINARY:
            return decode_file(text, "the file is not in base64")
        case _:
            return text


def decode_file(text: str, message: str) -> bytes:
    """Return the bytes of a text in base64, with or without white space.

    Raises:
        ValueError: it is not in base64.
    """
    try:
        return base64.b64decode("".join(text.split()), validate=True)
    except ValueError:  # binascii.Error is one
        raise ValueError(message) from None


def parse_number(text: str) -> Decimal:
    """Parse a decimal number; zeros after the tenth decimal are left out.

    Raises:
        ValueError: it is no number, or has too many digits.
    """
    found = _NUMBER.fullmatch(text)
    if found is None:
        raise ValueError(
            f'must be a number of at most 18 digits before and 10 after the point, not "{text[:40]}"'
        )
    return Decimal(found[1])


def _parse_date(text: str) -> date:
    digits = text[:10].replace("-", "") if len(text) <= 32 else ""
    if len(digits) == 8 and digits.isascii() and digits.isdigit():
        try:
            return date(int(digits[:4]), int(digits[4:6]), int(digits[6:]))
        except ValueError:
            pass
    raise ValueError(f'"{text[:40]}" is not a date, such as 2026-03-02')
