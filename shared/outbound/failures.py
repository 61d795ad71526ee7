"""How a request to somebody else's server fails. Each text is fit for the client who gave the address."""

from __future__ import annotations

from enum import StrEnum
from typing import Final


class Reason(StrEnum):
    """Why an address is refused, as far as its client is told.

    No reason tells what answers where: a host that is not public is refused before anything is
    connected to, whatever it runs, and of a redirect only that its target is refused.
    """

    MALFORMED = "malformed"
    SCHEME = "scheme"
    CREDENTIALS = "credentials"
    PORT = "port"
    HOST_UNKNOWN = "host-unknown"
    NOT_PUBLIC = "not-public"
    REDIRECT = "redirect"
    OTHER = "other"  # told by a fetcher of another release


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
        "it must be an http or https address, without user name or password, of a host that the "
        "public internet knows and that has public addresses only"
    ),
}


class TargetRefusedError(Exception):
    """The address may not be connected to. `cause` is for the log, never for the client."""

    def __init__(self, reason: Reason, cause: str) -> None:
        super().__init__(_TEXTS[reason])
        self.reason: Final = reason
        self.cause: Final = cause


class TargetUnreachableError(Exception):
    """The server at a permitted address gave no usable answer; the text says why."""


class TargetTooLargeError(TargetUnreachableError):
    """The answer has more bytes than were asked for at most."""
