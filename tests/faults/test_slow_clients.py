"""Slow clients delay no other client and are cut off; they connect to the front directly, without a proxy."""

from __future__ import annotations

import http.client
import random
import re
import statistics
import time
import zlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from urllib.request import urlopen

import pytest

from tests.faults.conftest import assert_sound
from tests.faults.farm import FaultyFarm
from tests.faults.slow import Request, slow_clients
from tests.images import png
from tests.waiting import wait_until

pytestmark = pytest.mark.faults

HEAD_SECONDS, BODY_SECONDS = 15, 60  # within which the slow are cut off
OTHERS, ROUND_SECONDS = 4, 6.0
CHECK_MARGIN = 3.0
# A machine that tests share jitters by this much, with or without slow clients.
JITTER_MS = 15.0
# Others are served, where a thread for each client made them wait 30 s.
LONGEST_MS = 2_000.0
SIDE_PIXELS = 1510  # of an image that does not compress: a PDF of 6.6 MB


def unfinished_head(_farm: FaultyFarm) -> Request:
    return b"GET /v2/authcheck HTTP/1.1\r\nHost: x\r\n", b"x-slow: " + b"a" * 1000


def unfinished_body(farm: FaultyFarm) -> Request:
    head = (
        f"POST /v2/pdf HTTP/1.1\r\nHost: x\r\nx-api-key: {farm.key}\r\nContent-Type: text/xml\r\n"
    )
    return f"{head}Content-Length: 100000\r\n\r\n".encode(), b"<document>" + b" " * 1000


def read_of_large_pdf(farm: FaultyFarm) -> Request:
    farm.client().upload("noise", noise(SIDE_PIXELS))
    text = b'<document><flow><img src="noise" width="100mm"/></flow></document>'
    job = call(farm, "POST", "/v2/pdf", text, Prefer="respond-async, wait=30")
    assert 6.0e6 < int(job["Content-Length"]) < 7.5e6
    path = f"/v2/jobs/{job['X-Job-Id']}/pdf"
    return f"GET {path} HTTP/1.1\r\nHost: x\r\nx-api-key: {farm.key}\r\n\r\n".encode(), b""


KINDS = {
    "heads": (unfinished_head, 500, HEAD_SECONDS),
    "bodies": (unfinished_body, 300, BODY_SECONDS),
    "readers": (read_of_large_pdf, 200, BODY_SECONDS),
}


@pytest.mark.parametrize("kind", KINDS)
def test_slow_clients_delay_no_other_client_and_are_cut_off(start, kind) -> None:
    """A fifth of the clients, more than there ever were threads, next to other tests."""
    slowed, _calm = check(start(), kind, share=0.2)
    assert slowed <= LONGEST_MS


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_many_slow_clients_delay_no_other_client_and_are_cut_off(start, kind) -> None:
    slowed, calm = check(start(), kind, share=1.0)
    assert slowed <= 2 * calm + JITTER_MS


def check(farm: FaultyFarm, kind: str, *, share: float) -> tuple[float, float]:
    """Return the 99th percentiles of others, in milliseconds: next to the slow, and without them."""
    make, count, seconds = KINDS[kind]
    request = make(farm)
    port = farm.farm.record.ports["front"]
    measure(farm)  # the first round warms up what it meets
    calm = [measure(farm)]
    began = time.monotonic()
    with slow_clients(port, round(count * share), request) as count_open:
        opened = count_open()
        assert opened == round(count * share)
        # Of heads no application knows; the answers of readers have begun, and are counted no more.
        if kind == "bodies":
            wait_until(lambda: count_in_progress(port) >= opened)
        slowed = measure(farm)
        # While they are still there: the measuring must not have outlasted them.
        assert count_open() == opened
        wait_until(lambda: count_open() == 0, seconds=seconds + CHECK_MARGIN)
        cut_after = time.monotonic() - began
    calm.append(measure(farm))
    farm.faults += opened
    print(
        f"{kind} × {opened}: p99 {slowed:.1f} ms, calm {calm} ms; cut off after {cut_after:.0f} s"
    )
    assert cut_after <= seconds + CHECK_MARGIN
    assert_sound(farm)
    return slowed, statistics.mean(calm)


def count_in_progress(port: int) -> float:
    with urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
        text = answer.read().decode()
    [sample] = re.findall(r"^pressroom_http_requests_in_progress ([0-9.]+)$", text, re.MULTILINE)
    return float(sample)


def measure(farm: FaultyFarm) -> float:
    """Return the 99th percentile, in milliseconds, of what others wait for an answer."""
    with ThreadPoolExecutor(OTHERS) as pool:
        rounds = [pool.submit(ask_for_a_while, farm) for _ in range(OTHERS)]
        times = sorted(each for done in rounds for each in done.result())
    assert len(times) > 50
    return times[int(len(times) * 0.99)] * 1000


def ask_for_a_while(farm: FaultyFarm) -> list[float]:
    """Send an authcheck and a render in turns, each on a new connection; return the seconds."""
    times = []
    text = b"<document><flow><p>Hello</p></flow></document>"
    asks: tuple[Callable[[], object], ...] = (
        lambda: call(farm, "GET", "/v2/authcheck"),
        lambda: call(farm, "POST", "/v2/validate", text),
    )
    give_up_at = time.monotonic() + ROUND_SECONDS
    while time.monotonic() < give_up_at:
        for ask in asks:
            began = time.monotonic()
            ask()
            times.append(time.monotonic() - began)
    return times


def call(
    farm: FaultyFarm, method: str, path: str, body: bytes | None = None, **headers: str
) -> http.client.HTTPMessage:
    port = farm.farm.record.ports["front"]
    sent = {"x-api-key": farm.key, "Content-Type": "text/xml", **headers}
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
        connection.request(method, path, body, sent)
        answer = connection.getresponse()
        assert answer.status == 200, answer.read()[:300]
        answer.read()
        return answer.headers


def noise(side: int) -> bytes:
    """Return a PNG of random pixels, which no filter makes smaller."""
    chance = random.Random(1)
    rows = b"".join(b"\0" + chance.randbytes(3 * side) for _ in range(side))
    return png(side, side, zlib.compress(rows, 1), color_type=2)
