"""Fetching of the image or font at a `source_url`."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO, Final, cast

from api.admission.body import SPOOL_BYTES, Body
from api.jobs.concurrency import ConcurrencyLimit
from shared.errors import ErrorKind, ServiceError
from shared.limits import MB, REMOTE_IMAGE_SECONDS
from shared.outbound import (
    Fetcher,
    FetcherBusy,
    FetchRequest,
    TargetRefusedError,
    TargetTooLargeError,
    TargetUnreachableError,
)

# Neither slow remote servers nor one account may occupy all connections of this process.
MAX_AT_ONCE: Final = 64
MAX_OF_ACCOUNT: Final = 8
SLOT_WAIT_SECONDS: Final = 2.0
_TOO_MANY: Final = (
    "Too many {plural} at once: {{at_once}} {plural} of the account are already being fetched."
)


class SourceUrlFetcher:
    """Fetches files of one kind for one process of the front, a bounded number at once.

    `singular` and `plural` name the kind in messages; a file has at most `max_bytes`.
    """

    def __init__(
        self,
        fetcher: Fetcher,
        *,
        singular: str,
        plural: str,
        max_bytes: int,
        at_once: int = MAX_AT_ONCE,
        of_account: int = MAX_OF_ACCOUNT,
    ) -> None:
        self._fetcher = fetcher
        self._slots = threading.BoundedSemaphore(at_once)
        self._limit = ConcurrencyLimit(of_account, _TOO_MANY.format(plural=plural))
        self._singular = singular
        self._plural = plural
        self._max_bytes = max_bytes

    @contextmanager
    def fetch(self, url: str, *, account_id: str) -> Iterator[Body]:
        """Fetch a file into a temporary one, which is deleted when the block ends.

        Raises:
            ServiceError: 400, the address is not allowed or has no file; 413, the file is too large;
                429, too many fetches of the account are in progress; 503, too many of all accounts
                are, or the fetcher is unavailable.
        """
        with tempfile.SpooledTemporaryFile(max_size=SPOOL_BYTES) as file:
            with self._limit.acquire(account_id, seconds=SLOT_WAIT_SECONDS):
                self._fetch(url, cast("BinaryIO", file), account_id)
            size = file.tell()
            file.seek(0)
            yield Body(cast("BinaryIO", file), size)

    def _fetch(self, url: str, file: BinaryIO, account_id: str) -> None:
        if not self._slots.acquire(timeout=SLOT_WAIT_SECONDS):
            raise self._busy()
        try:
            self._download(url, file, account_id)
        finally:
            self._slots.release()

    def _download(self, url: str, file: BinaryIO, account_id: str) -> None:
        ask = FetchRequest(
            url,
            account_id,
            limit_bytes=self._max_bytes,
            deadline_seconds=REMOTE_IMAGE_SECONDS,
            patience_seconds=SLOT_WAIT_SECONDS,
            is_fresh=True,  # bypass the cache: store the current file
        )
        try:
            status = self._fetcher.download(ask, file)
        except FetcherBusy as error:
            raise self._busy() from error
        except TargetRefusedError as error:
            raise ServiceError(400, f"The source_url is not allowed: {error}.") from error
        except TargetTooLargeError as error:
            raise ServiceError(
                413,
                f"The {self._singular} at source_url is larger than {self._max_bytes // MB} MB.",
            ) from error
        except TargetUnreachableError as error:
            raise ServiceError(
                400, f"The {self._singular} at source_url could not be fetched: {error}."
            ) from error
        if not 200 <= status < 300:
            raise ServiceError(
                400,
                f"The {self._singular} at source_url could not be fetched: "
                f"the server responded {status}.",
            )

    def _busy(self) -> ServiceError:
        return ServiceError(
            503,
            f"Too many {self._plural} are being fetched; try again in a few seconds.",
            kind=ErrorKind.UNAVAILABLE,
            headers={"Retry-After": "5"},
        )
