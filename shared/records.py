"""Records that travel between processes as JSON, each declared once as a struct (decision 0380)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from functools import lru_cache
from threading import Lock
from typing import Annotated, Any, Final, Self

import msgspec
from msgspec import inspect

from shared import json_text
from shared.clock import timestamp

# Of the description of a SHA-256.
SHA256: Final[dict[str, Any]] = {"pattern": "^[0-9a-f]{64}$", "examples": ["0123456789abcdef" * 4]}
Timestamp = Annotated[datetime, msgspec.Meta(tz=True)]
TIMESTAMP_PATTERN: Final = (
    r"^[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9]{2}:[0-9]{2}(:[0-9]{2}([.,][0-9]{1,9})?)?"
    r"(Z|[+-][0-9]{2}(:?[0-9]{2})?)?)?$"
)
Name = Annotated[
    str, msgspec.Meta(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f\x7f-\x9f]*$")
]
# Beyond 64 bits, and lone surrogates.
_WITHOUT_JSON: Final = (UnicodeEncodeError, OverflowError)
_known: Final[set[type]] = set()
_learning: Final = Lock()


class Record(msgspec.Struct, frozen=True):
    """A record that is sent or stored as JSON; fields with a default may be missing."""

    def encode(self) -> str:
        """Write the record as JSON; see `json_text.encode`."""
        try:
            return msgspec.json.encode(self).decode()
        except _WITHOUT_JSON:
            return json_text.encode(msgspec.to_builtins(self)).decode()

    @classmethod
    def decode(cls, text: str | bytes) -> Self:
        """Read a record from its JSON.

        Raises:
            ValueError: the text is not JSON, or not of such a record in this version.
        """
        _learn(cls)
        try:
            return msgspec.json.decode(text, type=cls)
        except RecursionError as error:
            raise ValueError("JSON that nests too deep") from error

    def replace(self, **changes: Any) -> Self:
        """Return the record with other values of some fields."""
        return msgspec.structs.replace(self, **changes)

    def to_builtins(self) -> Any:
        """Return the record as dictionaries, lists and texts; instants are left as they are."""
        return msgspec.to_builtins(self, builtin_types=(datetime,))

    @classmethod
    def of_builtins(cls, value: Any) -> Self:
        """Read a record from dictionaries, lists and texts; other fields are ignored.

        Raises:
            ValueError: they are not of such a record in this version.
        """
        _learn(cls)
        return msgspec.convert(value, cls)

    @classmethod
    def of_row(cls, row: Mapping[Any, Any], **others: Any) -> Self:
        """Read a record from a row with a column of the name of each field, except those in `others`."""
        _learn(cls)
        # Names of columns are of a subclass, which msgspec refuses.
        values = {str(name): value for name, value in row.items()}
        return msgspec.convert(values | others, cls)


class ShownRecord(Record, frozen=True, omit_defaults=True):
    """A record that the API shows as it is; its schema is made from its fields, see `doc`."""

    def show(self) -> dict[str, Any]:
        """Return its JSON; fields of which None is the default are left out then."""
        shown: dict[str, Any] = _show(self.to_builtins())
        return shown


def check_texts(record: Record) -> None:
    """Check that texts of clients are whole what their patterns say: in Python `$` is before a last line break too.

    Records that are stored already may have such texts, and are read as they are.

    Raises:
        ValidationError: one is not, with its pattern and its field.
    """
    _check_texts(record, _describe(type(record)), "$")


_describe: Final = lru_cache(maxsize=64)(inspect.type_info)


def _check_texts(value: Any, kind: inspect.Type, path: str) -> None:
    match kind, value:
        case inspect.Metadata(type=inner), _:
            _check_texts(value, inner, path)
        case inspect.UnionType(types=types), _:
            for each in types:
                _check_texts(value, each, path)
        case inspect.VarTupleType(item_type=inner), tuple():
            for each in value:
                _check_texts(each, inner, f"{path}[...]")
        case inspect.StructType(fields=fields), msgspec.Struct():
            for field in fields:
                inner = getattr(value, field.name)
                if inner != field.default:  # which no client has sent
                    _check_texts(inner, field.type, f"{path}.{field.encode_name}")
        case inspect.StrType(pattern=str(pattern)), str() if not re.fullmatch(pattern, value):
            raise msgspec.ValidationError(
                f"Expected `str` matching regex {pattern!r} - at `{path}`"
            )


def doc(description: str, **schema: Any) -> msgspec.Meta:
    """Return the description of a field for OpenAPI, and rules that its values keep."""
    return msgspec.Meta(description=description, extra_json_schema=schema or None)


def _learn(kind: type) -> None:
    """Let msgspec read the types of a record and of those in it before any thread reads one.

    At the first use it shows other threads what it has read so far, and theirs end the process by a null pointer (0.22).
    """
    if kind not in _known:
        with _learning:
            msgspec.json.Decoder(kind)
        _known.add(kind)


def _show(value: Any) -> Any:
    match value:
        case dict():
            return {name: _show(each) for name, each in value.items()}
        case list() | tuple():
            return [_show(each) for each in value]
        case datetime():
            return timestamp(value)
        case _:
            return value
