"""The certificates of accounts: PKCS#12 files of a folder, read again when they change."""

from __future__ import annotations

import re
from collections import OrderedDict
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from threading import Lock
from typing import Final

from shared.limits import KB
from shared.telemetry.log import get_logger
from workers.signer.signing import OpenedCertificate, SigningFailedError, open_certificate

_ACCOUNT: Final = re.compile(r"[\w-]{1,100}", re.ASCII)
_NAME: Final = re.compile(r"[A-Za-z_][\w.-]{0,99}", re.ASCII)
_MAX_FILE_BYTES: Final = 256 * KB  # a key and a chain of certificates have some 10 KB
_MAX_CACHED: Final = 256
_MAX_SHOWN: Final = 20  # names in a message
_SOON: Final = timedelta(days=30)

log: Final = get_logger(__name__)

_State = tuple[tuple[int, int, int] | None, ...]


@dataclass(frozen=True, slots=True)
class _CacheEntry:
    """A certificate, or why it cannot be used, and the state of its files when they were read."""

    state: _State
    opened: OpenedCertificate | SigningFailedError


class Certificates:
    """Opens `ACCOUNT_ID.NAME.p12`, with the password in `ACCOUNT_ID.NAME.password`, if any; thread-safe.

    An account's id has no full stop: it reaches no file of another account.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = Lock()
        self._cache: OrderedDict[str, _CacheEntry] = OrderedDict()

    def get(self, account: str, name: str, *, now: datetime) -> OpenedCertificate:
        """Return a certificate of an account.

        Raises:
            SigningFailedError: there is none of that name, or it cannot be used now.
        """
        if not _ACCOUNT.fullmatch(account) or not _NAME.fullmatch(name):
            raise SigningFailedError("the name of the certificate is not one")
        key = f"{account}.{name}"
        state = _read_state(self._certificate_file(key)), _read_state(self._password_file(key))
        if state[0] is None:
            raise SigningFailedError(self._describe_missing(account, name))
        opened = self._find_cached(key, state) or self._read(key, state)
        if isinstance(opened, SigningFailedError):
            raise SigningFailedError(str(opened))
        opened.check(now)
        if opened.certificate.not_valid_after_utc - now < _SOON:
            ends = opened.certificate.not_valid_after_utc
            log.warning("certificate ends soon", account=account, certificate=name, ends=str(ends))
        return opened

    def _certificate_file(self, key: str) -> Path:
        return self._folder / f"{key}.p12"

    def _password_file(self, key: str) -> Path:
        return self._folder / f"{key}.password"

    def _find_cached(
        self, key: str, state: _State
    ) -> OpenedCertificate | SigningFailedError | None:
        with self._lock:
            entry = self._cache.get(key)
            if entry is None or entry.state != state:
                return None
            self._cache.move_to_end(key)
            return entry.opened

    def _read(self, key: str, state: _State) -> OpenedCertificate | SigningFailedError:
        try:
            opened: OpenedCertificate | SigningFailedError = self._open(key)
        except SigningFailedError as error:
            log.warning("certificate cannot be used", file=f"{key}.p12", reason=str(error))
            opened = error
        with self._lock:
            self._cache[key] = _CacheEntry(state, opened)
            while len(self._cache) > _MAX_CACHED:
                self._cache.popitem(last=False)
        return opened

    def _open(self, key: str) -> OpenedCertificate:
        try:
            content = _read_file(self._certificate_file(key))
            password_file = self._password_file(key)
            password = _read_file(password_file) if password_file.exists() else None
        except OSError as error:
            raise SigningFailedError(f"its file cannot be read: {error.strerror}") from error
        if password is not None:
            password = password.partition(b"\n")[0].rstrip(b"\r")
        return open_certificate(content, password)

    def _describe_missing(self, account: str, name: str) -> str:
        names = sorted(
            file.name.removeprefix(f"{account}.").removesuffix(".p12")
            for file in self._folder.glob(f"{account}.*.p12")
        )
        shown = f"it has: {', '.join(names[:_MAX_SHOWN])}" if names else "it has none"
        return f'the account has no certificate "{name}"; {shown}'


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
