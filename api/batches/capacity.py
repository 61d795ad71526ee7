"""How many batches of an account may be unfinished at once."""

from __future__ import annotations

from typing import Final

from shared.db.batches import count_unfinished
from shared.db.session import Session
from shared.errors import ErrorCode, ErrorKind, ServiceError

# Nobody can tell when the next one ends; one of a few thousand documents takes about so long.
_RETRY_SECONDS: Final = 10


def check_room(session: Session, account_id: str, most: int) -> None:
    """Let an account have one more unfinished batch; `most` is how many it may have, 0 any number.

    Raises:
        ServiceError: 429 with `Retry-After`, it has as many as it may.
    """
    if not most:
        return
    unfinished = count_unfinished(session, account_id)
    if unfinished < most:
        return
    raise ServiceError(
        429,
        f"Too many unfinished batches: the account has {unfinished:,} and may have {most:,} at "
        "once. List them with GET /v2/batches?status=running and ?status=queued, cancel one with "
        f"DELETE /v2/batches/{{id}}, or wait for one to end and try again in {_RETRY_SECONDS} s.",
        kind=ErrorKind.RATE,
        code=ErrorCode.RATE_LIMITED,
        headers={"Retry-After": str(_RETRY_SECONDS)},
    )
