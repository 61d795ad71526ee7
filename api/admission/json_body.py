"""JSON bodies of requests. No other module of the front parses what a client sent.

A process of the front answers many clients, so a body must not occupy it: small objects are parsed as a
whole, of large ones only the members are split, in C and without making objects of what they contain.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import Any, Final

import msgspec

from api.http import quote
from shared.errors import ServiceError
from shared.limits import KB

MAX_PARSED_BYTES: Final = 64 * KB
_MAX_QUOTED: Final = 200
_KEY: Final = re.compile(rb'[\s{,]*("(?:[^"\\]|\\.)*")\s*:\s*')
_END: Final = re.compile(rb"\s*\}\s*")


def parse_object(data: bytes, *, fields: tuple[str, ...]) -> dict[str, Any]:
    """Parse an object of known fields in at most `MAX_PARSED_BYTES`: no NaN and no duplicate fields.

    Raises:
        ServiceError: 400, with the reason.
    """
    assert len(data) <= MAX_PARSED_BYTES, "a larger one is split, or read by a worker"
    try:
        value = json.loads(
            data.decode("utf-8"),
            object_pairs_hook=_reject_duplicates,
            parse_constant=_reject_constant,
        )
    except (UnicodeDecodeError, ValueError, RecursionError) as error:
        raise _invalid(error) from error
    if not isinstance(value, dict):
        raise ServiceError(
            400, f"The body must be a JSON object with the fields {', '.join(fields)}."
        )
    unknown = [name for name in value if name not in fields]
    if unknown:
        raise ServiceError(
            400, f"Unknown field {quote(unknown[0])}: accepted are {', '.join(fields)}."
        )
    return value


def split_object(data: bytes, *, fields: tuple[str, ...]) -> dict[str, bytes]:
    """Split an object of known fields into the JSON of each member, whatever its size.

    Members that are null are left out. Syntax is checked, but not whether nested fields occur twice, and
    not whether text is valid UTF-8.

    Raises:
        ServiceError: 400, with the reason.
    """
    try:
        members = msgspec.structs.asdict(_decoder(fields).decode(data))
    except msgspec.ValidationError as error:
        reason = str(error)[:_MAX_QUOTED]
        raise ServiceError(
            400,
            f"Invalid body: {reason}; accepted is a JSON object with the fields {', '.join(fields)}.",
        ) from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise _invalid(error) from error
    split = {name: value for name, raw in members.items() if (value := bytes(raw))}
    if _has_duplicates(data, split):
        raise ServiceError(400, "The body is not valid JSON: a field occurs twice.")
    return {name: value for name, value in split.items() if value != b"null"}


def decode_string(field: str, value: bytes) -> str | None:
    """Return the text of a member that is a string, None if it is something else.

    Raises:
        ServiceError: 400, the text is not valid Unicode.
    """
    if not value.startswith(b'"'):
        return None
    try:
        return msgspec.json.decode(value, type=str)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise not_unicode(field) from error


def not_unicode(field: str) -> ServiceError:
    """Return the error of a member that is not valid UTF-8, or has an unpaired surrogate."""
    return ServiceError(400, f"Invalid {field}: it is not valid Unicode; send UTF-8.")


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


def _reject_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise ValueError("a field occurs twice")
    return fields


def _reject_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON value")


def _invalid(error: Exception) -> ServiceError:
    reason = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
    return ServiceError(400, f"The body is not valid JSON: {reason[:_MAX_QUOTED]}.")
