"""Fetching from a server, and its resistance to a hostile one."""

import gzip
import io
import socket
import threading
import time
from contextlib import suppress

import pytest

from shared.outbound import (
    Outbound,
    Reason,
    TargetRefusedError,
    TargetTooLargeError,
    TargetUnreachableError,
)
from tests.servers import answer_nothing

OK = b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Length: 5\r\n\r\nhello"


def fetch(outbound, url, *, limit=1000, seconds=5.0):
    """Return the status and the body of a download."""
    file = io.BytesIO()
    found = outbound.download(url, file, limit_bytes=limit, deadline_seconds=seconds)
    assert found.size == len(file.getvalue())
    return found.status, file.getvalue()


def moved(to, status=302):
    return f"HTTP/1.1 {status} Moved\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n".encode()


def test_a_body_is_fetched(serve, outbound):
    server = serve(OK)
    assert fetch(outbound, server.url("/a?b=c")) == (200, b"hello")
    assert server.requests[0].startswith(b"GET /a?b=c HTTP/1.1\r\n")


def test_requests_accept_no_compression_and_send_no_credentials(
    serve, outbound, monkeypatch, tmp_path
):
    (tmp_path / ".netrc").write_text("machine 127.0.0.1 login me password secret\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    server = serve(OK)
    fetch(outbound, server.url())
    head = server.requests[0].lower()
    assert b"accept-encoding: identity" in head
    assert b"authorization" not in head
    assert b"cookie" not in head


def test_no_proxy_of_the_environment_is_used(serve, outbound, monkeypatch):
    proxy = serve(OK.replace(b"hello", b"proxy"))
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, proxy.url())
    assert fetch(outbound, serve(OK).url())[1] == b"hello"
    assert proxy.requests == []


@pytest.mark.parametrize("status", [400, 404, 500])
def test_a_failure_reports_only_the_status(serve, outbound, status):
    answer = f"HTTP/1.1 {status} No\r\nContent-Length: 6\r\n\r\nsecret".encode()
    fetched = fetch(outbound, serve(answer).url())
    assert fetched == (status, b"")


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1", "localhost", "0x7f.1", "2130706433", "017700000001", "127.1", "0", "0.0.0.0",
        "[::1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[64:ff9b::7f00:1]",
        "[2002:7f00:1::]", "[2001:0:7f00:1::]", "169.254.169.254", "10.0.0.1", "100.64.0.1",
        "127。0。0。1", "①②⑦.0.0.1", "no-such-host.invalid",
    ],
)  # fmt: skip
def test_no_spelling_of_a_private_address_is_connected_to(serve, host):
    server = serve(OK)
    with pytest.raises(TargetRefusedError):
        fetch(Outbound(), server.url(host=host))
    assert server.requests == []


def test_a_host_with_one_private_address_among_public_ones_is_refused(serve):
    server = serve(OK)
    endpoints = [
        (socket.AF_INET, ("93.184.216.34", server.port)),
        (socket.AF_INET, ("127.0.0.1", server.port)),
    ]
    with pytest.raises(TargetRefusedError):
        fetch(Outbound(resolve=lambda *_: endpoints), server.url(host="mixed.example"))
    assert server.requests == []


def test_the_metadata_service_stays_closed_even_where_private_addresses_are_open(outbound):
    with pytest.raises(TargetRefusedError):
        fetch(outbound, "http://169.254.169.254/latest/meta-data/")


def test_a_name_is_resolved_once_so_that_a_second_answer_changes_nothing(serve):
    server = serve(OK)
    answers = [[(socket.AF_INET, ("127.0.0.1", server.port))]]
    outbound = Outbound(allow_private=True, resolve=lambda *_: answers.pop())
    assert fetch(outbound, server.url(host="rebinding.example"))[1] == b"hello"
    assert answers == []


def test_a_name_is_judged_again_after_a_redirect(serve):
    server = serve(moved("/again"))
    answers = [
        [(socket.AF_INET, ("169.254.169.254", 80))],
        [(socket.AF_INET, ("127.0.0.1", server.port))],
    ]
    outbound = Outbound(allow_private=True, resolve=lambda *_: answers.pop())
    with pytest.raises(TargetRefusedError):
        fetch(outbound, server.url(host="rebinding.example"))


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_followed(serve, outbound, status):
    server = serve(OK)
    assert fetch(outbound, serve(moved(server.url("/x"), status)).url())[1] == b"hello"


def test_three_redirects_are_followed_and_a_fourth_is_not(serve, outbound):
    first = serve(OK)
    for _ in range(3):
        first = serve(moved(first.url()))
    assert fetch(outbound, first.url())[1] == b"hello"
    with pytest.raises(TargetUnreachableError, match="more than 3"):
        fetch(outbound, serve(moved(first.url())).url())


@pytest.mark.parametrize(
    "to",
    [
        "http://169.254.169.254/", "file:///etc/passwd", "ftp://127.0.0.1/",
        "http://u:p@127.0.0.1/", "gopher://127.0.0.1:6379/_FLUSHALL", "http://[fe80::1]/",
    ],
)  # fmt: skip
def test_a_redirect_to_a_closed_address_is_refused(serve, outbound, to):
    with pytest.raises(TargetRefusedError) as refused:
        fetch(outbound, serve(moved(to)).url())
    # Of where it leads no more is reported: a server of a stranger chose it.
    assert refused.value.reason is Reason.REDIRECT
    assert to not in str(refused.value)


def test_a_body_of_exactly_the_limit_passes(serve, outbound):
    assert fetch(outbound, serve(OK).url(), limit=5)[1] == b"hello"


def test_a_body_with_an_oversized_content_length_is_not_read(serve, outbound):
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 1001\r\n\r\n"
    with pytest.raises(TargetTooLargeError, match="1,000 bytes"):
        fetch(outbound, serve(head).url(), limit=1000)


def endless(head, piece):
    def answer(connection, _):
        connection.sendall(head)
        with suppress(OSError):
            while True:
                connection.sendall(piece)

    return answer


@pytest.mark.parametrize(
    ("head", "piece"),
    [
        (b"HTTP/1.1 200 OK\r\n\r\n", b"x" * 65536),
        (
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
            b"1000\r\n" + b"x" * 4096 + b"\r\n",
        ),
    ],
)
def test_an_endless_body_is_left_at_the_limit(serve, outbound, head, piece):
    with pytest.raises(TargetTooLargeError):
        fetch(outbound, serve(endless(head, piece)).url(), limit=1_000_000)


@pytest.mark.parametrize(
    ("head", "piece"),
    [
        (b"HTTP/1.1 200 OK\r\n", b"X-Filler: " + b"y" * 1000 + b"\r\n"),
        (b"HTTP/1.1 200 OK\r\nX: ", b"y" * 65536),
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 1000),
        (b"", b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" * 1000),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"0" * 65536),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;x=", b"y" * 65536),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", b"X: " + b"y" * 999 + b"\r\n"),
        (b"", b"\x00" * 65536),
        (b"", b"SSH-2.0-OpenSSH_9.2\r\n" * 100),
    ],
)  # fmt: skip
def test_endless_heads_and_frames_are_left(serve, outbound, head, piece):
    with pytest.raises(TargetUnreachableError) as left:
        fetch(outbound, serve(endless(head, piece)).url(), seconds=60)
    assert "in time" not in str(left.value)  # left for its bytes, before the deadline


@pytest.mark.long
@pytest.mark.parametrize(
    "start",
    [b"", b"HTTP/1.1 200", b"HTTP/1.1 200 OK\r\nX-Slow: ", b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"],
)  # fmt: skip
def test_bytes_that_trickle_in_do_not_hold_it_beyond_the_deadline(serve, outbound, start):
    def trickle(connection, _):
        connection.sendall(start)
        with suppress(OSError):
            while True:  # until the client closes the connection
                connection.sendall(b"1")
                time.sleep(0.05)

    server = serve(trickle)
    with pytest.raises(TargetUnreachableError, match="in time"):
        fetch(outbound, server.url(), seconds=0.5)


@pytest.mark.long
def test_a_silent_server_is_abandoned_at_the_deadline(serve, outbound):
    with pytest.raises(TargetUnreachableError, match="in time"):
        fetch(outbound, serve(answer_nothing).url(), seconds=0.5)


@pytest.mark.long
def test_redirects_share_one_deadline(serve, outbound):
    def slow(connection, _):
        time.sleep(0.4)
        connection.sendall(moved("/on"))

    server = serve(slow)
    with pytest.raises(TargetUnreachableError):
        fetch(outbound, server.url(), seconds=0.6)
    assert len(server.requests) <= 2


@pytest.mark.long
def test_a_resolver_that_hangs_is_not_waited_for():
    is_over = threading.Event()

    def hang(*_):
        is_over.wait(30)
        return []

    with pytest.raises(TargetRefusedError):
        fetch(Outbound(resolve=hang), "http://slow.example/", seconds=0.5)
    assert not is_over.is_set()
    is_over.set()


def test_a_packed_body_is_not_unpacked(serve, outbound):
    bomb = gzip.compress(bytes(10_000_000))
    head = f"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {len(bomb)}\r\n\r\n"
    with pytest.raises(TargetUnreachableError, match="content coding"):
        fetch(outbound, serve(head.encode() + bomb).url(), limit=50_000_000)


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nshort",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5, 6\r\n\r\nhello!",
        b"HTTP/1.1 abc OK\r\n\r\n",
        b"",
    ],
)
def test_an_answer_that_breaks_off_is_no_answer(serve, outbound, answer):
    with pytest.raises(TargetUnreachableError):
        fetch(outbound, serve(answer).url())


def test_a_port_without_a_server_is_unreachable(outbound):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(TargetUnreachableError, match="cannot be connected to"):
        fetch(outbound, f"http://127.0.0.1:{port}/")


@pytest.mark.long
def test_an_address_that_does_not_answer_leaves_time_for_the_next(serve):
    server = serve(OK)
    with socket.create_server(("127.0.0.1", 0), backlog=0) as full:
        port = full.getsockname()[1]
        waiting = [socket.socket() for _ in range(3)]
        for one in waiting:
            one.setblocking(False)
            one.connect_ex(("127.0.0.1", port))
        endpoints = [
            (socket.AF_INET, ("127.0.0.1", port)),
            (socket.AF_INET, ("127.0.0.1", server.port)),
        ]
        outbound = Outbound(allow_private=True, resolve=lambda *_: endpoints)
        assert fetch(outbound, "http://two.example/", seconds=2)[1] == b"hello"
        for one in waiting:
            one.close()


def test_a_call_sends_its_body_and_gives_status_and_excerpt(serve, outbound):
    server = serve(b"HTTP/1.1 202 Accepted\r\nContent-Length: 3000\r\n\r\n" + b"y" * 3000)
    answered = outbound.post(
        server.url("/hook"),
        body=b'{"a":1}',
        headers={"Content-Type": "application/json", "webhook-id": "msg_1"},
        deadline_seconds=5,
    )
    assert (answered.status, answered.retry_after) == (202, None)
    head, _, body = server.requests[0].partition(b"\r\n\r\n")
    assert head.startswith(b"POST /hook HTTP/1.1\r\n")
    assert b"webhook-id: msg_1" in head
    assert body == b'{"a":1}'


def test_informational_responses_are_not_the_answer(serve, outbound):
    hints = b"HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\nContent-Length: 9\r\n\r\n"
    server = serve(b"HTTP/1.1 102 Processing\r\n\r\n" + hints + OK)
    answered = outbound.post(server.url(), body=b"", headers={}, deadline_seconds=5)
    assert answered.status == 200


def test_a_header_cannot_carry_another(serve, outbound):
    server = serve(OK)
    with pytest.raises(ValueError, match="Invalid header value"):
        outbound.post(server.url(), body=b"", headers={"X": "a\r\nY: b"}, deadline_seconds=5)
