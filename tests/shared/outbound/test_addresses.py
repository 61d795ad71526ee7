"""Only public unicast addresses are public, however they are written or wrapped."""

import pytest

from shared.outbound.targets import is_private, is_public


@pytest.mark.parametrize(
    "address",
    [
        "1.1.1.1", "93.184.216.34", "172.32.0.1", "100.128.0.1", "192.0.1.1", "223.255.255.254",
        "2606:2800:220:1:248:1893:25c8:1946", "2a00:1450:4001:81b::200e", "2001:4860:4860::8888",
    ],
)  # fmt: skip
def test_these_are_public(address):
    assert is_public(address)
    assert not is_private(address)


@pytest.mark.parametrize(
    "address",
    [
        "0.0.0.0", "0.1.2.3", "10.0.0.1", "100.64.0.1", "127.0.0.1", "127.255.255.254",
        "169.254.169.254", "168.63.129.16", "172.16.0.1", "172.31.255.255", "192.0.0.192",
        "192.0.2.1", "192.88.99.1", "192.168.1.1", "198.18.0.1", "198.51.100.1", "203.0.113.1",
        "224.0.0.1", "239.255.255.250", "240.0.0.1", "255.255.255.255", "::", "::1",
        "::ffff:127.0.0.1", "::ffff:8.8.8.8", "::7f00:1", "64:ff9b::7f00:1", "64:ff9b:1::7f00:1",
        "2001::1", "2001:0:53aa:64c::1", "2001:db8::1", "2002:7f00:1::1", "3fff::1", "fc00::1",
        "fd00:ec2::254", "fe80::1", "fe80::1%eth0", "fec0::1", "ff02::1", "100::1", "5f00::1",
        "2606:2800::1%3",
    ],
)  # fmt: skip
def test_these_are_not(address):
    assert not is_public(address)


@pytest.mark.parametrize("address", ["10.1.1.1", "127.0.0.1", "192.168.0.9", "::1", "fd12::1"])
def test_closed_networks_are_private(address):
    assert is_private(address)


@pytest.mark.parametrize(
    "address",
    [
        "169.254.169.254", "fe80::1", "0.0.0.0", "::", "::ffff:127.0.0.1", "224.0.0.1",
        "2002:7f00::1",
    ],
)  # fmt: skip
def test_link_local_and_wrapped_addresses_are_never_private(address):
    assert not is_private(address)
