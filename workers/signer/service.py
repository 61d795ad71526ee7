"""Signing for accounts by the certificates of a folder, within limits of concurrent signatures."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from threading import Lock
from typing import Final

from shared.clock import now, ticks
from shared.limits import KB
from shared.signer import SignatureCall, SignatureOutcome
from shared.slots import NoSlotError, Slots
from shared.telemetry import metrics
from shared.telemetry.log import get_logger
from shared.telemetry.observer import Observer
from workers.signer.signing import (
    DEVICE_SUFFIX,
    OpenedCertificate,
    SignatureOptions,
    SigningFailedError,
    StampingFailedError,
    open_key,
    sign_pdf,
)

_ACCOUNT: Final = re.compile(r"[\w-]{1,100}", re.ASCII)
_NAME: Final = re.compile(r"[A-Za-z_][\w.-]{0,99}", re.ASCII)
_MAX_FILE_BYTES: Final = 256 * KB  # a key and a chain of certificates have some 10 KB
_MAX_CACHED: Final = 256
_MAX_SHOWN: Final = 20  # names in a message
_PKCS12, _PASSWORD = ".p12", ".password"
_SOON: Final = timedelta(days=30)


_State = tuple[tuple[int, int, int] | None, ...]


@dataclass(frozen=True, slots=True)
class _CacheEntry:
    """A certificate, or why it cannot be used, and the state of its files when they were read."""

    state: _State
    opened: OpenedCertificate | SigningFailedError


class Certificates:
    """Opens `ACCOUNT_ID.NAME.p12`, or the key of a device by `ACCOUNT_ID.NAME.toml`; thread-safe.

    The password or PIN is in `ACCOUNT_ID.NAME.password`, if any. An account's id has no full stop: it
    reaches no file of another account.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = Lock()
        self._cache: OrderedDict[str, _CacheEntry] = OrderedDict()

    def get(self, account: str, name: str, *, now: datetime) -> OpenedCertificate:
        """Return a certificate of an account.

        Raises:
            SigningFailedError: there is none of that name, or it cannot be used now.
            DeviceFailedError: the device of the key fails.
        """
        if not _ACCOUNT.fullmatch(account) or not _NAME.fullmatch(name):
            raise SigningFailedError("the name of the certificate is not one")
        key = f"{account}.{name}"
        file = self._find_file(key)
        state = _read_state(file), _read_state(self._file(key, _PASSWORD))
        if state[0] is None:
            raise SigningFailedError(self._describe_missing(account, name))
        opened = self._find_cached(key, state) or self._read(key, file, state)
        if isinstance(opened, SigningFailedError):
            raise SigningFailedError(str(opened))
        opened.check(now)
        if _ends_soon(opened, now):
            ends = opened.certificate.not_valid_after_utc
            log.warning("certificate ends soon", account=account, certificate=name, ends=str(ends))
        return opened

    def count_ending(self) -> int:
        """Return how many of the certificates in use end soon, or have ended."""
        at = now()
        with self._lock:
            read = [(key, entry.opened) for key, entry in self._cache.items()]
        return sum(
            isinstance(one, OpenedCertificate)
            and _ends_soon(one, at)
            and self._find_file(key).exists()
            for key, one in read
        )

    def _find_file(self, key: str) -> Path:
        file = self._file(key, _PKCS12)
        return file if file.exists() else self._file(key, DEVICE_SUFFIX)

    def _file(self, key: str, suffix: str) -> Path:
        return self._folder / f"{key}{suffix}"

    def _find_cached(
        self, key: str, state: _State
    ) -> OpenedCertificate | SigningFailedError | None:
        with self._lock:
            entry = self._cache.get(key)
            if entry is None or entry.state != state:
                return None
            self._cache.move_to_end(key)
            return entry.opened

    def _read(self, key: str, file: Path, state: _State) -> OpenedCertificate | SigningFailedError:
        try:
            opened: OpenedCertificate | SigningFailedError = self._open(key, file)
        except SigningFailedError as error:
            log.warning("certificate cannot be used", file=file.name, reason=str(error))
            opened = error
        with self._lock:
            self._cache[key] = _CacheEntry(state, opened)
            while len(self._cache) > _MAX_CACHED:
                self._cache.popitem(last=False)
        return opened

    def _open(self, key: str, file: Path) -> OpenedCertificate:
        try:
            content = _read_file(file)
            password_file = self._file(key, _PASSWORD)
            password = _read_file(password_file) if password_file.exists() else None
        except OSError as error:
            raise SigningFailedError(f"its file cannot be read: {error.strerror}") from error
        if password is not None:
            password = password.partition(b"\n")[0].rstrip(b"\r")
        return open_key(file, content, password)

    def _describe_missing(self, account: str, name: str) -> str:
        files = self._folder.glob(f"{account}.*")
        keys = {file.stem for file in files if file.suffix in (_PKCS12, DEVICE_SUFFIX)}
        names = sorted(key.removeprefix(f"{account}.") for key in keys)
        shown = f"it has: {', '.join(names[:_MAX_SHOWN])}" if names else "it has none"
        return f'the account has no certificate "{name}"; {shown}'


def _ends_soon(opened: OpenedCertificate, at: datetime) -> bool:
    return opened.certificate.not_valid_after_utc - at < _SOON


def _read_state(file: Path) -> tuple[int, int, int] | None:
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size


def _read_file(file: Path) -> bytes:
    with file.open("rb") as opened:
        content = opened.read(_MAX_FILE_BYTES + 1)
    if len(content) > _MAX_FILE_BYTES:
        raise SigningFailedError(f"its file has more than {_MAX_FILE_BYTES:,} bytes")
    return content


MAX_SIGNATURES: Final = 4  # each holds its file in memory a few times
MAX_PER_ACCOUNT: Final = 3  # a slow time stamp of one account must not stop the others
PATIENCE_SECONDS: Final = 5.0
# What a request that raises them ends as; its caller is told too.
REFUSALS: Final[Mapping[type[Exception], SignatureOutcome]] = {
    NoSlotError: SignatureOutcome.BUSY,
    StampingFailedError: SignatureOutcome.UNSTAMPED,
    SigningFailedError: SignatureOutcome.REFUSED,
}

log: Final = get_logger(__name__)


class SigningService:
    """Signs files with the certificates of accounts; thread-safe."""

    def __init__(
        self, certificates: Certificates, observer: Observer, *, timestamp_url: str | None = None
    ) -> None:
        self._certificates = certificates
        self._observer = observer
        self._timestamp_url = timestamp_url
        self._slots = Slots(at_once=MAX_SIGNATURES)

    def sign(self, call: SignatureCall, read_pdf: Callable[[], bytes]) -> bytes:
        """Return a signed file; the given one is read when a slot is free.

        Raises:
            SigningFailedError: the account has no such certificate, or the file cannot be signed.
            NoSlotError: no slot was free in time.
            DeviceFailedError: the device of the key fails.
        """
        begun, outcome = ticks(), SignatureOutcome.FAILED
        # Names and reasons of refused requests may have text of their document, which no log has.
        known: dict[str, str] = {}
        try:
            limits: dict[tuple[str, ...], int] = {("account", call.account): MAX_PER_ACCOUNT}
            with self._slots.acquire(call.account, limits, patience_seconds=PATIENCE_SECONDS):
                signed = self._sign(call, read_pdf(), now())
            outcome, known = SignatureOutcome.SIGNED, {"certificate": call.certificate}
        except tuple(REFUSALS) as error:
            outcome = REFUSALS[type(error)]
            if outcome is SignatureOutcome.UNSTAMPED:
                known = {"certificate": call.certificate, "reason": str(error)}
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
