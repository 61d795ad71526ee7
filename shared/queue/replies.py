"""The front's side of a job's end: waiting costs nothing, giving up is final (design.md 2 and 3)."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator
from typing import Final, cast

from redis import Redis, RedisError

from shared.clock import ticks
from shared.jobs import Claim, ClaimHome, JobOutcome, decode_reply
from shared.queue.claims import CLAIM_TTL_SECONDS, Claims
from shared.queue.connection import BLOCK_SECONDS, guarded, reachable
from shared.queue.names import FARM_TOTALS, job_key, reply_key
from shared.queue.presence import AWAITED_SECONDS, Presence
from shared.queue.scripts import register
from shared.telemetry.totals import ABANDONED

_RECONNECT_SECONDS: Final = 0.1
_SWEEP_AT_ONCE: Final = 100


class Replies:
    """Waits for outcomes and fetches their PDFs; shared by the threads of a front process."""

    def __init__(self, redis: Redis, claims: Claims) -> None:
        self._redis = redis
        self._claims = claims
        self._abandon = register(redis, "abandon")
        self._presence = Presence(redis)
        # Keys that were read and are of no more use. They go with the next wait's round trip
        # rather than one of their own; should the process end first, their time to live ends too.
        self._spent: deque[str] = deque()

    def wait(
        self,
        job_id: str,
        *,
        timeout_seconds: float,
        between: Callable[[], object] = lambda: None,
    ) -> JobOutcome | None:
        """Wait until a job just published ends; None when it has not in time.

        A restart of Redis in between is waited out while the outcome could still be committed.
        `between` is called after each second without an outcome.

        Raises:
            Unavailable: Redis stayed away for `AWAITED_SECONDS`; the job will not be metered.
        """
        give_up_at = ticks() + timeout_seconds
        is_noted = True  # with the message; each wait from the second on notes it again
        while (left := give_up_at - ticks()) > 0:
            try:
                text = self._wait_briefly(job_id, min(left, BLOCK_SECONDS), is_noted=is_noted)
            except RedisError as error:
                text = self._await_server(error, reply_key(job_id))
                if text is None:
                    is_noted = False
                    continue
            if text is not None:
                self._spent.append(reply_key(job_id))
                return decode_reply(text)
            between()
            is_noted = False
        return None

    def abandon(self, job_id: str) -> JobOutcome | None:
        """Abandon the job: from now on nothing of it is committed or metered.

        Return the outcome instead when the job ended just before.

        Raises:
            Unavailable: Redis is away; the job's own deadline ends it.
        """
        keys = [job_key(job_id), reply_key(job_id), FARM_TOTALS]
        with reachable(self._redis):
            text = cast(
                "bytes | None", self._abandon(keys=keys, args=[CLAIM_TTL_SECONDS, ABANDONED])
            )
        return None if text is None else decode_reply(text)

    def fetch_pdf(self, claim: Claim) -> Iterator[bytes]:
        """Return the bytes of a PDF, `claim.size` in all, in pieces; they can be fetched once.

        Raises:
            ClaimLostError: when the first piece is asked for and the bytes are gone.
        """
        yield from self._claims.stream(claim)
        if claim.home is ClaimHome.REDIS:
            self._spent.append(claim.key)
        else:
            self._claims.drop(claim)

    def _wait_briefly(self, job_id: str, seconds: float, *, is_noted: bool) -> bytes | None:
        reply = reply_key(job_id)
        with guarded(self._redis):
            if not is_noted:
                self._presence.note(job_id)
            pipe = self._redis.pipeline(transaction=False)
            if spent := self._take_spent():
                pipe.unlink(*spent)
            # The outcome is moved from the list onto itself: read without taking it out, so that
            # an answer lost with its connection can be read again.
            pipe.blmove(reply, reply, max(seconds, 0.01), "RIGHT", "LEFT")  # type: ignore[arg-type] # the server takes fractions
            return cast("bytes | None", pipe.execute()[-1])

    def _take_spent(self) -> list[str]:
        taken: list[str] = []
        while len(taken) < _SWEEP_AT_ONCE:
            try:
                taken.append(self._spent.popleft())
            except IndexError:
                break
        return taken

    def _await_server(self, cause: RedisError, reply: str) -> bytes | None:
        """Wait until Redis is back, for as long as this front's last word may hold there.

        A Redis whose disk is full refuses to wait for an outcome, but one that was committed before
        can be read: it is returned, for it is metered.
        """
        lapses_at = ticks() + AWAITED_SECONDS
        is_over = False
        while not is_over:
            time.sleep(_RECONNECT_SECONDS)
            is_over = ticks() >= lapses_at
            try:
                with guarded(self._redis):
                    text = cast("bytes | None", self._redis.lindex(reply, -1))
                    if text is not None:
                        return text
                    self._redis.ping()
            except RedisError:
                continue
            return None
        with reachable():
            raise cause
