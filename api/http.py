"""Query parameters and Content-Type of requests, and JSON responses, for every route."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from enum import StrEnum
from itertools import chain
from typing import Any, Final, TypeVar
from urllib.parse import unquote_to_bytes

from flask import Request, Response

from api.translation import SOURCE, find_language, translate_findings
from shared import json_text
from shared.encodings import ACCEPTED, find_codec
from shared.errors import ServiceError
from shared.records import TIMESTAMP_PATTERN

DEFAULT_PAGE: Final = 100
MAX_PAGE: Final = 1000
MAX_WAIT_SECONDS: Final = 60
_INCOMPLETE_ESCAPE: Final = re.compile(rb"%(?![0-9A-Fa-f]{2}).{0,2}")
Choice = TypeVar("Choice", bound=StrEnum)


def read_query(request: Request, accepted: tuple[str, ...]) -> Mapping[str, str]:
    """Read the query parameters of a route.

    Raises:
        ServiceError: 400 for an unknown, repeated or malformed parameter.
    """
    given: dict[str, str] = {}
    for field in request.query_string.split(b"&") if request.query_string else ():
        raw_name, _, raw_value = field.partition(b"=")
        if not field:
            continue
        name = _unquote(raw_name, "query parameter")
        if name not in accepted:
            known = f"accepted are {', '.join(accepted)}" if accepted else "none are accepted"
            raise ServiceError(400, f"Unknown query parameter {quote(name)}: {known}.")
        if name in given:
            raise ServiceError(400, f"Query parameter {name} was sent twice; send it once.")
        given[name] = _unquote(raw_value, f"query parameter {name}")
    return given


def check_path(request: Request) -> None:
    """Check the percent-encoding of the path, which Flask decodes whatever it is.

    Raises:
        ServiceError: 400, it is invalid.
    """
    raw: str = request.environ.get("RAW_URI", "")
    _unquote(raw.partition("?")[0].encode("latin-1"), "path")


def _unquote(raw: bytes, what: str) -> str:
    """Decode a percent-encoded part of a URL.

    Raises:
        ServiceError: 400, an escape is incomplete, or the text is not UTF-8 or has NUL.
    """
    if incomplete := _INCOMPLETE_ESCAPE.search(raw):
        escape = incomplete[0].decode("latin-1")
        raise ServiceError(
            400,
            f"Invalid percent-encoding {quote(escape)} in the {what}: accepted are % and two "
            "hexadecimal digits.",
        )
    try:
        text = unquote_to_bytes(raw.replace(b"+", b" ")).decode("utf-8")
    except UnicodeDecodeError as error:
        raise ServiceError(400, f"Invalid {what}: it is not UTF-8.") from error
    if "\0" in text:
        raise ServiceError(400, f"Invalid {what}: it contains a NUL character.")
    return text


def read_limit(query: Mapping[str, str]) -> int:
    """Return the page size `limit`."""
    return int(query.get("limit", DEFAULT_PAGE))


def read_choice(query: Mapping[str, str], name: str, choices: type[Choice]) -> Choice | None:
    """Return a parameter whose values are those of an enum, None without it."""
    return choices(query[name]) if name in query else None


def read_wait(query: Mapping[str, str]) -> float:
    """Return the seconds of a long poll, 0 without `wait`."""
    return float(query.get("wait", "0"))


def read_charset(request: Request) -> str | None:
    """Read the charset of the Content-Type header as the name of a Python codec, None without one.

    Raises:
        ServiceError: 415 for an unknown charset.
    """
    charset = request.mimetype_params.get("charset")
    codec = None if charset is None else find_codec(charset)
    if charset is not None and codec is None:
        raise ServiceError(
            415, f"Unaccepted charset {quote(charset)} in Content-Type: accepted are {ACCEPTED}."
        )
    return codec


def require_content_type(request: Request, accepted: Collection[str]) -> str | None:
    """Read the charset of a body that must be of one of some media types; see `read_charset`.

    Raises:
        ServiceError: 415, listing the accepted types.
    """
    charset, media = read_charset(request), request.mimetype
    if media not in accepted:
        sent = f"Unaccepted Content-Type {media!r}" if media else "A Content-Type is required"
        verb = "is" if len(accepted) == 1 else "are"
        raise ServiceError(415, f"{sent}; accepted {verb} {', '.join(accepted)}.")
    return charset


def write_json(
    body: Mapping[str, Any], status: int = 200, *, headers: Mapping[str, str] | None = None
) -> Response:
    """Return a JSON response, its findings in the language that the request prefers."""
    language = find_language()
    response = Response(json_text.encode(translate_findings(body, language)), status, headers)
    response.content_type = "application/json; charset=utf-8"
    response.vary.add("Accept-Language")
    if language != SOURCE:
        response.content_language = (language,)
    return response


def write_page(
    name: str, shown: Sequence[Mapping[str, Any]], *, limit: int, key: str = "id"
) -> dict[str, Any]:
    """Return a page of a list, of which up to one record more than `limit` is given.

    The cursor of the next page is the `key` of the last record of this one.
    """
    page: dict[str, Any] = {name: shown[:limit]}
    if len(shown) > limit:
        page["next_cursor"] = str(shown[limit - 1][key])
    return page


def start_stream(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Read the first chunk of a response body now, so that an error there still gets an error status."""
    return chain([next(chunks)], chunks)


def quote(text: str) -> str:
    """Return a value of a request for an error message, quoted and shortened."""
    return repr(text if len(text) <= 100 else text[:100] + "…")


def parse_timestamp(text: str) -> datetime | None:
    """Parse an ISO 8601 timestamp or a date (00:00) to a datetime in UTC; without an offset it is UTC.

    None if the text is neither, or the timestamp is outside the calendar.
    """
    if not re.fullmatch(TIMESTAMP_PATTERN, text):
        return None
    try:
        instant = datetime.fromisoformat(text)
        return instant.replace(tzinfo=UTC) if instant.tzinfo is None else instant.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def read_date(query: Mapping[str, str]) -> date | None:
    """Return the `date` of a query, or the UTC date of its timestamp; None without it.

    Raises:
        ServiceError: 400, there is no such day, or its billing period reaches beyond the calendar.
    """
    if (text := query.get("date")) is None:
        return None
    instant = parse_timestamp(text)
    if instant is None or not date.min.year < instant.year < date.max.year:
        raise ServiceError(
            400,
            f"Invalid date {quote(text)}: accepted is a day that there is, as YYYY-MM-DD or an ISO 8601 timestamp.",
        )
    return instant.date()
