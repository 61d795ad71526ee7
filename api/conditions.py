"""Conditional requests: `ETag`, `If-Match` and `If-None-Match` (RFC 9110, 8.8.3 and 13)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final

from flask import Request, Response

from api.exchange import write_json
from shared import json_text
from shared.errors import ServiceError

_TAG: Final = r'(?:W/)?"[!#-~\x80-\xff]*"'
_TAGS: Final = re.compile(rf"[ \t]*{_TAG}(?:[ \t]*,[ \t]*{_TAG})*[ \t]*")
_ONE_TAG: Final = re.compile(_TAG)
_ANY: Final = "*"
_DIGITS: Final = 32  # of the digest: 128 bits


@dataclass(frozen=True, slots=True)
class Preconditions:
    """The conditions of a request; None where a header is not sent. `*` stands for any state."""

    if_match: tuple[str, ...] | None
    if_none_match: tuple[str, ...] | None

    @property
    def are_given(self) -> bool:
        """Return whether there is anything to check."""
        return self.if_match is not None or self.if_none_match is not None

    def check(self, etag: str | None) -> None:
        """Check the conditions of a change; `etag` is that of the state now, None without one.

        Call it in the unit of work of the change, on a row that is locked by it: a state that was
        compared is then the one that is changed.

        Raises:
            ServiceError: 412, a condition is not met.
        """
        if self.if_match is not None and not _matches(self.if_match, etag, is_weak=False):
            raise _failed("If-Match", etag)
        if self.if_none_match is not None and _matches(self.if_none_match, etag, is_weak=True):
            raise _failed("If-None-Match", etag)

    def is_known(self, etag: str) -> bool:
        """Check the conditions of a read, and tell whether its client has what it asks for.

        Raises:
            ServiceError: 412, `If-Match` names another state.
        """
        if self.if_match is not None and not _matches(self.if_match, etag, is_weak=False):
            raise _failed("If-Match", etag)
        return self.if_none_match is not None and _matches(self.if_none_match, etag, is_weak=True)


def read_preconditions(request: Request) -> Preconditions:
    """Read the conditions of a request.

    Raises:
        ServiceError: 400, a header is neither `*` nor a list of entity tags: ignored, it would
            protect nothing.
    """
    return Preconditions(_read(request, "If-Match"), _read(request, "If-None-Match"))


def make_etag(*parts: Mapping[str, Any] | str) -> str:
    """Make the strong entity tag of what these describe."""
    digest = sha256(json_text.encode(list(parts)))
    return f'"{digest.hexdigest()[:_DIGITS]}"'


def write_tagged(request: Request, body: Mapping[str, Any]) -> Response:
    """Write the JSON of a read with its entity tag, or 304 where the client has it.

    Raises:
        ServiceError: 400 and 412, see `Preconditions`.
    """
    etag = make_etag(body)
    if read_preconditions(request).is_known(etag):
        return write_not_modified(etag)
    return write_json(body, headers={"ETag": etag})


def write_not_modified(etag: str) -> Response:
    """Write the answer to a client that has what it asks for."""
    return Response(status=304, headers={"ETag": etag})


def _read(request: Request, name: str) -> tuple[str, ...] | None:
    text = request.headers.get(name)
    if text is None:
        return None
    if text.strip(" \t") == _ANY:
        return (_ANY,)
    if not _TAGS.fullmatch(text):
        raise ServiceError(
            400,
            f"Invalid {name} header {text[:100]!r}: accepted are entity tags as ETag headers give "
            'them, in double quotes and separated by commas, or "*".',
        )
    return tuple(_ONE_TAG.findall(text))


def _matches(tags: tuple[str, ...], etag: str | None, *, is_weak: bool) -> bool:
    """Compare weakly, or strongly, where a weak tag matches nothing."""
    if etag is None:
        return False
    if tags == (_ANY,):
        return True
    return any((tag.removeprefix("W/") if is_weak else tag) == etag for tag in tags)


def _failed(name: str, etag: str | None) -> ServiceError:
    if etag is None:
        message = f"The {name} header names a state, and there is nothing here now."
    elif name == "If-Match":
        message = (
            f"The {name} header does not name the current state, whose ETag is {etag}: it was "
            "changed meanwhile. Read it again and repeat the change on what it is now."
        )
    else:
        message = f"The {name} header excludes the current state, whose ETag is {etag}."
    return ServiceError(412, message, headers={} if etag is None else {"ETag": etag})
