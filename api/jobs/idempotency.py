"""The `Idempotency-Key` header, and the errors of repeated calls."""

from __future__ import annotations

import hashlib
import re
from typing import Final
from urllib.parse import urlencode

from flask import Request, Response

from shared.errors import ServiceError
from shared.jobs.idempotency import Call, FirstCall, IdempotencyKey

HEADER: Final = "Idempotency-Key"
_KEY: Final = re.compile(r"[!-~]{1,255}\Z")
_RETRY_SECONDS: Final = 1


def read_key(request: Request, account_id: str, call: Call) -> IdempotencyKey | None:
    """Read the idempotency key of a request, None without one.

    Raises:
        ServiceError: 400, the key is empty, too long, or has invalid characters.
    """
    text = request.headers.get(HEADER)
    if text is None:
        return None
    if not _KEY.match(text):
        raise ServiceError(
            400,
            f"Invalid {HEADER} header: accepted are 1 to 255 visible ASCII characters without "
            "spaces, such as a UUID.",
        )
    return IdempotencyKey(account_id, call, text)


def make_fingerprint(request: Request, call: Call, *, body_sha256: str) -> str:
    """Return a digest of route, query, Content-Type and body, which identifies equal requests."""
    query = urlencode(sorted(request.args.items(multi=True)))
    parts = (call.value, query, request.headers.get("Content-Type", ""), body_sha256)
    return hashlib.sha256("\n".join(parts).encode("utf-8", "surrogateescape")).hexdigest()


def check_repeated(first: FirstCall, fingerprint: str | None = None) -> None:
    """Check a repeated call against the first one.

    Without a fingerprint, before the body is received, only a first call in progress is an error.

    Raises:
        ServiceError: 409 while the first call is in progress; 422, it was a different request.
    """
    if first.fingerprint is None:
        raise under_way()
    if fingerprint is not None and first.fingerprint != fingerprint:
        raise ServiceError(
            422,
            f"The {HEADER} was already used with a different request; repeat that request unchanged, or "
            "send this one with a new key.",
        )


def mark_replayed(response: Response) -> Response:
    """Mark the response of a repeated call as that of the first one."""
    response.headers["Idempotent-Replayed"] = "true"
    return response


def under_way() -> ServiceError:
    """Return the error of a repeated call while the first one is in progress."""
    return ServiceError(
        409,
        f"A request with this {HEADER} is still in progress; try again in {_RETRY_SECONDS} s.",
        headers={"Retry-After": str(_RETRY_SECONDS)},
    )
