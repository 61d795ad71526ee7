"""Reading an address once: what is judged here is what is connected to (hazards.md 5)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import SplitResult, quote, urljoin, urlsplit

from shared.outbound.failures import Reason, TargetRefusedError

_PORTS: Final = {"http": 80, "https": 443}
_LONGEST: Final = 8192
# Blanks and control characters are where parsers differ from each other.
_UNSAFE: Final = re.compile(r"[\x00-\x20\x7f\\]")
_NAME: Final = re.compile(r"[A-Za-z0-9._-]{1,253}")
_ADDRESS: Final = re.compile(r"[0-9A-Fa-f:.]{2,45}")
_SAFE_IN_PATH: Final = "/%:@!$&'()*+,;=~?"


@dataclass(frozen=True, slots=True)
class Target:
    """Where a request goes: `host` is ASCII, an IPv6 address without its brackets."""

    scheme: str
    host: str
    port: int
    path: str

    @property
    def url(self) -> str:
        """Give the address back, as redirects are read against it."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}{self.path}"


def parse_target(url: str) -> Target:
    """Parse an address.

    Raises:
        TargetRefusedError: it is no http or https address of a host, or has a user name in it.
    """
    if len(url) > _LONGEST or _UNSAFE.search(url):
        raise TargetRefusedError(
            Reason.MALFORMED, "too long, or with blanks, backslashes or control characters"
        )
    try:
        parts = urlsplit(url)
    except ValueError as error:
        raise TargetRefusedError(Reason.MALFORMED, f"not an address: {error}") from error
    if parts.scheme not in _PORTS:
        raise TargetRefusedError(Reason.SCHEME, "the scheme is neither http nor https")
    if "@" in parts.netloc:
        raise TargetRefusedError(Reason.CREDENTIALS, "a user name is given")
    port = _read_port(parts)
    path = quote(parts.path or "/", safe=_SAFE_IN_PATH)
    query = f"?{quote(parts.query, safe=_SAFE_IN_PATH)}" if parts.query else ""
    return Target(
        parts.scheme, _read_host(parts.hostname), port or _PORTS[parts.scheme], path + query
    )


def follow(target: Target, location: str) -> Target:
    """Parse the address a redirect names, which may be relative.

    Raises:
        TargetRefusedError: as of `parse_target`.
    """
    try:
        return parse_target(urljoin(target.url, location))
    except ValueError as error:
        raise TargetRefusedError(Reason.MALFORMED, f"not an address: {error}") from error


def _read_port(parts: SplitResult) -> int | None:
    try:
        port = parts.port
    except ValueError as error:
        raise TargetRefusedError(Reason.PORT, f"not a port: {error}") from error
    if port == 0:
        raise TargetRefusedError(Reason.PORT, "port 0")
    return port


def _read_host(host: str | None) -> str:
    if not host:
        raise TargetRefusedError(Reason.MALFORMED, "no host")
    if ":" in host:
        if not _ADDRESS.fullmatch(host):
            raise TargetRefusedError(Reason.MALFORMED, "not an IPv6 address")
        return host
    try:
        name = host.encode("idna").decode("ascii")
    except UnicodeError as error:
        raise TargetRefusedError(Reason.MALFORMED, "not a host name") from error
    if not _NAME.fullmatch(name):
        raise TargetRefusedError(Reason.MALFORMED, "not a host name")
    return name
