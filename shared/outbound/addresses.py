"""Classification of network addresses by the IANA special-purpose registries.

The standard library's `is_global` changes between releases, so it is not used.
"""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Final

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
    for network in (
        "10.0.0.0/8",
        "100.64.0.0/10",
        "127.0.0.0/8",
        "172.16.0.0/12",
        "192.168.0.0/16",
    )
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
