"""Fetching the image that a `source_url` names (interface.md, Images; hazards.md 5)."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO, Final, cast

from api.admission.body import SPOOL_BYTES, Body
from shared.errors import ErrorKind, ServiceError
from shared.limits import MAX_IMAGE_BYTES, MB, REMOTE_IMAGE_SECONDS
from shared.outbound import (
    Ask,
    Fetcher,
    FetcherBusy,
    TargetRefusedError,
    TargetTooLargeError,
    TargetUnreachableError,
)

# Slow servers elsewhere must not hold every thread of this process.
MAX_AT_ONCE: Final = 8
_WAIT_SECONDS: Final = 2.0


class Sources:
    """Fetches for one process of the front, a bounded number at once."""

    def __init__(self, fetcher: Fetcher, *, at_once: int = MAX_AT_ONCE) -> None:
        self._fetcher = fetcher
        self._slots = threading.BoundedSemaphore(at_once)

    @contextmanager
    def receive_source(self, url: str, *, account_id: str) -> Iterator[Body]:
        """Have an image fetched into a file; it is gone when the block ends.

        Raises:
            ServiceError: 400, the address is refused or gives no image; 413, it gives more than
                50 MB; 503, too many are being fetched, or the fetcher is away.
        """
        if not self._slots.acquire(timeout=_WAIT_SECONDS):
            raise _busy()
        with tempfile.SpooledTemporaryFile(max_size=SPOOL_BYTES) as file:
            try:
                self._download(url, cast("BinaryIO", file), account_id)
            finally:
                self._slots.release()
            size = file.tell()
            file.seek(0)
            yield Body(cast("BinaryIO", file), size)

    def _download(self, url: str, file: BinaryIO, account_id: str) -> None:
        ask = Ask(
            url,
            account_id,
            limit_bytes=MAX_IMAGE_BYTES,
            deadline_seconds=REMOTE_IMAGE_SECONDS,
            patience_seconds=_WAIT_SECONDS,
            is_fresh=True,  # what is stored is what lies there now
        )
        try:
            status = self._fetcher.download(ask, file)
        except FetcherBusy as error:
            raise _busy() from error
        except TargetRefusedError as error:
            raise ServiceError(400, f"The source_url is refused: {error}.") from error
        except TargetTooLargeError as error:
            raise ServiceError(
                413, f"The image at source_url is larger than {MAX_IMAGE_BYTES // MB} MB."
            ) from error
        except TargetUnreachableError as error:
            raise ServiceError(400, f"The source_url gives no image: {error}.") from error
        if not 200 <= status < 300:
            raise ServiceError(400, f"The source_url gives no image: its server answers {status}.")


def _busy() -> ServiceError:
    return ServiceError(
        503,
        "Too many images are being fetched at the moment; try again shortly.",
        kind=ErrorKind.UNAVAILABLE,
        headers={"Retry-After": "5"},
    )
