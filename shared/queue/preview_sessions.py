"""Preview sessions: a new preview supersedes the previous one of its session."""

from __future__ import annotations

from typing import Final, cast

from redis import Redis

from shared.errors import ErrorBody, ErrorCode, ErrorKind
from shared.jobs.records import JobOutcome, OutcomeStatus
from shared.limits import REPLY_TTL_SECONDS
from shared.queue.connection import reachable
from shared.queue.names import job_key, preview_session_key, reply_key
from shared.queue.scripts import register
from shared.queue.states import CANCELLED

# Longer than any preview may take.
_SESSION_TTL_SECONDS: Final = 4000
_STATE_TTL_SECONDS: Final = 600


class PreviewSessions:
    """Stores the newest job of each session, for all processes of the front."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._supersede = register(redis, "supersede")

    def begin(self, account_id: str, session: str, job_id: str) -> None:
        """Store the newest job of a session, before it is queued, and end the previous one.

        The front that waits for the previous job receives a 409; a worker that runs it stops within a second.

        Raises:
            Unavailable: Redis is unreachable.
        """
        key = preview_session_key(account_id, session)
        with reachable():
            before = cast(
                "bytes | None", self._redis.set(key, job_id, ex=_SESSION_TTL_SECONDS, get=True)
            )
            if before is not None:
                self._end(before.decode())

    def _end(self, job_id: str) -> None:
        outcome = JobOutcome(job_id, OutcomeStatus.FAILED, error=_superseded())
        self._supersede(
            keys=[job_key(job_id), reply_key(job_id)],
            args=[CANCELLED, _STATE_TTL_SECONDS, outcome.encode(), REPLY_TTL_SECONDS],
        )


def _superseded() -> ErrorBody:
    return ErrorBody(
        409,
        "A newer preview of this session was asked for; this one was stopped.",
        ErrorKind.REQUEST,
        ErrorCode.PREVIEW_SUPERSEDED,
    )
