"""Conditional requests: `ETag`, `If-Match` and `If-None-Match` (RFC 9110, 8.8.3 and 13)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final

from flask import Request, Response

from api.http import write_json
from shared import json_text
from shared.errors import ServiceError

_TAG: Final = r'(?:W/)?"[!#-~\x80-\xff]*"'
_TAGS: Final = re.compile(rf"[ \t]*{_TAG}(?:[ \t]*,[ \t]*{_TAG})*[ \t]*")
_ONE_TAG: Final = re.compile(_TAG)
_ANY: Final = "*"
_CHANGES: Final = ("PUT", "PATCH", "DELETE")
_WITH_ETAGS: Final = "/v2/templates/"
_DIGITS: Final = 32  # of the digest: 128 bits


@dataclass(frozen=True, slots=True)
class Preconditions:
    """The preconditions of a request; None without the header, `*` for any state."""

    if_match: tuple[str, ...] | None
    if_none_match: tuple[str, ...] | None

    @property
    def are_given(self) -> bool:
        """Whether the request has a precondition."""
        return self.if_match is not None or self.if_none_match is not None

    def check(self, etag: str | None) -> None:
        """Check the preconditions of a change; `etag` is that of the current state, None without one.

        Call it in the transaction of the change, with the row locked, so that the state cannot change
        in between.

        Raises:
            ServiceError: 412, a precondition is not met.
        """
        if self.is_not_modified(etag):
            raise _precondition_failed("If-None-Match", etag)

    def is_not_modified(self, etag: str | None) -> bool:
        """Check the preconditions of a read and return whether the client's copy is current.

        Raises:
            ServiceError: 412, `If-Match` names another state.
        """
        if self.if_match is not None and not _matches(self.if_match, etag, is_weak=False):
            raise _precondition_failed("If-Match", etag)
        return self.if_none_match is not None and _matches(self.if_none_match, etag, is_weak=True)


def read_preconditions(request: Request) -> Preconditions:
    """Read the preconditions of a request.

    Raises:
        ServiceError: 400, a header is neither `*` nor a list of entity tags. Ignoring it would lose
            the protection that the client asked for.
    """
    return Preconditions(_read(request, "If-Match"), _read(request, "If-None-Match"))


def check_partial_change(request: Request) -> None:
    """Check that a change does not ask for what would be lost if it were ignored.

    Raises:
        ServiceError: 400 for a part of a body (`Content-Range`, RFC 9110, 14.5); 412 for a precondition
            on a resource without entity tags.
    """
    if request.method not in _CHANGES:
        return
    if "Content-Range" in request.headers:
        raise ServiceError(400, "Content-Range is not accepted: send the whole body.")
    if read_preconditions(request).are_given and not request.path.startswith(_WITH_ETAGS):
        raise ServiceError(
            412, f"{request.path!r} has no ETag: leave out If-Match and If-None-Match."
        )


def make_etag(*parts: Mapping[str, Any] | str) -> str:
    """Return a strong entity tag of these values."""
    digest = sha256(json_text.encode(list(parts)))
    return f'"{digest.hexdigest()[:_DIGITS]}"'


def write_json_with_etag(request: Request, body: Mapping[str, Any]) -> Response:
    """Return the JSON response of a read with its ETag, or 304 if the client's copy is current.

    Raises:
        ServiceError: 400 and 412, see `Preconditions`.
    """
    etag = make_etag(body)
    if read_preconditions(request).is_not_modified(etag):
        return write_not_modified(etag)
    return write_json(body, headers={"ETag": etag})


def write_not_modified(etag: str) -> Response:
    """Return a 304 response."""
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
            f"Invalid {name} header {text[:100]!r}: accepted are entity tags in double quotes, "
            'separated by commas, or "*".',
        )
    return tuple(_ONE_TAG.findall(text))


def _matches(tags: tuple[str, ...], etag: str | None, *, is_weak: bool) -> bool:
    """Compare weakly or strongly (RFC 9110, 8.8.3.2)."""
    if etag is None:
        return False
    if tags == (_ANY,):
        return True
    return any((tag.removeprefix("W/") if is_weak else tag) == etag for tag in tags)


def _precondition_failed(name: str, etag: str | None) -> ServiceError:
    if etag is None:
        message = f"The {name} header requires a current state, but the resource does not exist."
    elif name == "If-Match":
        message = (
            f"The {name} header does not match the current ETag {etag}: the resource has changed. "
            "Read it again and repeat the change."
        )
    else:
        message = f"The {name} header excludes the current ETag {etag}."
    return ServiceError(412, message, headers={} if etag is None else {"ETag": etag})
