"""Errors of outbound requests. Their messages may be shown to the client that gave the URL."""

from __future__ import annotations

from enum import StrEnum
from typing import Final


class Reason(StrEnum):
    """The reason of a refused URL that its client may see.

    It does not reveal internal services: a host that is not public is refused before connecting, and a
    refused redirect does not reveal its target.
    """

    MALFORMED = "malformed"
    SCHEME = "scheme"
    CREDENTIALS = "credentials"
    PORT = "port"
    HOST_UNKNOWN = "host-unknown"
    NOT_PUBLIC = "not-public"
    REDIRECT = "redirect"
    OTHER = "other"  # from a fetcher of another release


_TEXTS: Final = {
    Reason.MALFORMED: (
        "it is not a well-formed address of at most 8,192 characters, such as https://example.com/path"
    ),
    Reason.SCHEME: "its scheme must be http or https",
    Reason.CREDENTIALS: "it must not contain a user name or a password",
    Reason.PORT: "its port must be a number from 1 to 65535",
    Reason.HOST_UNKNOWN: "its host is unknown: no address was found for that name",
    Reason.NOT_PUBLIC: "its host must have addresses on the public internet only",
    Reason.REDIRECT: "it redirects to an address that is refused",
    Reason.OTHER: (
        "it must be an http or https address without user name or password, of a public host that has "
        "public addresses only"
    ),
}


class TargetRefusedError(Exception):
    """The URL is not permitted. `cause` is for the log, never for the client."""

    def __init__(self, reason: Reason, cause: str) -> None:
        super().__init__(_TEXTS[reason])
        self.reason: Final = reason
        self.cause: Final = cause


class NotCachedError(Exception):
    """The fetcher keeps nothing of the address that may be used now."""


class TargetUnreachableError(Exception):
    """The server of a permitted URL gave no usable response; the message states the reason."""


class TargetTooLargeError(TargetUnreachableError):
    """The response exceeds the size limit of the request."""
