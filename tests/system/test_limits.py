"""The limits of the interface hold on the live farm, and large bodies cost the front no memory of their size."""

import os
import socket
import threading
import zlib
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from shared.limits import MAX_BODY_BYTES, MAX_IMAGE_BYTES, MB
from tests.images import chunk, png

BODIES = 32
UPLOADS = 8
XML = {"Content-Type": "text/xml"}


@pytest.fixture
def account(farm, make_account):
    return make_account(farm, plan="paid")


@pytest.mark.alone
def test_32_bodies_of_32_mb_at_once_leave_the_front_small(farm, account):
    # Not well-formed from its first byte, so that the worker is done with it at once.
    body = memoryview(b"x" * MAX_BODY_BYTES)
    lines = [("POST /v2/pdf", "text/xml")] * BODIES
    statuses, _, most = send_at_once(farm, account, lines, body)
    assert set(statuses) == {400}
    assert most <= 512 * MB


@pytest.mark.alone
def test_an_image_of_50_mb_costs_the_front_no_50_mb(farm, account):
    image = memoryview(large_png(MAX_IMAGE_BYTES))
    lines = [(f"PUT /v2/images/large-{number}", "image/png") for number in range(UPLOADS)]
    statuses, waiting, most = send_at_once(farm, account, lines, image)
    assert statuses == [201] * UPLOADS
    assert waiting <= UPLOADS * 5 * MB
    assert most <= 2 * 50 * MB
    too_large = account.request(
        "PUT", "/v2/images/too-large", bytes(image) + b"x", headers={"Content-Type": "image/png"}
    )
    assert too_large.status == 413


def send_at_once(farm, account, lines, body):
    """Send a body in several requests, the last byte of each once all have sent the rest.

    Return the statuses, and the bytes of the front above idle: while all wait, and at most.
    """
    front = Front(farm)
    idle = front.measure()
    with Peak(front) as peak, ThreadPoolExecutor(len(lines)) as pool:
        almost_all, last = threading.Barrier(len(lines) + 1), threading.Event()
        sent = [pool.submit(send_in_two, account, *line, body, almost_all, last) for line in lines]
        almost_all.wait(60)
        waiting = front.measure() - idle
        last.set()
        statuses = [future.result() for future in sent]
    return statuses, waiting, peak.bytes - idle


class Front:
    """The processes of a farm's front."""

    def __init__(self, farm):
        self._first = farm.folder.read_record().processes["front"]

    def measure(self):
        """Return the memory of all the processes."""
        children = Path(f"/proc/{self._first}/task/{self._first}/children").read_text().split()
        return sum(_resident(process) for process in [self._first, *children])


class Peak:
    """The most that the front holds while the block runs."""

    def __init__(self, front):
        self._front = front
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self.bytes = 0

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._over.set()
        self._thread.join()

    def _watch(self):
        while not self._over.wait(0.02):
            self.bytes = max(self.bytes, self._front.measure())


def _resident(process):
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def send_in_two(account, line, content_type, body, almost_all, last):
    """Send all of a body but its end, wait, send the end, and return the status."""
    method, path = line.split()
    head = (
        f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
        f"Authorization: Bearer {account.api_key}\r\nContent-Type: {content_type}\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    address = ("127.0.0.1", account.farm.record.ports["front"])
    with closing(socket.create_connection(address, timeout=90)) as connection:
        connection.sendall(head.encode())
        connection.sendall(body[:-1])
        almost_all.wait(60)
        last.wait(60)
        connection.sendall(body[-1:])
        answer = connection.makefile("rb").readline()
    return int(answer.split()[1])


def large_png(size):
    """Return a PNG of exactly `size` bytes, its pixels in one uncompressed chunk."""
    width, height = 4096, 4096
    row = b"\0" + bytes(range(256)) * (width * 3 // 256)
    data = zlib.compress(row * height, 0)
    filler = size - len(png(width, height, data, color_type=2)) - len(chunk(b"teXt", b""))
    return png(width, height, data, color_type=2, last=chunk(b"teXt", b"x" * filler))
