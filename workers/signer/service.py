"""Signing for accounts, within limits of concurrent signatures, in total and by account."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from threading import Condition
from typing import Final

from shared.clock import now, ticks
from shared.signer import SignatureCall, SignatureOutcome
from shared.telemetry import metrics
from shared.telemetry.log import get_logger
from shared.telemetry.observer import Observer
from workers.signer.certificates import Certificates
from workers.signer.signing import (
    SignatureOptions,
    SigningFailedError,
    StampingFailedError,
    sign_pdf,
)

MAX_SIGNATURES: Final = 4  # each holds its file in memory a few times
MAX_PER_ACCOUNT: Final = 3  # a slow time stamp of one account must not stop the others
PATIENCE_SECONDS: Final = 5.0

log: Final = get_logger(__name__)


class SignerBusyError(Exception):
    """No slot was free in time."""


class SigningSlots:
    """Grants slots to threads."""

    def __init__(
        self, *, at_once: int = MAX_SIGNATURES, per_account: int = MAX_PER_ACCOUNT
    ) -> None:
        self._at_once = at_once
        self._per_account = per_account
        self._held: Counter[str] = Counter()
        self._changed = Condition()

    @contextmanager
    def acquire(self, account: str, *, patience_seconds: float) -> Iterator[None]:
        """Acquire a slot for the block.

        Raises:
            SignerBusyError: no slot was free in time.
        """
        with self._changed:
            if not self._changed.wait_for(lambda: self._has_room(account), patience_seconds):
                raise SignerBusyError
            self._held[account] += 1
        try:
            yield
        finally:
            with self._changed:
                self._held[account] -= 1
                self._held += Counter()  # drops zero counts
                self._changed.notify_all()

    def _has_room(self, account: str) -> bool:
        return self._held.total() < self._at_once and self._held[account] < self._per_account


class SigningService:
    """Signs files with the certificates of accounts; thread-safe."""

    def __init__(
        self,
        certificates: Certificates,
        observer: Observer,
        *,
        timestamp_url: str | None = None,
        slots: SigningSlots | None = None,
    ) -> None:
        self._certificates = certificates
        self._observer = observer
        self._timestamp_url = timestamp_url
        self._slots = slots or SigningSlots()

    def sign(self, call: SignatureCall, read_pdf: Callable[[], bytes]) -> bytes:
        """Return a signed file; the given one is read when a slot is free.

        Raises:
            SigningFailedError: the account has no such certificate, or the file cannot be signed.
            SignerBusyError: no slot was free in time.
        """
        begun, outcome = ticks(), SignatureOutcome.FAILED
        # Names and reasons of refused requests may have text of their document, which no log has.
        known: dict[str, str] = {}
        try:
            with self._slots.acquire(call.account, patience_seconds=PATIENCE_SECONDS):
                signed = self._sign(call, read_pdf(), now())
            outcome, known = SignatureOutcome.SIGNED, {"certificate": call.certificate}
        except SignerBusyError:
            outcome = SignatureOutcome.BUSY
            raise
        except StampingFailedError as error:
            outcome = SignatureOutcome.UNSTAMPED
            known = {"certificate": call.certificate, "reason": str(error)}
            raise
        except SigningFailedError:
            outcome = SignatureOutcome.REFUSED
            raise
        finally:
            seconds = ticks() - begun
            self._observer.count(metrics.SIGNATURES, outcome)
            self._observer.observe(metrics.SIGNATURE_SECONDS, seconds)
            log.info(
                "signing ended",
                account=call.account,
                outcome=outcome.value,
                milliseconds=round(seconds * 1000),
                **known,
            )
        return signed

    def _sign(self, call: SignatureCall, pdf: bytes, at: datetime) -> bytes:
        opened = self._certificates.get(call.account, call.certificate, now=at)
        options = SignatureOptions(call.field, timestamp_url=self._timestamp_url)
        return sign_pdf(pdf, opened.signer, options, now=at)
