"""Mapping between business terms and XML elements: one table per syntax, for reading and writing."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from importlib.resources import files
from itertools import chain
from typing import Any, Final
from xml.etree.ElementTree import Element

from workers.engine.einvoices.findings import Severity
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
FIRST: Final = "isFirst"  # marks the first entry of a list in an adapted record


@dataclass(frozen=True, slots=True)
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
    is_constant: bool = field(init=False)  # contains no member of a record
    is_discriminator: bool = field(init=False)  # distinguishes elements of its parent's tag
    children_by_tag: Mapping[str, Sequence[MappingNode]] = field(
        init=False, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        """Compute the derived fields."""
        is_constant = not self.value and not self.is_always_written
        is_constant = is_constant and all(child.is_constant for child in self.children)
        object.__setattr__(self, "is_constant", is_constant)
        has_fixed = any(source.startswith("=") for _, source in self.attributes)
        is_own = not (self.filler or self.each or self.is_read_only)
        is_discriminator = is_own and (is_constant or has_fixed)
        object.__setattr__(self, "is_discriminator", is_discriminator or self.is_key)
        by_tag: dict[str, list[MappingNode]] = {}
        for child in self.children:
            by_tag.setdefault(child.tag, []).append(child)
        object.__setattr__(self, "children_by_tag", by_tag)


_INSTRUCTION: Final = "urn:pressroom:mapping}"  # of attributes that are fields of a node
_GROUP, _USE = f"{{{_INSTRUCTION}group", f"{{{_INSTRUCTION}use"


def read_mapping(file: str, prefixes: Mapping[str, str]) -> Iterator[MappingNode]:
    """Yield the root nodes of a file: elements as they are written, with the fields of their nodes.

    A `group` is elements that others `use`; `prefixes` are by namespace.
    """
    root = read_xml(files(__package__).joinpath(file).read_bytes())
    groups: dict[str, tuple[MappingNode, ...]] = {}

    def read(element: Element) -> MappingNode:
        namespace, _, name = element.tag[1:].rpartition("}")
        fields: dict[str, Any] = {"attributes": ()}
        for key, text in element.items():
            if key.startswith(_INSTRUCTION):
                own = key.removeprefix(_INSTRUCTION).replace("-", "_")
                fields[own] = True if own.startswith("is_") else text
            else:
                fields["attributes"] += ((key, text),)
        tag, constant = f"{prefixes[namespace]}:{name}", (element.text or "").strip()
        return MappingNode(tag, children=read_all(element), constant=constant, **fields)

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


@dataclass(frozen=True, slots=True)
class InvalidTerm:
    """A value that its term does not accept: its path, and the reason."""

    path: str
    message: str
    rule: str = "syntax"
    severity: Severity = "warning"


# --- writing ----------------------------------------------------------------------------------------


def write_tree(node: MappingNode, record: Record) -> Element:
    """Return a record as the elements of a syntax."""
    elements = _write(node, (record,))
    return elements[0] if elements else Element(node.tag)


def _write(node: MappingNode, stack: Stack) -> list[Element]:
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


def _write_one(node: MappingNode, stack: Stack) -> Element | None:
    """Return one element, None if it contains nothing of the record."""
    if node.only_without and find_value(stack, node.only_without) is not None:
        return None
    if node.only_with and find_value(stack, node.only_with) is None:
        return None
    value = find_value(stack, node.value) if node.value else None
    text = node.constant or node.filler if value is None else _show(value, node)
    if node.value and not text and not node.is_always_written:
        return None
    element = Element(node.tag)
    element.text = text
    has_content = value is not None or node.is_always_written
    for child in node.children:
        for inner in _write(child, stack):
            element.append(inner)
            has_content = has_content or not child.is_constant
    if not has_content and not node.is_constant:
        return None
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


def read_tree(
    node: MappingNode, element: Element, prefixes: Mapping[str, str]
) -> tuple[Record, list[InvalidTerm]]:
    """Read the record of an invoice from its root element; return it with its invalid values."""
    reader = _RecordReader(prefixes)
    record: Record = {}
    if reader.matches(node, element, (record,)):
        reader.read_into(node, element, (record,), (INVOICE,))
    return record, reader.invalid


class _RecordReader:
    """Reads the record of one XML document."""

    def __init__(self, prefixes: Mapping[str, str]) -> None:
        self._prefixes = {namespace: prefix for prefix, namespace in prefixes.items()}
        self._known_tags: dict[str, str] = {}
        self.invalid: list[InvalidTerm] = []

    def matches(self, node: MappingNode, element: Element, stack: Stack) -> bool:
        """Return whether an element matches a node: its tag, and the constants in it."""
        if self._prefixed(element.tag) != node.tag:
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
            known = node.children_by_tag.get(self._prefixed(inner.tag), ())
            child = next((one for one in known if self.matches(one, inner, stack)), None)
            if child is None:
                continue
            if id(child) in found and not child.each and not child.is_read_only:
                path = _path_of(groups, child.value or child.inside)
                message = f"{child.tag} is stated more than once"
                # Of two amounts due none is the one; of groups, CIUS and extensions allow several.
                severity: Severity = "error" if child.value else "warning"
                self.invalid.append(InvalidTerm(path, message, "cardinality", severity))
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
            self.invalid.append(InvalidTerm(_path_of(groups, path), f"{term.number}: {error}"))
            return
        if value is None:
            return
        if node is not None and node.is_summed:
            record[steps[-1]] = record.get(steps[-1], 0) + value
        else:
            record.setdefault(steps[-1], value)

    def _prefixed(self, tag: str) -> str:
        """Return a tag `{namespace}name` as `prefix:name`, empty for an unknown namespace."""
        known = self._known_tags.get(tag)
        if known is None:
            namespace, _, name = tag[1:].rpartition("}")
            prefix = self._prefixes.get(namespace)
            known = self._known_tags[tag] = "" if prefix is None else f"{prefix}:{name}"
        return known


def _path_of(groups: tuple[BusinessGroup, ...], path: str) -> str:
    """Return the dotted path from the invoice of a path in the innermost group."""
    if path.startswith("/"):
        return path[1:]
    names = [one.name for one in groups[1:]]
    if path.startswith("../"):
        names, path = names[:-1], path[3:]
    return ".".join(name for name in (*names, path) if name)


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
