"""JSON bodies of requests. No other module of the front parses what a client sent.

A process of the front answers many clients, so a body must not occupy it: its members are split in C,
without making objects of what they contain, and parsed only if all of it is small.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final, TypeVar

import msgspec
from msgspec import inspect

from api.http import quote
from shared.errors import ServiceError
from shared.limits import KB
from shared.records import Record, check_texts

MAX_PARSED_BYTES: Final = 64 * KB
_MAX_QUOTED: Final = 200
R = TypeVar("R", bound=Record)
_KEY: Final = re.compile(rb'[\s{,]*("(?:[^"\\]|\\.)*")\s*:\s*')
_END: Final = re.compile(rb"\s*\}\s*")
_UNKNOWN: Final = re.compile("unknown field `(.*)`")
_TRUNCATED: Final = "Input data was truncated"  # also of a surrogate without its other half
_ERRORS: Final = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


def split_object(data: bytes, *, fields: tuple[str, ...]) -> dict[str, bytes]:
    """Split an object of known fields into the JSON of each member, whatever its size.

    Syntax is checked, but neither whether nested fields occur twice, nor whether text is valid UTF-8.

    Raises:
        ServiceError: 400, with the reason.
    """
    accepted = ", ".join(fields)
    try:
        members = msgspec.structs.asdict(_decoder(fields).decode(data))
    except msgspec.ValidationError as error:
        if unknown := _UNKNOWN.search(str(error)):
            message = f"Unknown field {quote(unknown[1])}: accepted are {accepted}."
        else:
            message = f"The body must be a JSON object with the fields {accepted}."
        raise ServiceError(400, message) from error
    except _ERRORS as error:
        raise _invalid(error) from error
    split = {name: value for name, raw in members.items() if (value := bytes(raw))}
    if _has_duplicates(data, split):
        raise ServiceError(400, "The body is not valid JSON: a field occurs twice.")
    return split


def decode_record(data: bytes, kind: type[R], *, what: str = "request") -> R:
    """Decode an object of any size as a record; of its nested values, fields of `msgspec.Raw` are as sent.

    Raises:
        ServiceError: 400, with the reason.
    """
    members = split_object(data, fields=kind.__struct_fields__)
    # What is kept as it was sent, which may be large, is not read twice.
    as_sent = {
        each.name: msgspec.Raw(members.pop(each.name))
        for each in msgspec.structs.fields(kind)
        if each.type is msgspec.Raw and each.name in members
    }
    if as_sent:
        others = (b'"%s":%s' % (name.encode(), value) for name, value in members.items())
        data = b"{%s}" % b",".join(others)
    try:
        record = kind.decode(data).replace(**as_sent)
        check_texts(record)
        return record
    except msgspec.ValidationError as error:
        accepted = _accepted_values(kind, str(error))
        told = str(error).replace("Object missing required", "missing required")
        told = told.replace("Object contains unknown", "unknown").replace("`float`", "`number`")
        told = told.replace(r"\\", "\\")  # a pattern is quoted as in Python
        raise ServiceError(400, f"Invalid {what}: {told}{accepted}.") from error
    except (ValueError, RecursionError) as error:
        raise _invalid(error) from error


def check_unicode(field: str, value: bytes) -> None:
    """Check a member that is passed on as it was sent.

    Raises:
        ServiceError: 400, it is not UTF-8, or a string with an unpaired surrogate.
    """
    try:
        if value.startswith(b'"'):
            msgspec.json.decode(value, type=str)
        else:
            value.decode()
    except _ERRORS as error:
        raise ServiceError(400, f"Invalid {field}: it is not valid Unicode; send UTF-8.") from error


@lru_cache(maxsize=20)
def _decoder(fields: tuple[str, ...]) -> msgspec.json.Decoder[msgspec.Struct]:
    members = [(name, msgspec.Raw, msgspec.Raw()) for name in fields]
    return msgspec.json.Decoder(msgspec.defstruct("Body", members, forbid_unknown_fields=True))


def _has_duplicates(data: bytes, members: dict[str, bytes]) -> bool:
    """Return whether the object has more members than the given ones; it is read in their order."""
    unread = dict(members)
    position = 0
    while unread:
        key = _KEY.match(data, position)
        if key is None:
            return True
        value = unread.pop(msgspec.json.decode(key[1], type=str), None)
        if value is None or not data.startswith(value, key.end()):
            return True
        position = key.end() + len(value)
    return bool(members) and _END.fullmatch(data, position) is None


def _accepted_values(kind: type[Record], message: str) -> str:
    """Return the values of the enum that a message names by its path, such as `$.marks[...].type`."""
    _, is_of_enum, path = message.partition("Invalid enum value")
    if not is_of_enum:
        return ""
    types = [inspect.type_info(kind)]
    for name in re.findall(r"\.(\w+)", path.rpartition(" - at ")[2]):
        fields = [each for struct in types for each in getattr(struct, "fields", ())]
        types = [leaf for each in fields if each.encode_name == name for leaf in _leaves(each.type)]
    values: list[Any] = [each.values for each in types if isinstance(each, inspect.LiteralType)]
    values += [each.cls for each in types if isinstance(each, inspect.EnumType)]
    return f": accepted are {', '.join(str(choice) for each in values for choice in each)}"


def _leaves(kind: inspect.Type) -> Iterator[inspect.Type]:
    """Yield the types of what a field holds: those of its union, list or annotation."""
    match kind:
        case inspect.UnionType(types=types):
            for each in types:
                yield from _leaves(each)
        case inspect.ListType(item_type=inner) | inspect.VarTupleType(item_type=inner):
            yield from _leaves(inner)
        case inspect.Metadata(type=inner):
            yield from _leaves(inner)
        case _:
            yield kind


def _invalid(error: Exception) -> ServiceError:
    reason = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
    if isinstance(error, UnicodeDecodeError):
        reason = f"its byte {error.start + 1:,} is not UTF-8"
    if reason == _TRUNCATED:
        reason = "it ends too early, or has an unpaired surrogate"
    return ServiceError(400, f"The body is not valid JSON: {reason[:_MAX_QUOTED]}.")
