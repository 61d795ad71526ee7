"""The fetcher over HTTP, as fronts and workers ask it: what it fetches, keeps, shares and refuses."""

from __future__ import annotations

import http.client
import json
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from io import BytesIO
from urllib.parse import urlsplit

import pytest
from structlog.testing import capture_logs

from deploy.embedded.loopback import free_port
from shared.errors import Unavailable
from shared.outbound import (
    Fetcher,
    FetcherBusy,
    FetchRequest,
    NotCachedError,
    Reason,
    TargetRefusedError,
    TargetTooLargeError,
)
from shared.telemetry.log import get_log_fields, log_context
from tests.conftest import running_fetcher
from tests.waiting import wait_until
from workers.fetcher import fetching
from workers.fetcher import response_cache as freshness


def say(body=b"bytes", status="200 OK", **headers):
    lines = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
    head = f"HTTP/1.1 {status}\r\n{lines}Content-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


@pytest.fixture
def fetcher(open_fetcher_url):
    return Fetcher(open_fetcher_url)


def fetch(fetcher, url, *, account="acc_1", limit=1_000_000, seconds=5.0, **options):
    file = BytesIO()
    ask = FetchRequest(url, account, limit, seconds, **{"patience_seconds": 5.0, **options})
    return fetcher.download(ask, file), file.getvalue()


def test_a_response_without_cache_headers_is_fetched_once(fetcher, serve):
    server = serve(say())
    for _ in range(5):
        assert fetch(fetcher, server.url("/logo.png")) == (200, b"bytes")
    assert len(server.requests) == 1


def test_large_bytes_come_whole_each_time(fetcher, serve):
    data = bytes(range(256)) * 20_000
    server = serve(say(data))
    for _ in range(2):
        assert fetch(fetcher, server.url(), limit=6_000_000) == (200, data)
    assert len(server.requests) == 1


def test_cached_responses_are_private_to_an_account(fetcher, serve):
    server = serve(say())
    for account in ("acc_1", "acc_2"):
        fetch(fetcher, server.url("/logo.png"), account=account)
    assert len(server.requests) == 2


@pytest.mark.parametrize("said", ["no-store", "private", "no-cache", "max-age=0"])
def test_an_uncacheable_response_is_fetched_again(fetcher, serve, said):
    server = serve(say(Cache_Control=said))
    for _ in range(2):
        assert fetch(fetcher, server.url()) == (200, b"bytes")
    assert len(server.requests) == 2


def test_a_stale_response_is_replaced_by_the_new_bytes(fetcher, serve):
    answers = [say(b"one", Cache_Control="max-age=0"), say(b"two")]
    server = serve(lambda connection, _: connection.sendall(answers.pop(0)))
    assert fetch(fetcher, server.url())[1] == b"one"
    assert fetch(fetcher, server.url())[1] == b"two"
    assert fetch(fetcher, server.url())[1] == b"two"


def test_an_upload_bypasses_the_cache(fetcher, serve):
    server = serve(say())
    fetch(fetcher, server.url())
    fetch(fetcher, server.url(), is_fresh=True)
    assert len(server.requests) == 2


def test_a_request_without_waiting_gets_only_cached_responses(fetcher, serve):
    server = serve(say())
    with pytest.raises(NotCachedError):
        fetch(fetcher, server.url(), is_cache_only=True)
    assert server.requests == []
    fetch(fetcher, server.url())
    assert fetch(fetcher, server.url(), is_cache_only=True) == (200, b"bytes")
    with pytest.raises(NotCachedError):
        fetch(fetcher, server.url(), account="acc_2", is_cache_only=True)
    assert len(server.requests) == 1


def test_a_redirect_is_followed_and_its_word_on_keeping_counts(fetcher, serve):
    target = serve(say())
    for status, times in (("301 Moved", 1), ("302 Found", 2)):
        server = serve(say(b"", status, Location=target.url()))
        for _ in range(2):
            assert fetch(fetcher, server.url()) == (200, b"bytes")
        assert len(server.requests) == times


@pytest.mark.long
def test_concurrent_requests_for_an_address_share_one_fetch(fetcher, serve):
    def slow(connection, _):
        time.sleep(0.5)
        connection.sendall(say())

    server = serve(slow)
    with ThreadPoolExecutor(20) as pool:
        found = list(pool.map(lambda _: fetch(fetcher, server.url()), range(20)))
    assert found == [(200, b"bytes")] * 20
    assert len(server.requests) == 1


def test_a_failure_is_cached_briefly(fetcher, serve, monkeypatch):
    server = serve(say(b"secret", "404 Not Found"))
    for _ in range(3):
        assert fetch(fetcher, server.url()) == (404, b"")
    assert len(server.requests) == 1
    monkeypatch.setattr(fetching, "FAILURE_SECONDS", 0.0)
    fetch(fetcher, server.url("/2"))
    fetch(fetcher, server.url("/2"))
    assert len(server.requests) == 3
    assert freshness.FAILURE_SECONDS <= 5


def test_the_size_limit_also_applies_to_cached_responses(fetcher, serve):
    server = serve(say(b"x" * 1000))
    fetch(fetcher, server.url())
    with pytest.raises(TargetTooLargeError):
        fetch(fetcher, server.url(), limit=999)
    with pytest.raises(TargetTooLargeError):
        fetch(fetcher, serve(b"HTTP/1.1 200 OK\r\nContent-Length: 60000000\r\n\r\n").url())
    assert len(server.requests) == 1


def test_private_addresses_are_refused_by_a_fetch_and_a_check(fetcher_url, serve):
    fetcher, server = Fetcher(fetcher_url), serve(say())
    for url, reason in (
        (server.url(), Reason.NOT_PUBLIC),
        ("http://169.254.169.254/", Reason.NOT_PUBLIC),
        ("http://no-such-host.invalid/", Reason.HOST_UNKNOWN),
        ("ftp://93.184.216.34/", Reason.SCHEME),
        ("http://[::1", Reason.MALFORMED),
    ):
        for ask in (partial(fetch, fetcher), fetcher.check):
            with pytest.raises(TargetRefusedError) as refused:
                ask(url)
            assert refused.value.reason is reason
    fetcher.check("https://93.184.216.34/")
    assert server.requests == []


@pytest.mark.parametrize(
    "url",
    [
        *("", " ", "x" * 300_000, "http://", "http://x/" + "y" * 300_000, "http://\ud800.example/"),
        *("http://93.184.216.34/\r\nHost: x", "http://a@93.184.216.34/", "http://\x00/", "//x"),
        "http://" + "\U0001f600" * 5000,
    ],
)
def test_nothing_a_client_names_is_taken_for_an_outage(fetcher_url, url):
    for ask in (lambda: fetch(Fetcher(fetcher_url), url), lambda: Fetcher(fetcher_url).check(url)):
        with pytest.raises(TargetRefusedError):
            ask()


@pytest.mark.long
def test_a_request_without_a_slot_in_time_gets_a_retry_after(fetcher, serve, monkeypatch):
    monkeypatch.setattr(fetching, "MAX_PER_ACCOUNT_AND_HOST", 1)
    is_refused = threading.Event()

    def hold(connection, _):
        is_refused.wait(60)
        connection.sendall(say())

    server = serve(hold)
    with ThreadPoolExecutor(1) as pool:
        holding = pool.submit(fetch, fetcher, server.url("/1"), seconds=60)
        wait_until(lambda: server.requests)
        with pytest.raises(FetcherBusy) as busy:
            fetch(fetcher, server.url("/2"), patience_seconds=0.1)
        assert (busy.value.body.status, busy.value.headers["Retry-After"]) == (503, "5")
        is_refused.set()
        assert holding.result() == (200, b"bytes")


def test_an_unavailable_fetcher_is_a_503(serve):
    for url in (
        f"http://127.0.0.1:{free_port()}",
        serve(b"HTTP/1.1 200 OK\r\nX-Target-Status: 200\r\nContent-Length: 99\r\n\r\nxyz").url(),
        serve(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nxyz").url(),
        serve(b"HTTP/1.1 500 No\r\nContent-Length: 2\r\n\r\n{}").url(),
        serve(b"").url(),
    ):
        with pytest.raises(Unavailable) as away:
            fetch(Fetcher(url.rstrip("/")), "http://93.184.216.34/")
        assert (away.value.part, away.value.body.status) == ("fetcher", 503)


@pytest.mark.parametrize("url", ["", "https://fetcher:9106", "http://", "fetcher:9106"])
def test_a_wrong_fetcher_url_is_reported_at_once(url):
    with pytest.raises(ValueError, match="PRESSROOM_FETCHER_URL"):
        Fetcher(url)


def post(url, body, content_type="application/json", path="/fetch", method="POST"):
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=60)
    connection.request(method, path, body, {"Content-Type": content_type})
    with connection.getresponse() as answer:
        return answer.status


def test_a_page_in_a_browser_cannot_make_it_fetch(open_fetcher_url, serve):
    server = serve(say())
    ask = {"url": server.url(), "account": "a", "limit_bytes": 9, "deadline_seconds": 1,
           "patience_seconds": 1}  # fmt: skip
    for content_type in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"):
        assert post(open_fetcher_url, json.dumps(ask), content_type) == 415
    assert post(open_fetcher_url, None, method="GET") == 501
    assert server.requests == []


@pytest.mark.parametrize(
    "body",
    [
        "", "[]", "{", "{}", '{"url": "http://93.184.216.34/"}', '{"url": 7, "account": "a"}',
        '{"url":"http://x/","account":"a","limit_bytes":1e99,"deadline_seconds":1,"patience_seconds":1}',
        '{"url":"http://x/","account":"a","limit_bytes":1,"deadline_seconds":NaN,"patience_seconds":1}',
        '{"url":"http://x/","account":"a","limit_bytes":1,"deadline_seconds":1,"patience_seconds":-1}',
        "x" * 300_000,
    ],
)  # fmt: skip
def test_a_malformed_request_is_rejected(fetcher_url, body):
    assert post(fetcher_url, body) == 400


def test_another_path_is_not_there(fetcher_url):
    assert post(fetcher_url, "{}", path="/metrics") == 404


def test_an_abandoned_request_does_not_affect_others(fetcher, open_fetcher_url, serve):
    server = serve(say())
    parts = urlsplit(open_fetcher_url)
    with socket.create_connection((parts.hostname, parts.port)) as gone:
        gone.sendall(b"POST /fetch HTTP/1.1\r\nContent-Type: application/json\r\n")
    assert fetch(fetcher, server.url()) == (200, b"bytes")


def test_the_log_names_the_requesting_account(fetcher, serve):
    def add_context(_logger, _method, event):
        return {**get_log_fields(("request", "job", "secret")), **event}

    with (
        capture_logs(processors=[add_context]) as said,
        log_context(request="req_1", job="job_1", secret="hush"),
    ):
        fetch(fetcher, serve(say()).url("/path?token=hush"))
    (ended,) = [line for line in said if line["event"] == "fetch ended"]
    assert (ended["request"], ended["job"]) == ("req_1", "job_1")
    assert "hush" not in repr(ended)


@pytest.mark.long
def test_a_stopping_fetcher_finishes_its_requests(serve):
    def slow(connection, _):
        time.sleep(0.7)
        connection.sendall(say())

    server = serve(slow)
    with ThreadPoolExecutor(1) as pool:
        with running_fetcher(outbound_allow_private=True) as url:
            asked = pool.submit(fetch, Fetcher(url), server.url())
            wait_until(lambda: server.requests)
        assert asked.result() == (200, b"bytes")
    assert threading.active_count() < 50
