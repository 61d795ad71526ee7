"""Images that a document names by their address, fetched for one job (contract.md 5)."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

from shared.limits import (
    MAX_IMAGE_BYTES,
    MAX_REMOTE_BYTES,
    MAX_REMOTE_IMAGES,
    MB,
    REMOTE_IMAGE_SECONDS,
)
from shared.outbound import (
    Outbound,
    TargetRefusedError,
    TargetTooLargeError,
    TargetUnreachableError,
)
from shared.telemetry import log
from workers.engine.ports import ImageAwayError

_log: Final = log.get_logger(__name__)


class DocumentFullError(ImageAwayError):
    """The document names more images than one may; another document may draw this one."""


class RemoteImages:
    """The images of one job by address: each is asked for once, whatever came of it.

    A document may name 50 addresses and take 128 MB from them; how long all of it may last is the
    render's own budget.
    """

    def __init__(self, outbound: Outbound) -> None:
        self._outbound = outbound
        self._found: dict[str, bytes | ImageAwayError] = {}
        self._bytes_left = MAX_REMOTE_BYTES

    def find(self, address: str) -> bytes:
        """Give the bytes at an address.

        Raises:
            ImageAwayError: they cannot be had; the text says why.
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
        limit = min(MAX_IMAGE_BYTES, self._bytes_left)
        try:
            fetched = self._outbound.fetch(
                address, limit_bytes=limit, deadline_seconds=REMOTE_IMAGE_SECONDS
            )
        except TargetTooLargeError:
            return DocumentFullError(
                f"it is larger than {MAX_IMAGE_BYTES // MB} MB, or all of the document's together "
                f"than {MAX_REMOTE_BYTES // MB} MB"
            )
        except (TargetRefusedError, TargetUnreachableError) as error:
            return ImageAwayError(str(error))
        if not 200 <= fetched.status < 300:
            return ImageAwayError(f"its server answers {fetched.status}")
        self._bytes_left -= len(fetched.body)
        _log.info("remote image fetched", host=urlsplit(address).hostname, bytes=len(fetched.body))
        return fetched.body
