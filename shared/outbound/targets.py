"""Parsing of URLs; the parsed target is both checked and connected to."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import SplitResult, quote, urljoin, urlsplit

from shared.outbound.failures import Reason, TargetRefusedError

_PORTS: Final = {"http": 80, "https": 443}
_MAX_URL_LENGTH: Final = 8192
# White space and control characters, in which URL parsers differ.
_UNSAFE: Final = re.compile(r"[\x00-\x20\x7f\\]")
_NAME: Final = re.compile(r"[A-Za-z0-9._-]{1,253}")
_ADDRESS: Final = re.compile(r"[0-9A-Fa-f:.]{2,45}")
_SAFE_IN_PATH: Final = "/%:@!$&'()*+,;=~?"


@dataclass(frozen=True, slots=True)
class Target:
    """The parts of a URL: `host` is ASCII, IPv6 addresses have no brackets."""

    scheme: str
    host: str
    port: int
    path: str

    @property
    def url(self) -> str:
        """The URL, as the base of redirects."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}{self.path}"


def parse_target(url: str) -> Target:
    """Parse a URL.

    Raises:
        TargetRefusedError: it is not an http or https URL with a host, or contains a user name.
    """
    if len(url) > _MAX_URL_LENGTH or _UNSAFE.search(url):
        raise TargetRefusedError(
            Reason.MALFORMED, "too long, or contains white space, backslashes or control characters"
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


def follow_redirect(target: Target, location: str) -> Target:
    """Parse the URL of a redirect, which may be relative.

    Raises:
        TargetRefusedError: see `parse_target`.
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
