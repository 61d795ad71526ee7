"""Remote images of one job."""

from __future__ import annotations

from contextlib import suppress
from io import BytesIO
from typing import Final

from shared.errors import Unavailable
from shared.jobs.records import FetchedImage, ImageProblem, RenderJob
from shared.limits import (
    MAX_IMAGE_BYTES,
    MAX_REMOTE_BYTES,
    MAX_REMOTE_IMAGES,
    MB,
    REMOTE_IMAGE_SECONDS,
)
from shared.outbound import (
    Fetcher,
    FetchRequest,
    NotCachedError,
    TargetRefusedError,
    TargetTooLargeError,
    TargetUnreachableError,
)
from shared.queue.claims import ClaimLostError, Claims
from workers.engine.ports import ImageUnavailableError

# Slots become free when other fetches end, which take the time limit of a fetch at most.
_PATIENCE_SECONDS: Final = REMOTE_IMAGE_SECONDS
# A page number in a URL can change it in each layout pass.
_MAX_ROUNDS: Final = 5
_BYTES_KEPT: Final = 32 * MB  # of images, for the next documents of a part


class RemoteLimitError(ImageUnavailableError):
    """The document exceeds its limit of remote images; another document may draw this one."""


class RemoteImages:
    """The remote images of one job, or of a part of a batch; each URL is requested once, even after a failure.

    A document may use 50 URLs and 128 MB. The total time is limited by the render's budget.
    """

    def __init__(self, fetcher: Fetcher, account_id: str) -> None:
        self._fetcher = fetcher
        self._account_id = account_id
        self._found: dict[str, bytes | ImageUnavailableError] = {}
        self._bytes_left = MAX_REMOTE_BYTES
        self._most = MAX_REMOTE_IMAGES
        self.wanted: list[str] = []  # URLs that are not fetched yet

    def begin_document(self) -> None:
        """Begin the next document of a part: limits apply to it anew, and what was found is not requested again.

        A batch must not request a letterhead for each document, even after a failure.
        """
        kept, left = dict[str, bytes | ImageUnavailableError](), _BYTES_KEPT
        for address, found in self._found.items():
            size = len(found) if isinstance(found, bytes) else 0
            if size <= left and not isinstance(found, RemoteLimitError):
                kept[address] = found
                left -= size
        self._found, self._bytes_left = kept, MAX_REMOTE_BYTES
        self._most = len(kept) + MAX_REMOTE_IMAGES

    def find(self, address: str) -> bytes:
        """Return the bytes of a URL.

        Raises:
            ImageUnavailableError: the download failed; the message has the reason.
            Unavailable: the fetcher is unavailable or has no free slot.
        """
        if address not in self._found:
            self._found[address] = self._find(address)
        found = self._found[address]
        if isinstance(found, ImageUnavailableError):
            raise found
        return found

    def _find(self, address: str) -> bytes | ImageUnavailableError:
        if len(self._found) >= self._most:
            return RemoteLimitError(
                f"a document may name {MAX_REMOTE_IMAGES} addresses of images at most"
            )
        found = self._fetch(address)
        if isinstance(found, bytes):
            if len(found) > self._bytes_left:
                return _too_large()
            self._bytes_left -= len(found)
        return found

    def _fetch(self, address: str, *, is_cache_only: bool = False) -> bytes | ImageUnavailableError:
        file = BytesIO()
        request = FetchRequest(
            address,
            self._account_id,
            limit_bytes=min(MAX_IMAGE_BYTES, self._bytes_left),
            deadline_seconds=REMOTE_IMAGE_SECONDS,
            patience_seconds=_PATIENCE_SECONDS,
            is_cache_only=is_cache_only,
        )
        try:
            status = self._fetcher.download(request, file)
        except TargetTooLargeError:
            return _too_large()
        except (TargetRefusedError, TargetUnreachableError) as error:
            return ImageUnavailableError(str(error))
        if not 200 <= status < 300:
            return ImageUnavailableError(f"its server answers {status}")
        return file.getvalue()


class AwaitedImages(RemoteImages):
    """The remote images of a job whose front fetches those that are not in the fetcher's cache.

    Slow servers do not block the process: the document is laid out without missing images, to find
    all of their URLs. If any are `wanted`, the result is discarded, and the job runs again when its
    front has fetched them.
    """

    def __init__(self, fetcher: Fetcher, job: RenderJob, claims: Claims) -> None:
        super().__init__(fetcher, job.meter.account_id)
        self._job = job
        self._claims = claims

    def _fetch(self, address: str, *, is_cache_only: bool = True) -> bytes | ImageUnavailableError:
        fetched = self._job.images.get(address)
        with suppress(NotCachedError, ClaimLostError):
            if fetched is not None:
                return self._read(fetched)
            return super()._fetch(address, is_cache_only=is_cache_only)
        if self._job.round >= _MAX_ROUNDS:
            return ImageUnavailableError("its URL changes in each layout pass")
        self.wanted.append(address)
        return ImageUnavailableError("it is not fetched yet")

    def _read(self, fetched: FetchedImage) -> bytes | ImageUnavailableError:
        match fetched.problem:
            case ImageProblem.UNFETCHED:
                raise Unavailable("fetcher", retry_after_seconds=5)
            case ImageProblem.TOO_LARGE:
                return _too_large()
            case ImageProblem.AWAY:
                return ImageUnavailableError(fetched.text)
        assert fetched.claim is not None  # where there is no problem
        return self._claims.load(fetched.claim)


def _too_large() -> RemoteLimitError:
    return RemoteLimitError(
        f"it is larger than {MAX_IMAGE_BYTES // MB} MB, or all of the document's together "
        f"than {MAX_REMOTE_BYTES // MB} MB"
    )
