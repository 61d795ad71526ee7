"""Conversion and validation of data by the declared types and constraints of fields.

A template without declarations has its payload searched for members that are probably misspelled.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from itertools import chain, islice
from typing import Any, Final

from workers.engine.diagnostics import Diagnostic, Findings, Severity, SourceLocation, format_count
from workers.engine.merge.declarations import (
    DataPath,
    Dataset,
    Declarations,
    DeclaredShape,
    Field,
    declare_names,
)
from workers.engine.merge.json_data import merge_patch
from workers.engine.merge.types import (
    CONVERTERS,
    Convert,
    FieldType,
    Value,
    make_csv_reader,
    to_string,
)
from workers.engine.syntax.nodes import JSON_TAGS, Element, Text
from workers.engine.syntax.suggestions import find_nearest, suggest_name
from workers.engine.syntax.vocabulary import ELEMENTS

_MAX_LOOKED_AT: Final = 50  # unreferenced members of one payload
_MAX_CANDIDATES: Final = 500  # names that one member is compared with
_MAX_ROWS: Final = 100  # default records whose members count as known

_EXPRESSION: Final = re.compile(r"\{\{(.*?)(?:\}\}|\Z)", re.DOTALL)  # the last may not be closed
_WORD: Final = re.compile(r"[^\W\d]\w*")
_LABEL_END: Final = re.compile(r" *[,;:(]")  # of its first words
# A variable name: not a member, a filter or a function.
_NAME: Final = re.compile(r"(?<![.|\w])(?<!\| )[^\W\d]\w*(?!\w|\s*\()")


def _walk_expressions(root: Element) -> Iterator[str]:
    for element in root.walk():
        if element.is_literal or element.tag not in ELEMENTS:
            continue
        specs = ELEMENTS[element.tag].attributes
        for name, text in element.attributes.items():
            if name in specs and specs[name].is_expression:
                yield text
            elif "{{" in text:
                yield from _EXPRESSION.findall(text)
        for child in element.children:
            if isinstance(child, Text) and "{{" in child.text and element.tag not in JSON_TAGS:
                yield from _EXPRESSION.findall(child.text)


def escape_step(name: str) -> str:
    """Return a member's name as a step of a JSON pointer (RFC 6901), shortened."""
    return name.replace("~", "~0").replace("/", "~1")[:100]


MAX_DATA_FINDINGS: Final = 20
MAX_SHOWN: Final = 20  # characters of a data value in a message
_TEXT_TYPES: Final = (FieldType.STRING, FieldType.MARKDOWN)
# Characters a pattern is matched against: an author's pattern may backtrack.
MAX_MATCHED: Final = 10_000


@dataclass(slots=True)
class DataReport:
    """Collects the errors of one payload's data: the first twenty in full, the others by number.

    Declared values that are missing are all listed: the template bounds them, not the payload. With
    `refuses_misspelled`, an unknown name that looks like a known one is an error, not a warning; its
    place is that of the data section, `location`.
    """

    _findings: Findings
    refuses_misspelled: bool = False
    location: SourceLocation | None = None
    count: int = 0
    _bounded: int = 0  # errors that a payload can make any number of

    def error(self, code: str, message: str, location: SourceLocation | None) -> None:
        """Report invalid data, at the declaration that they violate."""
        self.count += 1
        self._bounded += 1
        if self._bounded <= MAX_DATA_FINDINGS:
            chain = () if location is None else (location,)
            self._findings.add(Diagnostic(Severity.ERROR, code, message, chain))

    def report_missing(self, message: str, location: SourceLocation) -> None:
        """Report that the data lack a required value of their root."""
        self.count += 1
        self._findings.error("required", message, location)

    def report_unknown(
        self, code: str, message: str, suggestion: str, location: SourceLocation | None = None
    ) -> None:
        """Report an unknown name, with a suggestion if it looks like a known one, else ''."""
        text = message + suggestion
        if suggestion and self.refuses_misspelled:
            self.error(code, text, location or self.location)
        else:
            self._findings.warn(code, text, location)

    def warn(self, code: str, message: str, location: SourceLocation | None) -> None:
        """Report a warning."""
        self._findings.warn(code, message, location)

    def report_remaining(self) -> None:
        """Report the number of errors beyond those listed."""
        more = self._bounded - MAX_DATA_FINDINGS
        if more > 0:
            self._findings.error("more-findings", f"The data have {more} more findings like these")
            self._bounded = MAX_DATA_FINDINGS


# --- converters -----------------------------------------------------------------------------------------


def make_json_converter(field: Field) -> Convert:
    """Return a converter of a field's JSON values.

    The converter raises ValueError, whose message is the accepted values. It returns values that are
    converted already unchanged.
    """
    return _with_rules(field, CONVERTERS[field.type])


def make_csv_converter(field: Field, *, decimal: str) -> Convert:
    """Return a converter of non-empty CSV cells; it raises ValueError like that for JSON."""
    return _with_rules(field, make_csv_reader(field.type, decimal=decimal, pattern=field.format))


def _with_rules(field: Field, convert: Convert) -> Convert:
    """Return a converter that also checks the constraints of a field, if it has any."""
    if not (field.pattern or field.values or field.max_length or _has_bounds(field)):
        return convert

    def check(value: object) -> Value:
        result = convert(value)
        if field.pattern is not None or field.max_length is not None:
            _check_text(field, str(result))
        if field.values and to_string(result) not in field.values:
            raise ValueError(", ".join(field.values))
        if _has_bounds(field):
            _check_bounds(field, result)
        return result

    return check


def _has_bounds(field: Field) -> bool:
    return field.minimum is not None or field.maximum is not None


def _check_text(field: Field, text: str) -> None:
    if field.max_length is not None and len(text) > field.max_length:
        raise ValueError(f"text of at most {field.max_length} characters, this has {len(text)}")
    if field.pattern is not None and (
        len(text) > MAX_MATCHED or field.pattern.fullmatch(text) is None
    ):
        raise ValueError(f"text that matches {field.pattern.pattern}")


def _check_bounds(field: Field, value: Any) -> None:
    if field.minimum is not None and value < field.minimum:
        raise ValueError(f"{field.minimum} or more")
    if field.maximum is not None and value > field.maximum:
        raise ValueError(f"{field.maximum} or less")


# --- whole data -----------------------------------------------------------------------------------------


class DataConverter:
    """Converts merged data by the declarations of one template."""

    def __init__(self, declarations: Declarations, root: Element | None = None) -> None:
        self._root = root
        self._fields = tuple((field, make_json_converter(field)) for field in declarations.fields)
        self._datasets = tuple(
            (dataset, tuple((field, make_json_converter(field)) for field in dataset.fields))
            for dataset in declarations.datasets
        )
        self._known = _known_members(declarations)
        self._defaults = declarations.defaults
        self._sample = declarations.sample

    @cached_property
    def _referenced(self) -> tuple[frozenset[str], frozenset[str]]:
        """All words in the expressions of the template, and those that may be variables."""
        expressions = "" if self._root is None else ";".join(_walk_expressions(self._root))
        return frozenset(_WORD.findall(expressions)), frozenset(_NAME.findall(expressions))

    @cached_property
    def _given(self) -> dict[str, DeclaredShape]:
        """The members of default and sample values."""
        members: dict[str, DeclaredShape] = {}
        _add_values(members, merge_patch(self._defaults, self._sample), with_rows=True)
        return members

    def get_values(self, *, with_sample: bool) -> dict[str, object]:
        """Return the values below a payload: the defaults, or those and the sample merged into them."""
        return merge_patch(self._defaults, self._sample) if with_sample else self._defaults

    def apply(
        self, data: dict[str, object], report: DataReport, *, done: DataPath | None = None
    ) -> dict[str, object]:
        """Return converted data in which every declared name is present; `data` is not modified.

        The dataset at `done` is converted already.
        """
        result = dict(data)
        for field, convert in self._fields:
            _apply_field(result, field, convert, report)
        for dataset, plan in self._datasets:
            if dataset.path != done:
                self._apply_dataset(result, dataset, plan, report)
        return result

    def check_unknown(
        self, payload: dict[str, object], report: DataReport, findings: Findings
    ) -> None:
        """Report payload members that are in neither declarations, defaults nor sample.

        Without declarations, only members that look misspelled are reported.
        """
        if self._known is None:
            self._check_misspelled(payload, report)
            return
        unknown = _unknown_members(payload, self._known, "")
        for pointer, name, known, record in islice(unknown, MAX_DATA_FINDINGS):
            report.report_unknown(
                "unknown-member",
                f"{pointer} is not in the template's data section",
                suggest_name(name, known)
                or self._suggest_labelled(name, known.keys() - record.keys())
                or self._suggest_record(name, known),
            )
        more = sum(1 for _ in unknown)
        if more:
            findings.warn(
                "more-findings", f"The payload has {format_count(more, 'more member')} like these"
            )

    def _suggest_labelled(self, name: str, absent: AbstractSet[str]) -> str:
        """Return the absent member whose label a member has as its name, as `quantity` for `qty`."""
        labels: dict[str, str] = {}
        for field, _ in chain(self._fields, *(plan for _, plan in self._datasets)):
            label = _LABEL_END.split(field.label or "")[0].strip()
            if label and field.path[-1] in absent:
                is_number = field.type is FieldType.DECIMAL  # `tax` is enough for a tax rate
                labels |= dict.fromkeys(
                    (label, label.split()[0] if is_number else label), field.path[-1]
                )
        near = find_nearest(name, labels)
        return f'; did you mean "{labels[near]}"?' if near else ""

    def _suggest_record(self, name: str, known: Mapping[str, DeclaredShape]) -> str:
        """Return the list whose records have a member that the payload has at the root."""
        if known is not self._known:
            return ""
        for dataset, plan in self._datasets:
            if any(field.path == (name,) for field, _ in plan):
                return f"; it is a member of the records of {_pointer(dataset.path)}"
        return ""

    def _check_misspelled(self, payload: dict[str, object], report: DataReport) -> None:
        """Report each unreferenced member that looks like a missing one."""
        if self._root is None:
            return
        words, names = self._referenced
        members = self._given
        unread = _unknown_members(payload, members, "", words)
        for pointer, name, known, record in islice(unread, _MAX_LOOKED_AT):
            candidates = (known.keys() | (names if known is members else ())) - record.keys()
            near = suggest_name(name, candidates) if len(candidates) <= _MAX_CANDIDATES else ""
            if near:
                message = f"{pointer} is not used in the template"
                report.report_unknown("unknown-member", message, near)

    def _apply_dataset(
        self, data: dict[str, object], dataset: Dataset, plan: FieldConverters, report: DataReport
    ) -> None:
        pointer = _pointer(dataset.path)
        rows = _find_reported(data, dataset, report)
        if rows is None:
            rows = []
            set_value(data, dataset.path, rows)
        if type(rows) is not list:
            message = f"{pointer} is {describe_value(rows)}, accepted is a list of records"
            report.error("wrong-data", message, dataset.location)
            set_value(data, dataset.path, [])
            return
        check_row_count(dataset, len(rows), pointer, report)
        if plan:
            set_value(data, dataset.path, _convert_rows(rows, dataset, plan, report))


FieldConverters = tuple[tuple[Field, Convert], ...]


def _apply_field(
    data: dict[str, object], field: Field, convert: Convert, report: DataReport
) -> None:
    """Convert one value in place; nested objects of `data` are copied before they change."""
    value = _find_reported(data, field, report)
    pointer = _pointer(field.path)
    if field.is_required and (value is None or value == ""):
        report.report_missing(describe_missing(pointer, field), field.location)
        converted: Value = None
    else:
        converted = _convert_value(value, field, convert, pointer, report)
    if converted is not value or value is None:
        set_value(data, field.path, converted)


def _convert_value(
    value: object, field: Field, convert: Convert, pointer: str, report: DataReport
) -> Value:
    """Return a converted value; report an invalid one and return None."""
    if value is None or value == "":
        if field.is_required:
            report.error("required", describe_missing(pointer, field), field.location)
        if value is None or field.type in _TEXT_TYPES:
            return None if value is None else ""
    try:
        return convert(value)
    except ValueError as error:
        message = f"{pointer} is {describe_value(value)}, accepted is {error}"
        report.error("wrong-data", message, field.location)
        return None


def _convert_rows(
    rows: list[object], dataset: Dataset, plan: FieldConverters, report: DataReport
) -> list[dict[str, object]]:
    pointer = _pointer(dataset.path)
    flat = tuple((f.path[0], convert, f.is_required) for f, convert in plan if len(f.path) == 1)
    return [
        (_convert_clean_row(row, flat) if len(flat) == len(plan) else None)
        or _convert_row(row, dataset, plan, f"{pointer}/{i}", report)
        for i, row in enumerate(rows)
    ]


def _convert_clean_row(
    row: object, columns: tuple[tuple[str, Convert, bool], ...]
) -> dict[str, object] | None:
    """Return a converted record, None if any of its values is invalid."""
    if type(row) is not dict:
        return None
    result = row.copy()
    find = row.get
    try:
        for name, convert, is_required in columns:
            value = find(name)
            if value is None:
                if is_required:
                    return None
                result[name] = None
            # A Decimal takes a while to find out that it differs from a text.
            elif type(value) is str and not value:
                return None
            else:
                result[name] = convert(value)
    except ValueError:
        return None
    return result


def _convert_row(
    row: object, dataset: Dataset, plan: FieldConverters, pointer: str, report: DataReport
) -> dict[str, object]:
    if type(row) is not dict:
        message = f"{pointer} is {describe_value(row)}, accepted is an object"
        report.error("wrong-data", message, dataset.location)
        return {field.path[0]: None for field, _ in plan}
    result = row.copy()
    for field, convert in plan:
        value = _find_reported(row, field, report, pointer)
        converted = _convert_value(value, field, convert, pointer + _pointer(field.path), report)
        set_value(result, field.path, converted)
    return result


def check_row_count(dataset: Dataset, rows: int, where: str, report: DataReport) -> None:
    """Report a list of records that is required but empty, too short or too long."""
    accepted = ""
    if not rows and dataset.is_required:
        report.report_missing(f"{where} has no records, but is required", dataset.location)
    elif rows < dataset.min_rows:
        accepted = f"{dataset.min_rows} or more"
    if rows > dataset.max_rows:
        accepted = f"at most {dataset.max_rows}"
    if accepted:
        message = f"{where} has {format_count(rows, 'record')}, accepted are {accepted}"
        report.error("row-count", message, dataset.location)


def describe_missing(where: str, field: Field) -> str:
    """Return the message for a required value that is empty."""
    label = f" ({field.label})" if field.label else ""
    return f"{where}{label} is empty, but is required"


def describe_value(value: object) -> str:
    """Return a data value as messages show it, truncated to 20 characters."""
    match value:
        case dict():
            return "an object"
        case list():
            return "a list"
        case None:
            return "empty"
        case bool():
            return "true" if value else "false"
        case str():
            line = " ".join(value.split())
            return f'"{line if len(line) <= MAX_SHOWN else line[: MAX_SHOWN - 1] + "…"}"'
        case Decimal():
            digits = f"{value:f}"
            return digits if len(digits) <= MAX_SHOWN else digits[: MAX_SHOWN - 1] + "…"
        case _:
            return str(value)


# --- paths ----------------------------------------------------------------------------------------------


class _NotAnObjectError(Exception):
    """A path leads through a value that is not an object; the message names it."""


def _find(data: Mapping[str, object], path: DataPath) -> object:
    """Return the value at a path, None if it or one of its parents is absent."""
    value: object = data
    for depth, step in enumerate(path):
        if value is None:
            return None
        if type(value) is not dict:
            raise _NotAnObjectError(
                f"{_pointer(path[:depth])} is {describe_value(value)}, accepted is an object with the "
                f'member "{step}"'
            )
        value = value.get(step)
    return value


def _find_reported(
    data: Mapping[str, object], declared: Field | Dataset, report: DataReport, pointer: str = ""
) -> object:
    """Return what is declared of data at a pointer, None if its path is blocked, which is reported."""
    try:
        return _find(data, declared.path)
    except _NotAnObjectError as error:
        report.error("wrong-data", pointer + str(error), declared.location)
        return None


def set_value(data: dict[str, Any], path: DataPath, value: object) -> None:
    """Set the value at a path; its parents are copied or created, never modified."""
    for step in path[:-1]:
        inner = data.get(step)
        data[step] = dict(inner) if type(inner) is dict else {}
        data = data[step]
    data[path[-1]] = value


def _pointer(path: DataPath) -> str:
    """Return a path as a JSON pointer (RFC 6901)."""
    return "".join(f"/{escape_step(step)}" for step in path)


# --- undeclared members ---------------------------------------------------------------------------------


def _known_members(declarations: Declarations) -> dict[str, DeclaredShape] | None:
    """Return the members that a payload may have, None without declarations."""
    if not (declarations.fields or declarations.datasets):
        return None
    known = declare_names(declarations)
    _add_values(known, merge_patch(declarations.defaults, declarations.sample))
    return known


def _add_values(
    known: dict[str, DeclaredShape], values: Mapping[str, object], *, with_rows: bool = False
) -> None:
    """Add the members of plain data, and of the records of its lists if asked for."""
    for name, value in values.items():
        inner = known.setdefault(name, DeclaredShape()).members
        if type(value) is dict:
            _add_values(inner, value, with_rows=with_rows)
        elif with_rows and type(value) is list:
            for row in value[:_MAX_ROWS]:
                _add_values(inner, dict.fromkeys(row if type(row) is dict else ()))


def _unknown_members(
    payload: dict[str, object],
    known: Mapping[str, DeclaredShape],
    pointer: str,
    words: AbstractSet[str] = frozenset(),
) -> Iterator[tuple[str, str, Mapping[str, DeclaredShape], dict[str, object]]]:
    """Yield pointer, name, known siblings and object of each member that is neither known nor a word.

    In a list each name is yielded once.
    """
    for name, value in payload.items():
        here = f"{pointer}/{escape_step(name)}"
        if name not in known:
            if name not in words:
                yield here, name, known, payload
            continue
        members = (known[name].records or known[name]).members
        if not members:  # any are accepted
            continue
        if type(value) is dict:
            yield from _unknown_members(value, members, here, words)
        elif type(value) is list:
            unknown = _find_unknown_in_rows(value, members.keys() | words, here)
            yield from ((at, member, members, record) for at, member, record in unknown)


def _find_unknown_in_rows(
    rows: list[object], known: AbstractSet[str], pointer: str
) -> Iterator[tuple[str, str, dict[str, object]]]:
    """Yield pointer, name and record of members that are not known, each name once."""
    reported: set[str] = set()
    for at, row in enumerate(rows):
        if type(row) is not dict or row.keys() <= known:
            continue
        for name in sorted(row.keys() - known - reported):
            reported.add(name)
            yield f"{pointer}/{at}/{escape_step(name)}", name, row
