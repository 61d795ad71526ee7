"""Bodies that are small on the wire, and expensive to parse, leave the front to other accounts (decision 0399)."""

from __future__ import annotations

import gzip
import http.client
import os
import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from shared.auth.accounts import create_account
from shared.limits import MB
from tests.api.conftest import running_front
from tests.waiting import slowness

SECONDS = 0.25
ATTEMPTS = 3
TICK = 1 / os.sysconf("SC_CLK_TCK")
XML, JSON = "text/xml", "application/json"


def filled(head: bytes, unit: bytes, tail: bytes, *, size: int = 31 * MB) -> Callable[[], bytes]:
    """Return a function that makes a body of this size: all bodies together are a gigabyte."""
    return lambda: head + unit * ((size - len(head) - len(tail)) // len(unit)) + tail


NUMBERS = filled(b'{"template":"<document/>","payload":{"a":[', b"1,", b"1]}}")
OBJECTS = filled(b'{"template":"<document/>","payload":{"a":[', b"{},", b"1]}}")
TEXTS = filled(b'{"template":"<document/>","payload":{"a":[', b'"",', b"1]}}")
ESCAPES = filled(b'{"template":"<document/>","payload":"', b"\\n", b'"}')
TWICE = filled(b'{"template":"<document/>",', b'"page":1,', b'"page":1}')
LINKED = filled(b'{"template":"<document><import template=\'a@1\'/>', b"<p/>", b'</document>"}')
ELEMENTS = filled(b"<document>", b"<p/>", b"</document>")
ATTRIBUTES = filled(b"<document>", b"<p a='' b='' c='' d=''/>", b"</document>")
DEEP = filled(b"", b"<p>", b"")
ROWS = filled(b"a,b\n", b",\n", b"")
CELLS = filled(b"a", b",", b"\n", size=MB)
BRACKETS = filled(b"[[", b"[],", b"[]]]")
GROUPS = filled(b"[", b'{"n":1},', b'{"n":1}]')
LINES = filled(b"", b"{}\n", b"")

CASES = {
    "preview numbers": ("POST", "/v2/preview", JSON, NUMBERS),
    "preview objects": ("POST", "/v2/preview", JSON, OBJECTS),
    "preview texts": ("POST", "/v2/preview", JSON, TEXTS),
    "preview escapes": ("POST", "/v2/preview", JSON, ESCAPES),
    "preview twice": ("POST", "/v2/preview", JSON, TWICE),
    "preview links": ("POST", "/v2/preview", JSON, LINKED),
    "template elements": ("POST", "/v2/templates?name=a", XML, ELEMENTS),
    "template attributes": ("POST", "/v2/templates?name=a", XML, ATTRIBUTES),
    "template depth": ("POST", "/v2/templates?name=a", XML, DEEP),
    "new template elements": ("PUT", "/v2/templates/{template}", XML, ELEMENTS),
    "image data": ("POST", "/v2/images", JSON, filled(b'{"name":"abc","data":"', b"QUJD", b'"}')),
    "image numbers": ("POST", "/v2/images", JSON, filled(b'{"name":"abc","data":[', b"1,", b"1]}")),
    "image": ("PUT", "/v2/images/abc", "image/svg+xml", ELEMENTS),
    "font data": ("POST", "/v2/fonts", JSON, filled(b'{"name":"abc","data":"', b"QUJD", b'"}')),
    "font": ("PUT", "/v2/fonts/abc", "font/ttf", filled(b"", b"\0", b"", size=19 * MB)),
    "batch array": ("POST", "/v2/batches?template=service-invoice", JSON, BRACKETS),
    "batch rows": ("POST", "/v2/batches?template=service-invoice", "text/csv", ROWS),
    "batch cells": ("POST", "/v2/batches?template=service-invoice", "text/csv", CELLS),
    "batch lines": ("POST", "/v2/batches?template=service-invoice", "application/x-ndjson", LINES),
    "batch groups": ("POST", "/v2/batches?template=service-invoice&group=n", JSON, GROUPS),
    "batch groups of blanks": ("POST", "/v2/batches?template=service-invoice&group=n", "application/x-ndjson", filled(b"", b"\n", b"")),
    "invoice": ("POST", "/v2/einvoices/check", XML, filled(b"<a>", b"<b/>", b"</a>", size=19 * MB)),
    "form": ("POST", "/v2/forms/extract", "application/pdf", filled(b"%PDF", b"<<>>", b"", size=19 * MB)),
    "render": ("POST", "/v2/pdf", XML, ELEMENTS),
    "render of numbers": ("POST", "/v2/pdf?template=service-invoice", JSON, NUMBERS),
    "render with a key": ("POST", "/v2/pdf", XML, ELEMENTS),
    "validation": ("POST", "/v2/validate?template=service-invoice", "text/csv", ROWS),
    "markdown": ("POST", "/v2/validate?template=service-letter", "text/markdown", filled(b"", b"\n", b"")),
    "version": ("POST", "/v2/templates/{template}/versions", JSON, NUMBERS),
    "tag": ("PUT", "/v2/templates/{template}/tags/a", JSON, NUMBERS),
    "slug": ("POST", "/v2/slugs", JSON, NUMBERS),
    "key": ("POST", "/v2/keys", JSON, NUMBERS),
    "webhook": ("POST", "/v2/webhooks", JSON, NUMBERS),
}  # fmt: skip


@pytest.fixture(scope="module")
def front(settings, tmp_path_factory):
    """Run a front of one process, which a request that computes would hold."""
    budgets = {"PRESSROOM_RENDER_BUDGET": "1", "PRESSROOM_PREVIEW_BUDGET": "1"}
    folder = tmp_path_factory.mktemp("gunicorn")
    with running_front(settings, folder, processes=1, **budgets) as front:
        yield front


@pytest.fixture
def other(database) -> str:
    """Make another account and return its key."""
    with database.session() as session:
        return create_account(session, email="bo@example.org").api_key


def write_request(key, case, *, template="a" * 20):
    method, path, media, body = CASES[case]
    body = gzip.compress(body(), 6)  # which costs the front more than the same as it is
    headers = {"Content-Type": media, "x-api-key": key, "Content-Encoding": "gzip"}
    if case == "render with a key":
        headers["Idempotency-Key"] = f"key-{time.monotonic()}"
    return method, path.format(template=template), body, headers


def send(port, asked) -> int:
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
        connection.request(*asked)
        return connection.getresponse().status


def measure_slowest(front, key, act) -> float:
    """Return the longest that the front computed while another account waited for an answer.

    That is the CPU time of its process: the time of a clock has what other processes take.
    """
    slowest, has_ended = 0.0, threading.Event()
    [worker] = (
        Path(f"/proc/{front.master.pid}/task/{front.master.pid}/children").read_text().split()
    )

    def cpu_seconds() -> float:
        fields = Path(f"/proc/{worker}/stat").read_text().rpartition(") ")[2].split()
        return (int(fields[11]) + int(fields[12])) * TICK

    with closing(http.client.HTTPConnection("127.0.0.1", front.port, timeout=60)) as connection:

        def ask() -> float:
            begun = cpu_seconds()
            connection.request("GET", "/v2/authcheck", headers={"x-api-key": key})
            answer = connection.getresponse()
            answer.read()
            assert answer.status == 200
            return cpu_seconds() - begun

        ask()  # its key is read from the database once
        heavy = threading.Thread(target=lambda: (act(), has_ended.set()))
        heavy.start()
        while not has_ended.is_set():
            slowest = max(slowest, ask())
            has_ended.wait(0.01)
        heavy.join()
    return slowest


@pytest.mark.long
@pytest.mark.alone
@pytest.mark.parametrize("case", CASES)
def test_a_heavy_body_leaves_the_front_to_others(front, account, other, case):
    asked = write_request(account.api_key, case)
    statuses: list[int] = []
    for _ in range(ATTEMPTS):
        seconds = measure_slowest(front, other, lambda: statuses.append(send(front.port, asked)))
        seconds /= slowness()
        if seconds < SECONDS:
            break
    assert seconds < SECONDS, statuses
    assert set(statuses) <= {201, 202, 400, 404, 413, 429, 503, 504}
