"""Client of the signer, the only process that has the keys of accounts."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from enum import StrEnum
from http import HTTPStatus
from http.client import HTTPException, HTTPResponse
from typing import Final
from urllib.parse import urlencode

from shared.errors import Unavailable
from shared.internal_http import BUSY, InternalClient, read_refusal
from shared.limits import MAX_SIGNED_BYTES, MB
from shared.telemetry.log import get_log_fields

SIGN_PATH: Final = "/sign"
MEDIA_TYPE: Final = "application/pdf"
# Log fields of the caller that the signer's log lines repeat.
LOG_FIELDS: Final = ("request", "job", "batch")
# What a signature adds to a file at most: its certificates, its time stamp and its stamp with fonts.
MAX_ADDED_BYTES: Final = 2 * MB
_MAX_SECONDS: Final = 25.0  # the signer's wait for a slot, that for a time stamp, and the transfer


class SignatureOutcome(StrEnum):
    """The outcome of a request; `unstamped` files got no time stamp, and are not signed."""

    SIGNED = "signed"
    REFUSED = "refused"
    UNSTAMPED = "unstamped"
    BUSY = BUSY
    FAILED = "failed"


class SignatureRefusedError(Exception):
    """The certificate or the file cannot be used; the message has the reason, for the author."""


@dataclass(frozen=True, slots=True)
class SignatureCall:
    """The certificate of an account, by name, and the signature field, chosen unless given."""

    account: str
    certificate: str
    field: str | None = None


class SignerClient:
    """Has files signed by the signer. Thread-safe."""

    def __init__(self, url: str, *, budget_seconds: float) -> None:
        """Read the signer's address; `budget_seconds` is that of a render, of which signing takes half.

        Raises:
            ValueError: it is not an http URL with a host.
        """
        self._client: Final = InternalClient("signer", url)
        self._seconds: Final = min(_MAX_SECONDS, budget_seconds / 2)

    def sign(self, pdf: bytes, call: SignatureCall) -> bytes:
        """Return the signed file, which begins with the given one.

        Raises:
            SignatureRefusedError: the account has no such certificate, or the file cannot be signed.
            Unavailable: the signer does not answer, has no free slot, or got no time stamp.
        """
        if len(pdf) > MAX_SIGNED_BYTES:
            raise SignatureRefusedError(
                f"the file has {len(pdf):,} bytes, accepted are {MAX_SIGNED_BYTES:,}"
            )
        with self._post(pdf, call) as answer:
            if answer.status != HTTPStatus.OK:
                raise _read_refusal(answer)
            signed = answer.read(len(pdf) + MAX_ADDED_BYTES + 1)
            if len(signed) != int(answer.headers.get("Content-Length", "")):
                raise HTTPException("the signer closed the connection, or sends too much")
            if not signed.startswith(pdf):
                raise ValueError("the signer returned another file")
            return signed

    def _post(self, pdf: bytes, call: SignatureCall) -> AbstractContextManager[HTTPResponse]:
        fields = {
            "account": call.account,
            "certificate": call.certificate,
            **({"field": call.field} if call.field is not None else {}),
            **get_log_fields(LOG_FIELDS),
        }
        path = f"{SIGN_PATH}?{urlencode(fields)}"
        return self._client.post(path, pdf, MEDIA_TYPE, seconds=self._seconds)


def _read_refusal(answer: HTTPResponse) -> Exception:
    """Return the error that the signer reports; raise ValueError if the response is malformed."""
    said = read_refusal(answer)
    match said.get("refusal"):
        case SignatureOutcome.REFUSED:
            return SignatureRefusedError(str(said.get("text")))
        case SignatureOutcome.BUSY | SignatureOutcome.UNSTAMPED:
            return Unavailable("signer", retry_after_seconds=5)
        case other:
            raise ValueError(f"unknown refusal {other!r}")
