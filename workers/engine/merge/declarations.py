"""What a data section declares: fields, datasets, computed values, conditions and defaults."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time
from decimal import Decimal
from re import Pattern
from typing import Any, Final

from workers.engine.diagnostics import Findings, Origin, Place
from workers.engine.merge.dates import compile_pattern
from workers.engine.merge.json_data import JsonError, merge_patch, read_json
from workers.engine.merge.types import FieldType, read_typed
from workers.engine.syntax.checks import shown
from workers.engine.syntax.nodes import Element, Text
from workers.engine.syntax.vocabulary import ELEMENTS

DataPath = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Field:
    """One declared value; `path` is from the top of the data, in a dataset from its record."""

    path: DataPath
    type: FieldType
    place: Place
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
    """A declared list of records. A `delimiter` of None is detected."""

    path: DataPath
    fields: tuple[Field, ...]
    place: Place
    label: str | None = None
    takes_csv: bool = False
    has_header: bool = True
    delimiter: str | None = None
    decimal: str = "."
    is_required: bool = False
    min_rows: int = 0
    max_rows: int = 100_000


@dataclass(frozen=True, slots=True)
class Let:
    """A computed value: `expression` as written, evaluated in the order of declaration."""

    name: str
    expression: str
    element: Element


@dataclass(frozen=True, slots=True)
class Assertion:
    """A condition of the data section; `element` carries message and common attributes."""

    test: str
    message: str | None
    is_warning: bool
    element: Element


@dataclass(frozen=True, slots=True)
class Declarations:
    """A whole data section, read once. `defaults` are shared by all renders: never change them."""

    fields: tuple[Field, ...] = ()
    datasets: tuple[Dataset, ...] = ()
    lets: tuple[Let, ...] = ()
    assertions: tuple[Assertion, ...] = ()
    defaults: dict[str, Any] = field(default_factory=dict)
    place: Place | None = None  # of the data element


def read_declarations(data: Element | None, findings: Findings) -> Declarations:
    """Read a data section. Adds what the vocabulary alone cannot tell: wrong JSON, rules that do not
    suit a type, paths that cross. What `check_document` tells already is passed over in silence.
    """
    if data is None:
        return Declarations()
    fields = tuple(_read_fields(data, findings))
    datasets = tuple(_read_datasets(data, findings))
    _check_paths([*fields, *datasets], findings)
    _check_csv(datasets, findings)
    return Declarations(
        fields=fields,
        datasets=datasets,
        lets=tuple(
            Let(let.attributes["name"], let.attributes["value"], let)
            for let in data.elements("let")
            if {"name", "value"} <= let.attributes.keys()
        ),
        assertions=tuple(
            Assertion(
                element.attributes["test"],
                element.attributes.get("message"),
                element.attributes.get("severity") == "warning",
                element,
            )
            for element in data.elements("assert")
            if "test" in element.attributes
        ),
        defaults=_read_defaults(data, findings),
        place=data.place,
    )


# --- fields and datasets --------------------------------------------------------------------------------

_ORDERED: Final = frozenset(
    (FieldType.INTEGER, FieldType.DECIMAL, FieldType.DATE, FieldType.DATETIME, FieldType.TIME)
)
_TEXTUAL: Final = frozenset((FieldType.STRING, FieldType.IMAGE, FieldType.MARKDOWN))
_DATED: Final = frozenset((FieldType.DATE, FieldType.DATETIME, FieldType.TIME))
_LISTABLE: Final = frozenset((FieldType.STRING, FieldType.INTEGER, FieldType.DECIMAL))

# The attributes that only some types have a use for.
_SUITS: Final = {
    "min": _ORDERED,
    "max": _ORDERED,
    "pattern": _TEXTUAL,
    "maxlength": _TEXTUAL,
    "format": _DATED,
    "values": _LISTABLE,
}


def _read_fields(parent: Element, findings: Findings) -> Iterator[Field]:
    for element in parent.elements("field"):
        path = _value(element, "name")
        if path is None:
            continue
        kind = FieldType(_value(element, "type"))
        for name, types in _SUITS.items():
            if name in element.attributes and kind not in types:
                findings.error(
                    "rule-type",
                    f'`{name}` of `field` "{".".join(path)}" has no use for the type {kind.value}; it '
                    f"suits {', '.join(sorted(types))}",
                    element.place,
                )
        yield Field(
            path=path,
            type=kind,
            place=element.place,
            label=_value(element, "label"),
            is_required=bool(_value(element, "required")),
            pattern=_value(element, "pattern"),
            values=_value(element, "values") or (),
            minimum=_read_bound(element, "min", kind, findings),
            maximum=_read_bound(element, "max", kind, findings),
            max_length=_value(element, "maxlength"),
            format=_read_format(element, kind, findings),
        )


def _read_datasets(data: Element, findings: Findings) -> Iterator[Dataset]:
    for element in data.elements("dataset"):
        path = _value(element, "name")
        if path is None:
            continue
        fields = tuple(_read_fields(element, findings))
        _check_paths(fields, findings)
        delimiter = _value(element, "delimiter")
        yield Dataset(
            path=path,
            fields=fields,
            place=element.place,
            label=_value(element, "label"),
            takes_csv=bool(_value(element, "csv")),
            has_header=bool(_value(element, "header")),
            delimiter="\t" if delimiter == "tab" else delimiter,
            decimal=_value(element, "decimal"),
            is_required=bool(_value(element, "required")),
            min_rows=_value(element, "min-rows"),
            max_rows=_value(element, "max-rows"),
        )


def _value(element: Element, name: str) -> Any:
    """Give an attribute's value, its default when it is absent or wrong."""
    spec = ELEMENTS[element.tag].attributes[name]
    text = element.attributes.get(name)
    if text is not None and "{{" not in text:
        try:
            return spec.kind.parse(text)
        except ValueError:
            pass
    return None if spec.default is None else spec.kind.parse(spec.default)


def _read_bound(element: Element, name: str, kind: FieldType, findings: Findings) -> Any:
    text = element.attributes.get(name)
    if text is None or kind not in _ORDERED:
        return None
    try:
        return read_typed(kind, text)
    except ValueError as error:
        findings.error(
            "wrong-value",
            f'`{name}` of `field` is "{shown(text)}", accepted is {error}',
            element.place,
        )
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
            f'`format` of `field` is "{shown(pattern)}", accepted is a pattern of the fields yyyy yy '
            "MM M dd d HH H mm m ss s, each once, such as dd.MM.yyyy",
            element.place,
        )
        return None
    return pattern


def _check_paths(parts: Sequence[Field | Dataset], findings: Findings) -> None:
    """Refuse a value that is declared to have members beside its own type."""
    paths = {part.path for part in parts}
    for part in parts:
        outer = next(
            (part.path[:n] for n in range(1, len(part.path)) if part.path[:n] in paths), None
        )
        if outer is not None:
            findings.error(
                "crossing-paths",
                f'"{".".join(part.path)}" lies inside "{".".join(outer)}", which is declared as a '
                "value of its own",
                part.place,
            )


def _check_csv(datasets: Sequence[Dataset], findings: Findings) -> None:
    takers = [dataset for dataset in datasets if dataset.takes_csv]
    for dataset in takers[1:]:
        findings.error(
            "csv-dataset",
            f'`dataset` "{".".join(dataset.path)}" has csv="true", but so has '
            f'"{".".join(takers[0].path)}"; a CSV body becomes one dataset',
            dataset.place,
        )


# --- defaults -------------------------------------------------------------------------------------------


def _read_defaults(data: Element, findings: Findings) -> dict[str, Any]:
    """Read the `json` elements; a payload's is merged into its template's.

    The first of a template's own is the data themselves: a `null` in it is a value. Those that
    follow, and all of a payload laid over a template, are patches, in which it removes a member.
    """
    defaults: dict[str, Any] | None = None
    for element in data.elements("json"):
        value = _read_default(element, findings)
        if value is None:
            continue
        if defaults is None and element.place.origin is not Origin.PAYLOAD:
            defaults = value
        else:
            defaults = merge_patch(defaults, value)
    return defaults or {}


def _read_default(element: Element, findings: Findings) -> dict[str, Any] | None:
    try:
        value = read_json(element.text)
    except JsonError as error:
        where = ""
        if error.offset is not None:
            line, column = _position_in(element, error.offset)
            where = f" at line {line}, column {column}"
        findings.error("json", f"The default values are not JSON{where}: {error}", element.place)
        return None
    if not isinstance(value, dict):
        findings.error(
            "json",
            'The default values are no JSON object; accepted is { "name": … }',
            element.place,
        )
        return None
    return value


def _position_in(element: Element, offset: int) -> tuple[int, int]:
    """Give the line and column in the whole file of a character of an element's text."""
    line, column = element.place.span.line_start, element.place.span.column_start
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
