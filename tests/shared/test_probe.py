"""The HTTP endpoints of processes without a web server."""

from __future__ import annotations

import socket
import struct
from contextlib import closing
from urllib.request import urlopen

import pytest
from structlog.testing import capture_logs

from deploy.embedded.loopback import free_port
from shared.telemetry.probe import start_probe
from tests.waiting import wait_until


@pytest.fixture
def probe():
    """Start a probe with metrics that are larger than any buffer between it and a scraper."""
    server = start_probe(free_port(), lambda: b"m 1\n" * 4_000_000, address="127.0.0.1")
    yield server
    server.shutdown()
    server.server_close()


def test_a_scraper_that_hangs_up_leaves_one_line_of_the_log(probe, capfd):
    with (
        capture_logs() as logged,
        closing(socket.create_connection(probe.server_address)) as scraper,
    ):
        scraper.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
        scraper.recv(10)
        # Closing resets the connection, instead of waiting for what was not read.
        scraper.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        scraper.close()
        wait_until(lambda: logged)
    assert [line["event"] for line in logged] == ["scrape not answered"]
    assert "Traceback" not in capfd.readouterr().err
    with urlopen(f"http://127.0.0.1:{probe.server_address[1]}/healthz", timeout=10) as answer:
        assert answer.status == 200
