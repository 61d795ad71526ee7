"""Reply lists: fronts wait for outcomes, or abandon jobs for good."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator
from typing import Final, cast

from redis import Redis, RedisError

from shared.clock import ticks
from shared.jobs.records import Claim, ClaimStorage, JobOutcome, OutcomeStatus, decode_reply
from shared.queue.claims import CLAIM_TTL_SECONDS, Claims
from shared.queue.client_presence import AWAITED_SECONDS, ClientPresence
from shared.queue.connection import BLOCK_SECONDS, reachable
from shared.queue.names import job_key, reply_key
from shared.queue.scripts import register
from shared.telemetry import metrics
from shared.telemetry.observer import NULL_OBSERVER, Observer

_RECONNECT_SECONDS: Final = 0.1
_SWEEP_AT_ONCE: Final = 100


class Replies:
    """Waits for outcomes and fetches their PDFs; thread-safe."""

    def __init__(self, redis: Redis, claims: Claims, *, observer: Observer = NULL_OBSERVER) -> None:
        self._observer = observer
        self._redis = redis
        self._claims = claims
        self._abandon = register(redis, "abandon")
        self._presence = ClientPresence(redis)
        # Keys that were read and can be deleted, in the round trip of the next wait. If the process ends
        # first, they expire.
        self._spent: deque[str] = deque()

    def wait(
        self,
        job_id: str,
        *,
        timeout_seconds: float,
        between: Callable[[], object] = lambda: None,
    ) -> JobOutcome | None:
        """Wait until a just published job ends or is suspended; return None after the time-out.

        Restarts of Redis are tolerated while the outcome can still be committed.
        `between` is called after each second without an outcome.

        Raises:
            Unavailable: Redis was unreachable for `AWAITED_SECONDS`; the job is not metered.
        """
        give_up_at = ticks() + timeout_seconds
        is_noted = True  # `Broker.publish` did; each wait from the second on renews the presence
        while (left := give_up_at - ticks()) > 0:
            try:
                text = self._wait_briefly(job_id, min(left, BLOCK_SECONDS), is_noted=is_noted)
            except RedisError as error:
                text = self._await_server(error, reply_key(job_id))
                if text is None:
                    is_noted = False
                    continue
            if text is not None:
                outcome = decode_reply(text)
                if outcome.status is OutcomeStatus.SUSPENDED:
                    self._take_out(job_id, text)
                else:
                    self._spent.append(reply_key(job_id))
                return outcome
            between()
            is_noted = False
        return None

    def _take_out(self, job_id: str, text: bytes) -> None:
        """Remove a reply from its list, to which the outcome may still be pushed."""
        with reachable():
            self._redis.lrem(reply_key(job_id), 1, text)  # type: ignore[arg-type] # bytes as they came

    def abandon(self, job_id: str) -> JobOutcome | None:
        """Abandon the job, so that it is neither committed nor metered; return None.

        If the job ended just before, return its outcome.

        Raises:
            Unavailable: Redis is unreachable; the job ends at its deadline.
        """
        keys = [job_key(job_id), reply_key(job_id)]
        with reachable():
            text = cast("bytes | None", self._abandon(keys=keys, args=[CLAIM_TTL_SECONDS]))
        if text is not None:
            return decode_reply(text)
        self._observer.count(metrics.ABANDONED)
        return None

    def fetch_pdf(self, claim: Claim) -> Iterator[bytes]:
        """Yield the bytes of a PDF, `claim.size` in total, in chunks; then delete them.

        Raises:
            ClaimLostError: the bytes were deleted or have expired; raised by the first iteration.
        """
        yield from self._claims.stream(claim)
        if claim.home is ClaimStorage.REDIS:
            self._spent.append(claim.key)
        else:
            self._claims.delete_claim(claim)

    def _wait_briefly(self, job_id: str, seconds: float, *, is_noted: bool) -> bytes | None:
        reply = reply_key(job_id)
        if not is_noted:
            self._presence.renew(job_id)
        pipe = self._redis.pipeline(transaction=False)
        if spent := self._take_spent():
            pipe.unlink(*spent)
        # The outcome is moved from the list onto itself, which reads it without removing it: a reply
        # lost with its connection can be read again.
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
        """Wait until Redis is reachable again, at most until this front's presence expires.

        A Redis with a full disk refuses blocking reads, but an outcome that was already committed, and so
        metered, can be read: return it.
        """
        lapses_at = ticks() + AWAITED_SECONDS
        is_over = False
        while not is_over:
            time.sleep(_RECONNECT_SECONDS)
            is_over = ticks() >= lapses_at
            try:
                text = cast("bytes | None", self._redis.lindex(reply, -1))
                if text is not None:
                    return text
                self._redis.ping()
            except RedisError:
                continue
            return None
        with reachable():
            raise cause
