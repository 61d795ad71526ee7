"""Reading a request's query, type and JSON, and writing JSON: what every route shares."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Any, Final, TypeVar

from flask import Request, Response
from werkzeug.http import parse_options_header

from shared import json_text
from shared.db.people import UserRef
from shared.encodings import ACCEPTED, find_codec
from shared.errors import ServiceError

DEFAULT_PAGE: Final = 100
MAX_PAGE: Final = 1000
MAX_WAIT_SECONDS: Final = 60
Choice = TypeVar("Choice", bound=StrEnum)


@dataclass(frozen=True, slots=True)
class ContentType:
    """A Content-Type header: the type in lower case, the charset as the name of a codec."""

    media: str
    charset: str | None


def read_query(request: Request, accepted: tuple[str, ...]) -> Mapping[str, str]:
    """Read the query parameters of a route.

    Raises:
        ServiceError: 400 for a parameter that is unknown or sent twice: none is ignored.
    """
    given: dict[str, str] = {}
    if not request.query_string:
        return given
    for name, values in request.args.lists():
        if name not in accepted:
            known = f"accepted are {', '.join(accepted)}" if accepted else "none is accepted"
            raise ServiceError(400, f"Unknown query parameter {_shown(name)}: {known}.")
        if len(values) > 1:
            raise ServiceError(
                400, f"Query parameter {name} was sent {len(values)} times; send it once."
            )
        given[name] = values[0]
    return given


def read_limit(query: Mapping[str, str]) -> int:
    """Read the page size `limit`.

    Raises:
        ServiceError: 400 when it is not a number from 1 to 1000.
    """
    text = query.get("limit")
    if text is None:
        return DEFAULT_PAGE
    if not re.fullmatch(r"[0-9]{1,4}", text) or not 1 <= int(text) <= MAX_PAGE:
        raise ServiceError(
            400, f"Invalid limit {_shown(text)}: accepted is a whole number from 1 to {MAX_PAGE}."
        )
    return int(text)


def read_choice(query: Mapping[str, str], name: str, choices: type[Choice]) -> Choice | None:
    """Read a parameter that is one of the words of an enum, None without it.

    Raises:
        ServiceError: 400 for another word.
    """
    text = query.get(name)
    if text is None:
        return None
    try:
        return choices(text)
    except ValueError:
        accepted = ", ".join(choice.value for choice in choices)
        raise ServiceError(
            400, f"Invalid {name} {_shown(text)}: accepted are {accepted}."
        ) from None


def read_wait(query: Mapping[str, str]) -> float:
    """Read how many seconds to wait for an end, 0 without `wait`.

    Raises:
        ServiceError: 400 when it is not a number from 0 to 60.
    """
    text = query.get("wait", "0")
    if not re.fullmatch(r"[0-9]{1,2}(\.[0-9]{1,3})?", text) or float(text) > MAX_WAIT_SECONDS:
        raise ServiceError(
            400,
            f"Invalid wait {_shown(text)}: accepted is a number of seconds from 0 to "
            f"{MAX_WAIT_SECONDS}.",
        )
    return float(text)


def read_media_type(request: Request) -> str:
    """Read the media type of the body, in lower case; empty when the request names none."""
    return _split_content_type(request.headers.get("Content-Type", ""))[0]


def read_content_type(request: Request) -> ContentType | None:
    """Read the Content-Type header, None when there is none.

    Raises:
        ServiceError: 415 for a charset that is unknown.
    """
    header = request.headers.get("Content-Type")
    if not header:
        return None
    media, charset = _split_content_type(header)
    if charset is None:
        return ContentType(media, None)
    codec = find_codec(charset)
    if codec is None:
        raise ServiceError(
            415, f"Unaccepted charset {_shown(charset)} in Content-Type: accepted are {ACCEPTED}."
        )
    return ContentType(media, codec)


@lru_cache(maxsize=100)  # clients send the same few
def _split_content_type(header: str) -> tuple[str, str | None]:
    media, options = parse_options_header(header)
    return media.lower(), options.get("charset")


def parse_json_object(data: bytes, *, fields: tuple[str, ...]) -> dict[str, Any]:
    """Parse a JSON object of known fields, strictly: no NaN, no field twice.

    Raises:
        ServiceError: 400 with what is wrong with it.
    """
    try:
        value = json.loads(
            data.decode("utf-8"), object_pairs_hook=_unique, parse_constant=_refuse_constant
        )
    except (UnicodeDecodeError, ValueError, RecursionError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise ServiceError(400, f"The body is not JSON: {reason}.") from error
    if not isinstance(value, dict):
        raise ServiceError(
            400, f"The body must be a JSON object with the fields {', '.join(fields)}."
        )
    unknown = [name for name in value if name not in fields]
    if unknown:
        raise ServiceError(
            400, f"Unknown field {_shown(unknown[0])}: accepted are {', '.join(fields)}."
        )
    return value


def write_json(
    body: Mapping[str, Any], status: int = 200, *, headers: Mapping[str, str] | None = None
) -> Response:
    """Write a JSON answer."""
    answer = Response(json_text.encode(body), status, headers)
    answer.content_type = "application/json; charset=utf-8"
    return answer


def write_user(user: UserRef) -> dict[str, str]:
    """Write a person as records name one (interface.md, `<user_ref>`)."""
    return {"id": user.id, "name": user.name, "email": user.email}


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise ValueError("a field stands in it twice")
    return fields


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON value")


def _shown(text: str) -> str:
    return repr(text if len(text) <= 100 else text[:100] + "…")
