"""The declarations of a data section: fields, datasets, computed values, assertions and defaults."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time
from decimal import Decimal
from functools import partial
from re import Pattern
from typing import Any, Final

from workers.engine.diagnostics import Findings, Origin, SourceLocation
from workers.engine.merge.json_data import merge_patch, read_object
from workers.engine.merge.types import CONVERTERS, FieldType, compile_pattern
from workers.engine.syntax.checks import shorten_text
from workers.engine.syntax.encodings import FORBIDDEN_CODE
from workers.engine.syntax.nodes import Element, Text
from workers.engine.syntax.vocabulary import read_attribute

DataPath = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Field:
    """A declared value; `path` starts at the root of the data, in a dataset at the record."""

    path: DataPath
    type: FieldType
    location: SourceLocation
    label: str | None = None
    is_required: bool = False
    pattern: Pattern[str] | None = None
    values: tuple[str, ...] = ()
    minimum: Decimal | date | datetime | time | None = None
    maximum: Decimal | date | datetime | time | None = None
    max_length: int | None = None
    format: str | None = None  # CLDR pattern of dates in CSV


@dataclass(frozen=True, slots=True)
class Dataset:
    """A declared list of records. If `delimiter` is None, it is detected."""

    path: DataPath
    fields: tuple[Field, ...]
    location: SourceLocation
    label: str | None = None
    accepts_csv: bool = False
    has_header: bool = True
    delimiter: str | None = None
    decimal: str = "."
    is_required: bool = False
    min_rows: int = 0
    max_rows: int = 100_000


@dataclass(frozen=True, slots=True)
class Declarations:
    """The declarations of a data section: fields, datasets, and the elements `let` and `assert` in order.

    `defaults` are shared by all renders: do not modify them.

    `sample` is merged into the defaults where no real document is made. `patches` are the `json` of an
    XML payload, to be merged as JSON payloads are.
    """

    fields: tuple[Field, ...] = ()
    datasets: tuple[Dataset, ...] = ()
    lets: tuple[Element, ...] = ()
    assertions: tuple[Element, ...] = ()
    defaults: dict[str, object] = field(default_factory=dict)
    sample: dict[str, object] = field(default_factory=dict)
    patches: tuple[dict[str, object], ...] = ()
    refuses_misspelled: bool = False
    location: SourceLocation | None = None  # of the data element
    settings: dict[str, object] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class DeclaredShape:
    """The declared members of a value, or those of its records if it is a list of them.

    `path` leads to it from the root, or from a record of the dataset at `rows`.
    """

    path: DataPath = ()
    rows: DataPath | None = None
    members: dict[str, DeclaredShape] = field(default_factory=dict)
    is_declared: bool = False
    records: DeclaredShape | None = None


def declare_names(declarations: Declarations) -> dict[str, DeclaredShape]:
    """Return the names that fields and datasets declare."""
    top = DeclaredShape()
    for declared in declarations.fields:
        _declare(top, declared.path)
    for dataset in declarations.datasets:
        shape = _declare(top, dataset.path)
        shape.records = DeclaredShape(rows=dataset.path)
        shape.is_declared = bool(dataset.fields)
        for declared in dataset.fields:
            _declare(shape.records, declared.path)
    return top.members


def _declare(shape: DeclaredShape, path: DataPath) -> DeclaredShape:
    for step in path:
        shape.is_declared = True
        inner = shape.members.get(step)
        if inner is None:
            inner = shape.members[step] = DeclaredShape((*shape.path, step), shape.rows)
        shape = inner
    return shape


def read_declarations(data: Element | None, findings: Findings) -> Declarations:
    """Read a data section.

    Reports invalid JSON, constraints that do not apply to a type, and conflicting paths. Skips
    declarations that `check_document` has reported.
    """
    if data is None:
        return Declarations()
    fields = tuple(_read_fields(data, findings))
    datasets = tuple(_read_datasets(data, findings))
    _check_paths([*fields, *datasets], findings)
    _check_csv(datasets, findings)
    own = [each for each in data.elements("json") if each.location.origin is not Origin.PAYLOAD]
    sent = [each for each in data.elements("json") if each.location.origin is Origin.PAYLOAD]
    return Declarations(
        fields=fields,
        datasets=datasets,
        lets=tuple(
            let for let in data.elements("let") if {"name", "value"} <= let.attributes.keys()
        ),
        assertions=tuple(each for each in data.elements("assert") if "test" in each.attributes),
        defaults=_merge_objects(own, findings),
        sample=_merge_objects(data.elements("sample"), findings),
        patches=tuple(_read_objects(sent, findings)),
        refuses_misspelled=read_attribute(data, "unknown") == "error",
        location=data.location,
    )


# --- fields and datasets --------------------------------------------------------------------------------

_ORDERED: Final = frozenset(
    (FieldType.INTEGER, FieldType.DECIMAL, FieldType.DATE, FieldType.DATETIME, FieldType.TIME)
)
_TEXTUAL: Final = frozenset((FieldType.STRING, FieldType.IMAGE, FieldType.MARKDOWN))
_DATED: Final = frozenset((FieldType.DATE, FieldType.DATETIME, FieldType.TIME))
_LISTABLE: Final = frozenset((FieldType.STRING, FieldType.INTEGER, FieldType.DECIMAL))

# The types that an attribute applies to.
_APPLICABLE_TYPES: Final = {
    "min": _ORDERED,
    "max": _ORDERED,
    "pattern": _TEXTUAL,
    "maxlength": _TEXTUAL,
    "format": _DATED,
    "values": _LISTABLE,
}


def _read_fields(parent: Element, findings: Findings) -> Iterator[Field]:
    for element in parent.elements("field"):
        path = read_attribute(element, "name")
        if path is None:
            continue
        kind = FieldType(read_attribute(element, "type"))
        for name, types in _APPLICABLE_TYPES.items():
            if name in element.attributes and kind not in types:
                findings.error(
                    "rule-type",
                    f'`{name}` of `field` "{".".join(path)}" does not apply to the type {kind.value}; it '
                    f"applies to {', '.join(sorted(types))}",
                    element.location,
                )
        yield Field(
            path=path,
            type=kind,
            location=element.location,
            label=read_attribute(element, "label"),
            is_required=bool(read_attribute(element, "required")),
            pattern=read_attribute(element, "pattern"),
            values=read_attribute(element, "values") or (),
            minimum=_read_bound(element, "min", kind, findings),
            maximum=_read_bound(element, "max", kind, findings),
            max_length=read_attribute(element, "maxlength"),
            format=_read_format(element, kind, findings),
        )


def _read_datasets(data: Element, findings: Findings) -> Iterator[Dataset]:
    for element in data.elements("dataset"):
        path = read_attribute(element, "name")
        if path is None:
            continue
        fields = tuple(_read_fields(element, findings))
        _check_paths(fields, findings)
        delimiter = read_attribute(element, "delimiter")
        yield Dataset(
            path=path,
            fields=fields,
            location=element.location,
            label=read_attribute(element, "label"),
            accepts_csv=bool(read_attribute(element, "csv")),
            has_header=bool(read_attribute(element, "header")),
            delimiter="\t" if delimiter == "tab" else delimiter,
            decimal=read_attribute(element, "decimal"),
            is_required=bool(read_attribute(element, "required")),
            min_rows=read_attribute(element, "min-rows"),
            max_rows=read_attribute(element, "max-rows"),
        )


def _read_bound(element: Element, name: str, kind: FieldType, findings: Findings) -> Any:
    text = element.attributes.get(name)
    if text is None or kind not in _ORDERED:
        return None
    try:
        return CONVERTERS[kind](text)
    except ValueError as error:
        message = f'`{name}` of `field` is "{shorten_text(text)}", accepted is {error}'
        findings.error("wrong-value", message, element.location)
        return None


def _read_format(element: Element, kind: FieldType, findings: Findings) -> str | None:
    pattern = element.attributes.get("format")
    if pattern is None or kind not in _DATED:
        return None
    try:
        compile_pattern(pattern)
    except ValueError:
        findings.error(
            "wrong-value",
            f'`format` of `field` is "{shorten_text(pattern)}", accepted is a pattern of the fields yyyy yy '
            "MM M dd d HH H mm m ss s, each once, such as dd.MM.yyyy",
            element.location,
        )
        return None
    return pattern


def _check_paths(parts: Sequence[Field | Dataset], findings: Findings) -> None:
    """Report a declared value that has declared members."""
    paths = {part.path for part in parts}
    for part in parts:
        outer = next(
            (part.path[:n] for n in range(1, len(part.path)) if part.path[:n] in paths), None
        )
        if outer is not None:
            message = f'"{".".join(part.path)}" is a member of "{".".join(outer)}", which is declared as a single value'
            findings.error("crossing-paths", message, part.location)


def _check_csv(datasets: Sequence[Dataset], findings: Findings) -> None:
    csv_datasets = [dataset for dataset in datasets if dataset.accepts_csv]
    for dataset in csv_datasets[1:]:
        findings.error(
            "csv-dataset",
            f'`dataset` "{".".join(dataset.path)}" has csv="true", but so has '
            f'"{".".join(csv_datasets[0].path)}"; a CSV body becomes one dataset',
            dataset.location,
        )


# --- values ---------------------------------------------------------------------------------------------


def _merge_objects(elements: Iterable[Element], findings: Findings) -> dict[str, object]:
    """Merge the objects of some elements in order.

    The first is plain data, in which `null` is a value. Later ones, of templates that extend the first,
    are merge patches (RFC 7396), in which `null` removes a member.
    """
    merged: dict[str, object] | None = None
    for value in _read_objects(elements, findings):
        merged = value if merged is None else merge_patch(merged, value)
    return merged or {}


def _read_objects(elements: Iterable[Element], findings: Findings) -> Iterator[dict[str, object]]:
    for element in elements:
        values = "sample" if element.tag == "sample" else "default"
        value, wrong, dropped = read_object(element.text, partial(_position_in, element))
        for message in dropped:
            findings.warn(FORBIDDEN_CODE, message, element.location)
        if value is None:
            findings.error("json", f"The {values} values are {wrong}", element.location)
        else:
            yield value


def _position_in(element: Element, offset: int) -> tuple[int, int]:
    """Return the line and column in the file of a character in an element's text."""
    line, column = element.location.span.line_start, element.location.span.column_start
    for text in element.children:
        if not isinstance(text, Text):
            continue
        line, column = _advance(text.line, text.column, text.text[:offset])
        if offset < len(text.text):
            break
        offset -= len(text.text)
    return line, column


def _advance(line: int, column: int, text: str) -> tuple[int, int]:
    lines = text.count("\n")
    return line + lines, len(text) - text.rfind("\n") if lines else column + len(text)
