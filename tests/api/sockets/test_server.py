"""The front under gunicorn, on a socket: large, chunked, truncated and rejected bodies."""

from __future__ import annotations

import http.client
import json
import socket
import threading
import time
from contextlib import closing
from urllib.request import urlopen

import pytest

from shared.limits import MAX_BODY_BYTES, MB
from shared.queue.names import job_key
from tests.waiting import wait_until

XML = {"Content-Type": "application/xml"}
TWO_LENGTHS = (
    b"POST /v2/pdf HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n"
    b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
)


def post(port, body, *, key=None, path="/v2/pdf", headers=XML, chunked=False):
    """Post with a client that sends all of a body before it reads the answer."""
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=30)) as connection:
        sent = dict(headers) | ({"x-api-key": key} if key else {})
        connection.request("POST", path, body, sent, encode_chunked=chunked)
        answer = connection.getresponse()
        return answer.status, answer.read()


def pieces(size, piece=MB):
    for start in range(0, size, piece):
        yield b" " * min(piece, size - start)


def speak(port, text: bytes) -> bytes:
    """Send bytes, say no more, and read all that comes."""
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        connection.sendall(text)
        connection.shutdown(socket.SHUT_WR)
        answer = b""
        while data := connection.recv(65536):
            answer += data
        return answer


@pytest.mark.long
def test_bodies_at_and_over_the_limit(port, account, worker):
    key = account.api_key
    # Exactly 32 MB passes, declared and chunked, and reaches the worker whole.
    assert post(port, b"x" * MAX_BODY_BYTES, key=key)[0] == 200
    assert post(port, pieces(MAX_BODY_BYTES), key=key, chunked=True)[0] == 200
    assert [len(body) for body in bodies_of_jobs(worker)] == [MAX_BODY_BYTES] * 2
    # One byte more is a 413 that the client sees, however it was sent.
    for body, chunked in ((b"x" * (MAX_BODY_BYTES + 1), False), (pieces(MAX_BODY_BYTES + 1), True)):
        status, answer = post(port, body, key=key, chunked=chunked)
        assert status == 413
        assert json.loads(answer)["statusCode"] == 413
    assert len(bodies_of_jobs(worker)) == 2


def bodies_of_jobs(worker):
    """Return the body of each job; a job may have been queued twice if Redis was slow."""
    return {job.id: body for job, body in zip(worker.jobs, worker.bodies, strict=True)}.values()


def test_a_client_that_is_still_sending_gets_the_error(port, account):
    body = b"x" * (8 * MB)
    assert post(port, body)[0] == 401
    assert post(port, body, key=account.api_key, headers={"Content-Type": "text/html"})[0] == 415
    assert post(port, body, key=account.api_key, path="/v2/nothing")[0] == 404
    assert post(port, body, key=account.api_key, path="/v2/pdf?x=1")[0] == 400


def test_a_client_that_stops_sending_gets_the_error_at_once(port, account):
    declared = f"Content-Type: text/xml\r\nContent-Length: {MAX_BODY_BYTES + 1}\r\n\r\n<"
    for key, status in ((account.api_key, 413), ("pr_unknown", 401)):
        head = f"POST /v2/pdf HTTP/1.1\r\nHost: x\r\nx-api-key: {key}\r\n{declared}"
        with socket.create_connection(("127.0.0.1", port), timeout=60) as client:
            client.sendall(head.encode())
            assert client.recv(64).startswith(f"HTTP/1.1 {status} ".encode())


def test_a_truncated_or_malformed_body_is_never_rendered(port, account, worker):
    head = f"POST /v2/pdf HTTP/1.1\r\nHost: x\r\nx-api-key: {account.api_key}\r\n"
    head += "Content-Type: text/xml\r\n"
    for rest in (
        "Content-Length: 100\r\n\r\n<document/>",
        "Transfer-Encoding: chunked\r\n\r\nb\r\n<document/>\r\n",
        "Transfer-Encoding: chunked\r\n\r\nzz\r\n<document/>\r\n0\r\n\r\n",
        "Transfer-Encoding: chunked\r\n\r\nb\r\n<document/>XX0\r\n\r\n",
    ):
        answer = speak(port, (head + rest).encode())
        assert answer.startswith(b"HTTP/1.1 400 "), answer
        assert b'"statusCode":400' in answer
    assert worker.jobs == []


def test_gunicorn_rejects_requests_that_are_not_http(port):
    for text, status in (
        (b"NONSENSE\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nbad header\r\n\r\n", 400),
        (b"GET /healthz HTTP/1.1\r\nHost: x\r\nx-y: a\0b\r\n\r\n", 400),
        (b"GET /healthz HTTP/1.1\r\nHost: x\r\nx-y: a\r\n b\r\n\r\n", 400),
        (b"GET /" + b"a" * 5000 + b" HTTP/1.1\r\n\r\n", 414),
        (b"GET /healthz HTTP/1.1\r\nHost: x\r\nx-y: " + b"a" * 9000 + b"\r\n\r\n", 431),
        (b"GET /healthz HTTP/1.1\r\nHost: x\r\n" + b"x-y: a\r\n" * 200 + b"\r\n", 431),
        (b"POST /v2/pdf HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked,\r\n\r\n0\r\n\r\n", 501),
        (b"POST /v2/pdf HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: br\r\n\r\n", 501),
        (b"POST /v2/pdf HTTP/1.1\r\nHost: x\r\nExpect: 200-ok\r\n\r\n", 417),
        (b"POST /v2/pdf HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n", 400),
        (b"POST /v2/pdf HTTP/1.1\r\nHost: x\r\n" + 2 * b"Content-Length: 1\r\n" + b"\r\nx", 400),
        (b"POST /v2/pdf HTTP/1.1\r\nHost: x\r\nContent-Length: 1, 2\r\n\r\nx", 400),
        (TWO_LENGTHS, 400),
    ):
        answer = speak(port, text)
        check_refusal(answer, status)
        assert answer.count(b"HTTP/1.1 ") == 1
    with urlopen(f"http://127.0.0.1:{port}/healthz") as answer:
        assert answer.headers["Server"] == "gunicorn"  # and no version


def check_refusal(answer: bytes, status: int) -> None:
    """Check that an answer is the JSON error body, and ends its connection."""
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(f"HTTP/1.1 {status} ".encode()), answer[:200]
    assert b"\r\nConnection: close" in head
    assert b"\r\nContent-Type: application/json; charset=utf-8" in head
    error = json.loads(body)
    assert error["statusCode"] == status
    assert error["message"]
    assert error["timestamp"].endswith("Z")


@pytest.mark.parametrize(
    ("framing", "status"),
    [
        ("Transfer-Encoding: chunked,\r\n\r\n", 501),
        (f"Transfer-Encoding: chunked\r\n\r\n{'f' * 16}\r\n", 413),
        (f"Transfer-Encoding: chunked\r\n\r\n{513 * MB:x}\r\nabc", 413),
        ("Transfer-Encoding: chunked\r\n\r\n2100001\r\nabc", 413),
        (f"Content-Length: {'9' * 20}\r\n\r\n", 413),
        (f"Content-Length: {65 * MB}\r\n\r\nabc", 413),
    ],
    ids=repr,
)
def test_what_is_declared_too_large_is_refused_before_it_is_sent(port, account, framing, status):
    head = f"POST /v2/pdf HTTP/1.1\r\nHost: x\r\nx-api-key: {account.api_key}\r\nContent-Type: text/xml\r\n"
    with socket.create_connection(("127.0.0.1", port), timeout=60) as client:
        client.sendall((head + framing).encode())
        answer = b""
        while b"}" not in answer:
            answer += client.recv(65536)
    check_refusal(answer.replace(b"\r\nconnection", b"\r\nConnection"), status)


def test_a_request_of_http_1_1_names_one_host(port):
    for fields in ("", "Host: a b\r\n", "Host: x/y\r\n", "Host: x\r\nHost: x\r\n"):
        answer = speak(port, f"GET /healthz HTTP/1.1\r\n{fields}\r\n".encode())
        assert answer.startswith(b"HTTP/1.1 400 "), fields
    for fields in ("Host:\r\n", "Host: [::1]:8000\r\n", "Host: a-b.example:80\r\n"):
        answer = speak(port, f"GET /healthz HTTP/1.1\r\n{fields}\r\n".encode())
        assert answer.startswith(b"HTTP/1.1 200 "), fields
    assert speak(port, b"GET /healthz HTTP/1.0\r\n\r\n").startswith(b"HTTP/1.0 200 ")


def test_a_transfer_coding_other_than_chunked_is_not_supported(port, account, worker):
    head = f"POST /v2/pdf HTTP/1.1\r\nHost: x\r\nx-api-key: {account.api_key}\r\n"
    head += "Content-Type: text/xml\r\nTransfer-Encoding: "
    for coding in ("gzip, chunked", "gzip\r\nTransfer-Encoding: chunked", "identity, chunked"):
        answer = speak(port, f"{head}{coding}\r\n\r\nb\r\n<document/>\r\n0\r\n\r\n".encode())
        assert answer.startswith(b"HTTP/1.1 501 "), answer
        assert b"accepted is chunked" in answer
    assert worker.jobs == []


def test_a_chunk_size_may_have_any_number_of_digits(port, account, worker):
    head = f"POST /v2/pdf HTTP/1.1\r\nHost: x\r\nx-api-key: {account.api_key}\r\n"
    head += "Content-Type: text/xml\r\nTransfer-Encoding: chunked\r\n\r\n"
    rest = "\r\n<document/>\r\n0\r\n\r\n"
    # In 64 bits the second would be 0, and the third 11: a body of its own would follow.
    for size in ("f" * 17, "1" + "0" * 16, "1" + "b".zfill(16), "f" * 9000):
        answer = speak(port, (head + size + rest).encode())
        assert answer.startswith(b"HTTP/1.1 413 "), size
        assert answer.count(b"HTTP/1.1 ") == 1
    assert worker.jobs == []
    assert speak(port, (head + "b".zfill(17) + rest).encode()).startswith(b"HTTP/1.1 200 ")
    assert [bytes(body) for body in bodies_of_jobs(worker)] == [b"<document/>"]


def test_the_front_takes_every_form_of_a_target(port, account):
    key = f"Host: x\r\nx-api-key: {account.api_key}\r\n\r\n"
    for text, start in (
        (f"GET http://other.example/v2/authcheck HTTP/1.1\r\n{key}", "200 OK"),
        ("OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n", "204 "),
        (f"TRACE / HTTP/1.1\r\n{key}", "405 "),
        (f"HEAD /v2/authcheck HTTP/1.1\r\n{key}", "200 OK"),
    ):
        assert speak(port, text.encode()).startswith(f"HTTP/1.1 {start}".encode()), text


def test_a_client_that_expects_100_is_told_to_continue(port, account, worker):
    head = f"POST /v2/pdf HTTP/1.1\r\nHost: x\r\nx-api-key: {account.api_key}\r\n"
    head += "Expect: 100-continue\r\nContent-Type: text/xml\r\nContent-Length: 4\r\n\r\n<d/>"
    answer = speak(port, head.encode())
    assert answer.startswith(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n")


@pytest.mark.parametrize(
    ("target", "told"),
    [
        ("/v2/templates?name=%ff", "Invalid query parameter name: it is not UTF-8."),
        ("/v2/templates?name=%zz", "Invalid percent-encoding '%zz' in the query parameter name:"),
        ("/v2/templates?name=a%2", "Invalid percent-encoding '%2' in the query parameter name:"),
        ("/v2/templates?name=a%00b", "Invalid query parameter name: it contains a NUL"),
        ("/v2/templates?%e4=1", "Invalid query parameter: it is not UTF-8."),
        ("/v2/templates?limit=1&limit=2", "Query parameter limit was sent twice"),
        ("/v2/templates?nam=1", "Unknown query parameter 'nam'"),
        ("/v2/templates?name=%ed%a0%80", "Invalid query parameter name: it is not UTF-8."),
        ("/v2/jobs/%ff", "Invalid path: it is not UTF-8."),
        ("/v2/jobs/%zz", "Invalid percent-encoding '%zz' in the path:"),
        ("/v2/webhooks/a%00b", "Invalid path: it contains a NUL"),
    ],
)
def test_a_malformed_path_or_query_is_400_with_the_field(port, account, target, told):
    key = f"Host: x\r\nx-api-key: {account.api_key}\r\nConnection: close\r\n\r\n"
    answer = speak(port, f"GET {target} HTTP/1.1\r\n{key}".encode())
    assert answer.startswith(b"HTTP/1.1 400 "), answer
    assert json.loads(answer.partition(b"\r\n\r\n")[2])["message"].startswith(told)


def test_escapes_of_ordinary_characters_are_accepted(port, account):
    key = f"Host: x\r\nx-api-key: {account.api_key}\r\n\r\n"
    for target in ("/v2/templates?%6cimit=5&&name=a+%C3%A4%2B", "/v2/%74emplates", "/docs?"):
        answer = speak(port, f"GET {target} HTTP/1.1\r\n{key}".encode())
        assert answer.startswith(b"HTTP/1.1 200 "), answer


@pytest.mark.long
@pytest.mark.parametrize("path", ["/v2/pdf", "/v2/validate"])
def test_a_render_whose_client_hangs_up_is_cancelled_and_not_metered(port, account, worker, path):
    committed = []

    def answer(job):
        wait_until(lambda: worker.redis.hget(job_key(job.id), "done"))
        committed.append(worker.redis.hget(job_key(job.id), "done"))
        return worker.succeed(job)

    worker.answer = answer
    hang_up(port, account, worker, path)
    wait_until(lambda: committed)
    assert committed == [b"cancelled"]
    key = f"Host: x\r\nx-api-key: {account.api_key}\r\n\r\n"
    usage = speak(port, f"GET /v2/account/usage HTTP/1.1\r\n{key}".encode())
    assert b'"apiCalls":0' in usage


@pytest.mark.long
def test_a_waiting_render_whose_client_hangs_up_never_runs(port, account, worker):
    worker.consume("nothing")
    hang_up(port, account, worker)
    wait_until(lambda: b"cancelled" in states(worker))
    worker.consume("interactive")
    assert post(port, b"<after/>", key=account.api_key)[0] == 200
    assert worker.bodies == [b"<after/>"]


@pytest.mark.long
def test_a_render_with_an_idempotency_key_is_done_though_its_client_hangs_up(port, account, worker):
    go_on = threading.Event()
    worker.answer = lambda job: go_on.wait(60) and worker.succeed(job)
    hang_up(port, account, worker, fields="Idempotency-Key: k\r\n")
    time.sleep(2.5)
    go_on.set()
    sent = XML | {"Idempotency-Key": "k"}
    wait_until(lambda: post(port, b"<d/>", key=account.api_key, headers=sent)[0] == 200)
    assert len(worker.jobs) == 1


def hang_up(port, account, worker, path="/v2/pdf", fields=""):
    before = len(states(worker))
    with socket.create_connection(("127.0.0.1", port)) as client:
        head = f"POST {path} HTTP/1.1\r\nHost: x\r\nx-api-key: {account.api_key}\r\n{fields}"
        head += "Content-Type: application/xml\r\nContent-Length: 4\r\n\r\n<d/>"
        client.sendall(head.encode())
        wait_until(lambda: len(states(worker)) > before)


def states(worker):
    """Return what ended each job that is in Redis, None where nothing did."""
    jobs = {key[:32] for key in worker.redis.scan_iter("job:*")}
    return [worker.redis.hget(key, "done") for key in jobs]


@pytest.mark.parametrize(
    "path",
    [
        *("//metrics", "/metrics/", "/metrics%2F", "/./metrics", "/docs/../metrics"),
        *("//readyz", "/readyz/"),
    ],
)
def test_paths_of_operators_have_one_spelling(port, path):
    answer = speak(port, f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
    assert answer.startswith(b"HTTP/1.1 404 ")
