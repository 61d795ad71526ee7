"""Reading `Idempotency-Key`, and what a repeated call is told (contract.md 6)."""

from __future__ import annotations

import hashlib
import re
from typing import Final
from urllib.parse import urlencode

from flask import Request

from shared.db.idempotency import Call, FirstCall, IdempotencyKey
from shared.errors import ServiceError

HEADER: Final = "Idempotency-Key"
_KEY: Final = re.compile(r"[!-~]{1,255}\Z")
_RETRY_SECONDS: Final = 1


def read_key(request: Request, account_id: str, call: Call) -> IdempotencyKey | None:
    """Read the key of a call, None when it has none.

    Raises:
        ServiceError: 400 for a key that is empty, too long, or of other characters.
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
    """Make what is the same for the same call: route, query, type and body."""
    query = urlencode(sorted(request.args.items(multi=True)))
    parts = (call.value, query, request.headers.get("Content-Type", ""), body_sha256)
    return hashlib.sha256("\n".join(parts).encode("utf-8", "surrogateescape")).hexdigest()


def check_repeated(first: FirstCall, fingerprint: str | None = None) -> None:
    """Let a repeated call go on to the answer of the first one.

    Without its fingerprint, before the body is received, only a first call that is under way is
    refused.

    Raises:
        ServiceError: 409 while the first call is under way, 422 when it was another request.
    """
    if first.fingerprint is None:
        raise under_way()
    if fingerprint is not None and first.fingerprint != fingerprint:
        raise ServiceError(
            422,
            f"The {HEADER} was used before with another request; repeat that one unchanged, or "
            "send this one with a key of its own.",
        )


def under_way() -> ServiceError:
    """Make the refusal of a call whose first one has not been answered yet."""
    return ServiceError(
        409,
        f"A request with this {HEADER} is under way; its answer is there when it has ended.",
        headers={"Retry-After": str(_RETRY_SECONDS)},
    )
