"""Fetching of the remote images that a suspended job needs, before it is queued again."""

from __future__ import annotations

import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import copy_context
from threading import Lock
from typing import BinaryIO, Final, cast

from api.admission.body import SPOOL_BYTES
from shared.clock import epoch
from shared.errors import ErrorCode, ServiceError, Unavailable
from shared.jobs.records import Claim, FetchedImage, ImageProblem, RenderJob
from shared.limits import MAX_IMAGE_BYTES, MAX_REMOTE_BYTES, REMOTE_IMAGE_SECONDS
from shared.outbound import (
    Fetcher,
    FetchRequest,
    TargetRefusedError,
    TargetTooLargeError,
    TargetUnreachableError,
)
from shared.queue.claims import Claims

_RETRY_SECONDS: Final = 5


class ConcurrencyLimit:
    """A semaphore per account for what is in flight in this process, such as `images` that are `fetched`."""

    def __init__(self, at_once: int, things: str, done: str) -> None:
        self._at_once = at_once
        self._things, self._done = things, done
        self._changed = threading.Condition()
        self._held: Counter[str] = Counter()

    @contextmanager
    def acquire(self, account_id: str, *, seconds: float) -> Iterator[None]:
        """Acquire a slot of the account for the block.

        Raises:
            ServiceError: 429 with `Retry-After`, no slot was free in time.
        """
        with self._changed:
            is_free = self._changed.wait_for(
                lambda: self._held[account_id] < self._at_once, timeout=seconds
            )
            if not is_free:
                raise self._too_many()
            self._held[account_id] += 1
        try:
            yield
        finally:
            with self._changed:
                self._held[account_id] -= 1
                if not self._held[account_id]:
                    del self._held[account_id]
                self._changed.notify_all()

    def _too_many(self) -> ServiceError:
        return ServiceError(
            429,
            f"Too many {self._things} at once: {self._at_once} {self._things} of the account are "
            f"already being {self._done}. Try again in {_RETRY_SECONDS} s.",
            code=ErrorCode.RATE_LIMITED,
            headers={"Retry-After": str(_RETRY_SECONDS)},
        )


_AT_ONCE: Final = 8  # per job: the fetcher's limit per account
# Per account in this process, so that one account does not occupy the fetcher; further fetches wait here.
FETCHES: Final = ConcurrencyLimit(16, "images", "fetched")
# A slot may be occupied for as long as a fetch may take.
_PATIENCE_SECONDS: Final = REMOTE_IMAGE_SECONDS
_LOOK_SECONDS: Final = 1.0


def fetch_images(
    job: RenderJob,
    wanted: Sequence[str],
    *,
    fetcher: Fetcher,
    claims: Claims,
    deadline: float,
    between: Callable[[], object],
) -> RenderJob | None:
    """Return the job with the results of fetching its images, None at the deadline.

    `between` is called every second.
    """
    fetches = _Fetches(job, fetcher, claims, deadline)
    executor = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="images")
    try:
        futures = {
            address: executor.submit(copy_context().run, fetches.fetch, address)
            for address in wanted
        }
        pending: set[Future[FetchedImage]] = set(futures.values())
        while pending and (left := deadline - epoch()) > 0:
            _, pending = wait(pending, timeout=min(left, _LOOK_SECONDS))
            between()
    finally:
        fetches.is_over = bool(pending)
        executor.shutdown(wait=False, cancel_futures=True)
    if pending:
        for claim in fetches.stored:
            claims.delete_claim(claim)
        return None
    fetched = {address: future.result() for address, future in futures.items()}
    return job.replace(images={**job.images, **fetched})


class _Fetches:
    """The fetches of one job; thread-safe."""

    def __init__(self, job: RenderJob, fetcher: Fetcher, claims: Claims, deadline: float) -> None:
        self._job = job
        self._round = job.round + 1
        self._fetcher = fetcher
        self._claims = claims
        self._deadline = deadline
        self._lock = Lock()
        self._bytes_left = MAX_REMOTE_BYTES - sum(
            image.claim.size for image in job.images.values() if image.claim
        )
        self._is_refused = False  # by the fetcher; then no more images are requested
        self.is_over = False
        self.stored: list[Claim] = []

    def fetch(self, address: str) -> FetchedImage:
        """Fetch an image and return the result."""
        account_id, seconds = self._job.meter.account_id, max(self._deadline - epoch(), 0)
        try:
            with FETCHES.acquire(account_id, seconds=seconds):
                return self._fetch(address)
        except TargetTooLargeError:
            return self._without(ImageProblem.TOO_LARGE)
        except (TargetRefusedError, TargetUnreachableError) as error:
            return self._without(ImageProblem.AWAY, str(error))
        except ServiceError as error:
            self._is_refused = isinstance(error, Unavailable)
            return self._without(ImageProblem.UNFETCHED)

    def _fetch(self, address: str) -> FetchedImage:
        if self._is_refused or self.is_over:
            return self._without(ImageProblem.UNFETCHED)
        ask = FetchRequest(
            address,
            self._job.meter.account_id,
            limit_bytes=MAX_IMAGE_BYTES,
            deadline_seconds=REMOTE_IMAGE_SECONDS,
            patience_seconds=_PATIENCE_SECONDS,
        )
        with tempfile.SpooledTemporaryFile(max_size=SPOOL_BYTES) as spool:
            file = cast("BinaryIO", spool)
            status = self._fetcher.download(ask, file)
            if not 200 <= status < 300:
                return self._without(ImageProblem.AWAY, f"its server answers {status}")
            size = file.tell()
            if not self._reserve_bytes(size):
                return self._without(ImageProblem.TOO_LARGE)
            file.seek(0)
            claim = self._claims.store_external(self._job.id, file, size)
        self.stored.append(claim)
        return FetchedImage(self._round, claim)

    def _reserve_bytes(self, size: int) -> bool:
        with self._lock:
            if size > self._bytes_left:
                return False
            self._bytes_left -= size
            return True

    def _without(self, problem: ImageProblem, text: str = "") -> FetchedImage:
        return FetchedImage(self._round, problem=problem, text=text)
