"""Images that a document names by their address, fetched for one job (contract.md 5)."""

from __future__ import annotations

from io import BytesIO
from typing import Final

from shared.limits import (
    MAX_IMAGE_BYTES,
    MAX_REMOTE_BYTES,
    MAX_REMOTE_IMAGES,
    MB,
    REMOTE_IMAGE_SECONDS,
)
from shared.outbound import (
    Ask,
    Fetcher,
    TargetRefusedError,
    TargetTooLargeError,
    TargetUnreachableError,
)
from workers.engine.ports import ImageAwayError

# A turn comes when others have had theirs; each takes as long as a fetch may.
_PATIENCE_SECONDS: Final = REMOTE_IMAGE_SECONDS


class DocumentFullError(ImageAwayError):
    """The document names more images than one may; another document may draw this one."""


class RemoteImages:
    """The images of one job by address: each is asked for once, whatever came of it.

    A document may name 50 addresses and take 128 MB from them; how long all of it may last is the
    render's own budget.
    """

    def __init__(self, fetcher: Fetcher, account_id: str) -> None:
        self._fetcher = fetcher
        self._account_id = account_id
        self._found: dict[str, bytes | ImageAwayError] = {}
        self._bytes_left = MAX_REMOTE_BYTES

    def find(self, address: str) -> bytes:
        """Give the bytes at an address.

        Raises:
            ImageAwayError: they cannot be had; the text says why.
            Unavailable: the fetcher is away or has no turn, which is no fault of the document.
        """
        if address not in self._found:
            self._found[address] = self._fetch(address)
        found = self._found[address]
        if isinstance(found, ImageAwayError):
            raise found
        return found

    def _fetch(self, address: str) -> bytes | ImageAwayError:
        if len(self._found) >= MAX_REMOTE_IMAGES:
            return DocumentFullError(
                f"a document may name {MAX_REMOTE_IMAGES} addresses of images at most"
            )
        file = BytesIO()
        ask = Ask(
            address,
            self._account_id,
            limit_bytes=min(MAX_IMAGE_BYTES, self._bytes_left),
            deadline_seconds=REMOTE_IMAGE_SECONDS,
            patience_seconds=_PATIENCE_SECONDS,
        )
        try:
            status = self._fetcher.download(ask, file)
        except TargetTooLargeError:
            return DocumentFullError(
                f"it is larger than {MAX_IMAGE_BYTES // MB} MB, or all of the document's together "
                f"than {MAX_REMOTE_BYTES // MB} MB"
            )
        except (TargetRefusedError, TargetUnreachableError) as error:
            return ImageAwayError(str(error))
        if not 200 <= status < 300:
            return ImageAwayError(f"its server answers {status}")
        self._bytes_left -= file.tell()
        return file.getvalue()
