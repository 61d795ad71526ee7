"""How a request to somebody else's server fails. Each text is fit for the client who gave the address."""

from __future__ import annotations

from typing import Final

# One text for every reason: it must not tell apart what lies on the private network.
REFUSAL: Final = (
    "it must be an http or https address, without user name or password, of a host that the public "
    "internet knows and that has public addresses only"
)


class TargetRefusedError(Exception):
    """The address may not be connected to. `cause` is for the log, never for the client."""

    def __init__(self, cause: str) -> None:
        super().__init__(REFUSAL)
        self.cause: Final = cause


class TargetUnreachableError(Exception):
    """The server at a permitted address gave no usable answer; the text says why."""


class TargetTooLargeError(TargetUnreachableError):
    """The answer has more bytes than were asked for at most."""
