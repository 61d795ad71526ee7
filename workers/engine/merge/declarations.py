"""What a data section declares: fields, datasets, computed values, conditions and defaults."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, datetime, time
from decimal import Decimal
from enum import StrEnum
from re import Pattern
from typing import Any

from workers.engine.diagnostics import Place
from workers.engine.syntax.nodes import Element

# What data hold after merging and conversion. Numbers are always Decimal, never int or float.
Value = str | Decimal | bool | date | datetime | time | dict[str, Any] | list[Any] | None

DataPath = tuple[str, ...]


class FieldType(StrEnum):
    """The types of `field` (language.md 1.3)."""

    STRING = "string"
    INTEGER = "integer"
    DECIMAL = "decimal"
    BOOLEAN = "boolean"
    DATE = "date"
    DATETIME = "datetime"
    TIME = "time"
    IMAGE = "image"
    MARKDOWN = "markdown"
    JSON = "json"


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
