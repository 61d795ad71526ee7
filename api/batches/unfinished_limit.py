"""The limit of unfinished batches per account."""

from __future__ import annotations

from typing import Final

from shared.batches.repository import count_unfinished_batches
from shared.db.session import Session
from shared.errors import ErrorCode, ErrorKind, ServiceError

# The duration of a batch of a few thousand documents.
_RETRY_SECONDS: Final = 10


def check_unfinished_limit(session: Session, account_id: str, limit: int) -> None:
    """Check that an account may have one more unfinished batch; `limit` 0 means no limit.

    Raises:
        ServiceError: 429 with `Retry-After`, the account has reached the limit.
    """
    if not limit:
        return
    unfinished = count_unfinished_batches(session, account_id)
    if unfinished < limit:
        return
    raise ServiceError(
        429,
        f"Too many unfinished batches: the account has {unfinished:,}; the limit is {limit:,}. List them with GET /v2/batches?status=running and ?status=queued, cancel one with "
        f"DELETE /v2/batches/{{id}}, or wait for one to end and try again in {_RETRY_SECONDS} s.",
        kind=ErrorKind.RATE,
        code=ErrorCode.RATE_LIMITED,
        headers={"Retry-After": str(_RETRY_SECONDS)},
    )
