"""Targets of outbound requests: parsed URLs, the classes of their addresses, and errors that a client may read."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Final
from urllib.parse import SplitResult, quote, urljoin, urlsplit


class Reason(StrEnum):
    """The reason of a refused URL that its client may see.

    It does not reveal internal services: a host that is not public is refused before connecting, and a
    refused redirect does not reveal its target.
    """

    MALFORMED = "malformed"
    SCHEME = "scheme"
    CREDENTIALS = "credentials"
    PORT = "port"
    HOST_UNKNOWN = "host-unknown"
    NOT_PUBLIC = "not-public"
    REDIRECT = "redirect"
    OTHER = "other"  # from a fetcher of another release


_TEXTS: Final = {
    Reason.MALFORMED: (
        "it is not a well-formed address of at most 8,192 characters, such as https://example.com/path"
    ),
    Reason.SCHEME: "its scheme must be http or https",
    Reason.CREDENTIALS: "it must not contain a user name or a password",
    Reason.PORT: "its port must be a number from 1 to 65535",
    Reason.HOST_UNKNOWN: "its host is unknown: no address was found for that name",
    Reason.NOT_PUBLIC: "its host must have addresses on the public internet only",
    Reason.REDIRECT: "it redirects to an address that is refused",
    Reason.OTHER: (
        "it must be an http or https address without user name or password, of a public host that has "
        "public addresses only"
    ),
}


class TargetRefusedError(Exception):
    """The URL is not permitted. `cause` is for the log, never for the client."""

    def __init__(self, reason: Reason, cause: str) -> None:
        super().__init__(_TEXTS[reason])
        self.reason: Final = reason
        self.cause: Final = cause


class NotCachedError(Exception):
    """The fetcher keeps nothing of the address that may be used now."""


class TargetUnreachableError(Exception):
    """The server of a permitted URL gave no usable response; the message states the reason."""


class TargetTooLargeError(TargetUnreachableError):
    """The response exceeds the size limit of the request."""


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


_CLOSED_IPV4: Final = tuple(
    IPv4Network(network)
    for network in (
        "0.0.0.0/8",  # this network
        "10.0.0.0/8",
        "100.64.0.0/10",  # shared by carriers (RFC 6598)
        "127.0.0.0/8",
        "168.63.129.16/32",  # a cloud's platform service in a public range
        "169.254.0.0/16",  # link local; metadata services of most clouds
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",  # documentation
        "192.31.196.0/24",
        "192.52.193.0/24",
        "192.88.99.0/24",  # 6to4 relays
        "192.168.0.0/16",
        "192.175.48.0/24",
        "198.18.0.0/15",  # benchmarks
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, and broadcast
    )
)
# Global unicast; excludes v4-mapped, NAT64, unique local, link local and multicast addresses.
_UNICAST_IPV6: Final = IPv6Network("2000::/3")
_CLOSED_IPV6: Final = tuple(
    IPv6Network(network)
    for network in (
        "2001::/23",  # protocols: Teredo, ORCHID, benchmarks
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4, which embeds an IPv4 address
        "3fff::/20",  # documentation
    )
)
_PRIVATE_IPV4: Final = tuple(
    IPv4Network(network)
    for network in ("10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16")
)
_PRIVATE_IPV6: Final = (IPv6Network("::1/128"), IPv6Network("fc00::/7"))


def is_public(address: str) -> bool:
    """Return whether an address is public unicast."""
    parsed = ip_address(address)
    if isinstance(parsed, IPv4Address):
        return not any(parsed in network for network in _CLOSED_IPV4)
    return _is_public_ipv6(parsed)


def is_private(address: str) -> bool:
    """Return whether an address is private or loopback.

    Link-local addresses are excluded: they contain the metadata services of clouds, which no setting
    permits.
    """
    parsed = ip_address(address)
    if isinstance(parsed, IPv4Address):
        return any(parsed in network for network in _PRIVATE_IPV4)
    return any(parsed in network for network in _PRIVATE_IPV6)


def _is_public_ipv6(address: IPv6Address) -> bool:
    if address.scope_id is not None or address not in _UNICAST_IPV6:
        return False
    return not any(address in network for network in _CLOSED_IPV6)
