"""Declared types applied to data: text becomes dates and numbers, and what breaks a rule is told."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from itertools import islice
from typing import Any, Final

from workers.engine.diagnostics import Diagnostic, Findings, Place, Severity, counted
from workers.engine.merge.declarations import DataPath, Dataset, Declarations, Field
from workers.engine.merge.mistyped import ReadNames, warn_mistyped
from workers.engine.merge.types import Convert, FieldType, Value, converter, csv_reader, to_string
from workers.engine.syntax.nodes import Element
from workers.engine.syntax.suggestions import nearest

MAX_DATA_FINDINGS: Final = 20  # language.md 1.3, for CSV; the same bound serves JSON
MAX_SHOWN: Final = 20  # characters of a data value in a message, language.md 1.9
_TEXTUAL: Final = (FieldType.STRING, FieldType.MARKDOWN)
MAX_MATCHED: Final = 10_000  # characters a pattern is tried on; an author's pattern may backtrack


class DataReport:
    """The findings about one payload's data: twenty are listed, then they are counted."""

    def __init__(self, findings: Findings) -> None:
        self._findings = findings
        self.count = 0

    def error(self, code: str, message: str, place: Place | None) -> None:
        """Note that the data break a rule, at the declaration that set it."""
        self.count += 1
        if self.count <= MAX_DATA_FINDINGS:
            chain = () if place is None else (place,)
            self._findings.add(Diagnostic(Severity.ERROR, code, message, chain))

    def warn(self, code: str, message: str, place: Place) -> None:
        """Note what may be a mistake, but prevents nothing."""
        self._findings.warn(code, message, place)

    def close(self) -> None:
        """Tell how many findings were counted beyond those listed."""
        more = self.count - MAX_DATA_FINDINGS
        if more > 0:
            self._findings.error("more-findings", f"The data have {more} more findings like these")
            self.count = MAX_DATA_FINDINGS


# --- converters -----------------------------------------------------------------------------------------


def json_converter(field: Field) -> Convert:
    """Make the function that converts and checks a field's value from JSON.

    It raises ValueError with what is accepted. A value converted already is given back unchanged.
    """
    return _with_rules(field, converter(field.type))


def csv_converter(field: Field, *, decimal: str) -> Convert:
    """Make the function that converts and checks the text of a CSV cell that is not empty."""
    return _with_rules(field, csv_reader(field.type, decimal=decimal, pattern=field.format))


def _with_rules(field: Field, convert: Convert) -> Convert:
    """Follow a conversion by the rules the field declares, if it declares any."""
    if not (field.pattern or field.values or field.max_length or _has_bounds(field)):
        return convert

    def check(value: Any) -> Value:
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


class Converter:
    """Applies a data section's types to merged data. Made once per template; the defaults are
    converted then, and are not converted again where a payload leaves them alone.
    """

    def __init__(self, declarations: Declarations, root: Element | None = None) -> None:
        self._root = root
        self._read: ReadNames | None = None
        self._fields = tuple((field, json_converter(field)) for field in declarations.fields)
        self._datasets = tuple(
            (dataset, tuple((field, json_converter(field)) for field in dataset.fields))
            for dataset in declarations.datasets
        )
        self._converted: dict[DataPath, Any] = {}
        self._known = _known_members(declarations)
        self.defaults = self._convert_defaults(declarations.defaults)

    def apply(
        self, data: dict[str, Any], report: DataReport, *, done: DataPath | None = None
    ) -> dict[str, Any]:
        """Convert merged data. Gives new data in which every declared name is present; `data` stays
        as it is. The dataset at `done` is converted already.
        """
        result = dict(data)
        for field, convert in self._fields:
            _apply_field(result, field, convert, report)
        for dataset, plan in self._datasets:
            if dataset.path != done:
                self._apply_dataset(result, dataset, plan, report)
        return result

    def warn_unknown(self, payload: dict[str, Any], findings: Findings) -> None:
        """Warn of payload members that neither a declaration nor the defaults have.

        Where nothing is declared, any member may be one that the template has no use for: then only
        what looks mistyped is a warning.
        """
        if self._known is None:
            self._warn_mistyped(payload, findings)
            return
        unknown = _unknown_members(payload, self._known, "")
        for pointer, name, known in islice(unknown, MAX_DATA_FINDINGS):
            findings.warn(
                "unknown-member",
                f"{pointer} is not in the template's data section{nearest(name, known)}",
            )
        more = sum(1 for _ in unknown)
        if more:
            findings.warn(
                "more-findings", f"The payload has {counted(more, 'more member')} like these"
            )

    def _warn_mistyped(self, payload: dict[str, Any], findings: Findings) -> None:
        if self._root is None:
            return
        if self._read is None:
            self._read = ReadNames(self._root)
        warn_mistyped(payload, self.defaults, self._read, findings)

    def _convert_defaults(self, defaults: dict[str, Any]) -> dict[str, Any]:
        """Convert each default that breaks no rule; the others are told when they are used."""
        result = dict(defaults)
        for field, convert in self._fields:
            attempt, trial = DataReport(Findings()), dict(result)
            _apply_field(trial, field, convert, attempt)
            if not attempt.count:
                result = trial
                self._converted[field.path] = _find(result, field.path)
        for dataset, plan in self._datasets:
            attempt, trial = DataReport(Findings()), dict(result)
            self._apply_dataset(trial, dataset, plan, attempt)
            if not attempt.count:
                result = trial
                self._converted[dataset.path] = _find(result, dataset.path)
        return result

    def _apply_dataset(
        self, data: dict[str, Any], dataset: Dataset, plan: RowPlan, report: DataReport
    ) -> None:
        pointer = _pointer(dataset.path)
        try:
            rows = _find(data, dataset.path)
        except _NotAnObjectError as error:
            report.error("wrong-data", str(error), dataset.place)
            rows = None
        if rows is None:
            rows = []
            put_value(data, dataset.path, rows)
        if type(rows) is not list:
            report.error(
                "wrong-data",
                f"{pointer} is {described(rows)}, accepted is a list of records",
                dataset.place,
            )
            put_value(data, dataset.path, [])
            return
        check_row_count(dataset, len(rows), pointer, report)
        if plan and rows is not self._converted.get(dataset.path):
            put_value(data, dataset.path, _convert_rows(rows, dataset, plan, report))


RowPlan = tuple[tuple[Field, Convert], ...]


def _apply_field(data: dict[str, Any], field: Field, convert: Convert, report: DataReport) -> None:
    """Convert one value in place; `data` is the caller's own copy, what is below it is copied here."""
    try:
        value = _find(data, field.path)
    except _NotAnObjectError as error:
        report.error("wrong-data", str(error), field.place)
        value = None
    converted = _convert_value(value, field, convert, _pointer(field.path), report)
    if converted is not value or value is None:
        put_value(data, field.path, converted)


def _convert_value(
    value: Any, field: Field, convert: Convert, pointer: str, report: DataReport
) -> Value:
    """Convert one value; gives None after telling what is wrong with it."""
    if value is None or value == "":
        if field.is_required:
            report.error("required", is_missing(pointer, field), field.place)
        if value is None or field.type in _TEXTUAL:
            return None if value is None else ""
    try:
        return convert(value)
    except ValueError as error:
        report.error(
            "wrong-data", f"{pointer} is {described(value)}, accepted is {error}", field.place
        )
        return None


def _convert_rows(
    rows: list[Any], dataset: Dataset, plan: RowPlan, report: DataReport
) -> list[dict[str, Any]]:
    pointer = _pointer(dataset.path)
    flat = tuple(
        (field.path[0], convert, field.is_required)
        for field, convert in plan
        if len(field.path) == 1
    )
    return [
        (_find_converted(row, flat) if len(flat) == len(plan) else None)
        or _convert_row(row, dataset, plan, f"{pointer}/{i}", report)
        for i, row in enumerate(rows)
    ]


def _find_converted(
    row: Any, columns: tuple[tuple[str, Convert, bool], ...]
) -> dict[str, Any] | None:
    """Convert a record that is all right; gives None for one with anything to tell."""
    if type(row) is not dict:
        return None
    result = row.copy()
    for name, convert, is_required in columns:
        value = row.get(name)
        if value is None and not is_required:
            result[name] = None
        elif value is None or value == "":
            return None
        else:
            try:
                result[name] = convert(value)
            except ValueError:
                return None
    return result


def _convert_row(
    row: Any, dataset: Dataset, plan: RowPlan, pointer: str, report: DataReport
) -> dict[str, Any]:
    result: dict[str, Any] = {}
    if type(row) is dict:
        result = row.copy()
    else:
        report.error(
            "wrong-data", f"{pointer} is {described(row)}, accepted is an object", dataset.place
        )
        return {field.path[0]: None for field, _ in plan}
    for field, convert in plan:
        try:
            value = _find(row, field.path)
        except _NotAnObjectError as error:
            report.error("wrong-data", pointer + str(error), field.place)
            value = None
        converted = _convert_value(value, field, convert, pointer + _pointer(field.path), report)
        put_value(result, field.path, converted)
    return result


def check_row_count(dataset: Dataset, rows: int, where: str, report: DataReport) -> None:
    """Tell when a list of records is empty though required, too short or too long."""
    if not rows and dataset.is_required:
        report.error("required", f"{where} has no records, but is required", dataset.place)
    elif rows < dataset.min_rows:
        report.error(
            "row-count",
            f"{where} has {counted(rows, 'record')}, accepted are {dataset.min_rows} or more",
            dataset.place,
        )
    if rows > dataset.max_rows:
        report.error(
            "row-count",
            f"{where} has {counted(rows, 'record')}, accepted are at most {dataset.max_rows}",
            dataset.place,
        )


def is_missing(where: str, field: Field) -> str:
    """Say that a required value is empty."""
    label = f" ({field.label})" if field.label else ""
    return f"{where}{label} is empty, but is required"


def described(value: Any) -> str:
    """Give a value of the data as messages show it, cut to 20 characters."""
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
    """A path leads through a value that has no members; the message says which."""


def _find(data: Mapping[str, Any], path: DataPath) -> Any:
    """Give the value at a path, None when it or an object on the way is absent."""
    value: Any = data
    for depth, step in enumerate(path):
        if value is None:
            return None
        if type(value) is not dict:
            raise _NotAnObjectError(
                f"{_pointer(path[:depth])} is {described(value)}, accepted is an object with the "
                f'member "{step}"'
            )
        value = value.get(step)
    return value


def put_value(data: dict[str, Any], path: DataPath, value: Any) -> None:
    """Set the value at a path; objects on the way are copied or made, never changed."""
    for step in path[:-1]:
        inner = data.get(step)
        data[step] = dict(inner) if type(inner) is dict else {}
        data = data[step]
    data[path[-1]] = value


def _pointer(path: DataPath) -> str:
    """Write a path as a JSON pointer (RFC 6901)."""
    return "".join(f"/{_escaped(step)}" for step in path)


def _escaped(step: str) -> str:
    return step.replace("~", "~0").replace("/", "~1")[:100]


# --- members nobody declared ----------------------------------------------------------------------------

# The members an object may have; None where any will do, and for a list the members of its records.
_Known = dict[str, "_Known | None"]


def _known_members(declarations: Declarations) -> _Known | None:
    """Give what a payload may hold; None when nothing is declared, so anything will do."""
    if not (declarations.fields or declarations.datasets):
        return None
    known = _members_of(declarations.defaults)
    for field in declarations.fields:
        _declare(known, field.path, None)
    for dataset in declarations.datasets:
        members: _Known = {}
        for field in dataset.fields:
            _declare(members, field.path, None)
        _declare(known, dataset.path, members or None)
    return known


def _members_of(value: dict[str, Any]) -> _Known:
    return {
        name: _members_of(part) if type(part) is dict and part else None
        for name, part in value.items()
    }


def _declare(known: _Known, path: DataPath, members: _Known | None) -> None:
    for step in path[:-1]:
        inner = known.get(step)
        if inner is None:
            inner = known[step] = {}
        known = inner
    if members is not None or path[-1] not in known:
        known[path[-1]] = members


def _unknown_members(
    payload: dict[str, Any], known: _Known, pointer: str
) -> Iterator[tuple[str, str, _Known]]:
    """Walk the members that are not known, of each list of records every name once."""
    for name, value in payload.items():
        here = f"{pointer}/{_escaped(name)}"
        if name not in known:
            yield here, name, known
            continue
        members = known[name]
        if members is None:
            continue
        if type(value) is dict:
            yield from _unknown_members(value, members, here)
        elif type(value) is list:
            yield from _unknown_in_rows(value, members, here)


def _unknown_in_rows(
    rows: list[Any], known: _Known, pointer: str
) -> Iterator[tuple[str, str, _Known]]:
    names = known.keys()
    told: set[str] = set()
    for i, row in enumerate(rows):
        if type(row) is not dict or row.keys() <= names:
            continue
        for name in sorted(row.keys() - names - told):
            told.add(name)
            yield f"{pointer}/{i}/{_escaped(name)}", name, known
