"""The front's connections: idle and slow clients do not block others, and requests in progress are completed."""

from __future__ import annotations

import http.client
import json
import os
import random
import re
import signal
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing

import pytest

from shared.batches.records import item_job_id
from tests.waiting import wait_until

CHECK = "GET /v2/authcheck HTTP/1.1\r\nHost: x\r\nx-api-key: {key}\r\n\r\n"
ALIVE = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"


def call(port):
    return socket.create_connection(("127.0.0.1", port), timeout=60)


def read_answer(connection) -> bytes:
    """Read one answer and nothing after it."""
    answer = b""
    while b"\r\n\r\n" not in answer:
        answer += connection.recv(1)
    head = answer.lower().split(b"\r\n")
    (length,) = [line for line in head if line.startswith(b"content-length:")]
    for _ in range(int(length.split(b":")[1])):
        answer += connection.recv(1)
    return answer


def is_alive(answer: bytes) -> bool:
    return answer.startswith(b"HTTP/1.1 200 ") and answer.endswith(b'{"status":"alive"}')


def assert_answers_others(port, *, times):
    """Check that no client is blocked: new connections are answered while others are not."""
    for _ in range(times):
        with call(port) as connection:
            connection.sendall(ALIVE)
            assert is_alive(read_answer(connection))


def test_idle_connections_do_not_block_others(port):
    with ExitStack() as stack:
        silent = [stack.enter_context(call(port)) for _ in range(40)]
        kept = [stack.enter_context(call(port)) for _ in range(40)]
        for _ in range(2):
            for connection in kept:
                connection.sendall(ALIVE)
                assert is_alive(read_answer(connection))
        for connection in silent:
            connection.sendall(ALIVE)
            assert is_alive(read_answer(connection))


def test_pipelined_requests_are_answered_in_order(port, account):
    check = CHECK.format(key=account.api_key).encode()
    with call(port) as connection:
        connection.sendall(ALIVE + check + ALIVE)
        assert is_alive(read_answer(connection))
        assert b"Authenticated as account" in read_answer(connection)
        assert is_alive(read_answer(connection))


def test_a_body_arrives_unchanged_with_any_headers(port, account, worker):
    body = random.Random(1).randbytes(600_000)
    head = f"POST /v2/pdf HTTP/1.1\r\nHost: x\r\nx-api-key: {account.api_key}\r\n"
    head += f"Content-Type: text/xml\r\nContent-Length: {len(body)}\r\n\r\n"
    sent = head.encode() + body + ALIVE
    for cut in (len(head), len(head) + 1, len(head) + 300_000, len(sent) - len(ALIVE)):
        with call(port) as connection:
            connection.sendall(sent[:cut])
            time.sleep(0.05)
            connection.sendall(sent[cut:])
            assert read_answer(connection).startswith(b"HTTP/1.1 200 ")
            assert is_alive(read_answer(connection))
    assert set(worker.bodies) == {body}
    assert len({job.id for job in worker.jobs}) == 4


def test_a_response_without_a_body_ends_with_its_headers(port):
    with call(port) as connection:
        connection.sendall(b"HEAD" + ALIVE[3:] + ALIVE)
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += connection.recv(1)
        assert head.startswith(b"HTTP/1.1 200 ")
        assert is_alive(read_answer(connection))


def test_incomplete_requests_do_not_block_others(port, account):
    check = CHECK.format(key=account.api_key).encode()
    after_another = ALIVE + check[:9]
    with ExitStack() as stack:
        begun = [stack.enter_context(call(port)) for _ in range(3)]
        for connection, part in zip(begun, (check[:20], check[:-2], after_another), strict=True):
            connection.sendall(part)
        time.sleep(0.2)
        assert_answers_others(port, times=20)
        begun[0].sendall(check[20:])
        begun[1].sendall(check[-2:])
        assert is_alive(read_answer(begun[2]))
        begun[2].sendall(check[9:])
        for connection in begun:
            assert b"Authenticated as account" in read_answer(connection)


@pytest.mark.long
def test_requests_waiting_for_redis_do_not_block_others(port, account, redis_server):
    check = CHECK.format(key=account.api_key).encode()
    with ExitStack() as stack:
        clients = [stack.enter_context(call(port)) for _ in range(3)]
        time.sleep(0.6)  # the front's cached key has expired, so it asks Redis
        os.kill(redis_server.pid, signal.SIGSTOP)
        try:
            for connection in clients:
                connection.sendall(check)
            assert_answers_others(port, times=10)
        finally:
            os.kill(redis_server.pid, signal.SIGCONT)
        for connection in clients:
            assert b"Authenticated as account" in read_answer(connection)


@pytest.mark.long
def test_a_front_that_shuts_down_completes_requests_in_progress(front):
    body = b'{"url":"https://hooks.example.org"}'
    head = f"POST /v2/webhooks HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    with call(front.port) as begun, call(front.port) as idle:
        idle.sendall(ALIVE)
        assert is_alive(read_answer(idle))
        begun.sendall(head + body[:9])
        time.sleep(0.3)  # the front waits for the rest
        front.master.terminate()
        time.sleep(1.5)  # both processes have received the signal
        idle.sendall(ALIVE)
        assert b"connection: close" in read_answer(idle).lower()
        assert idle.recv(1) == b""
        begun.sendall(body[9:])
        answer = read_answer(begun)
        assert answer.startswith(b"HTTP/1.1 401 ")
        assert begun.recv(1) == b""
    assert front.master.wait(30) == 0


def test_a_front_that_must_exit_at_once_leaves_no_processes(front):
    with call(front.port) as connection:
        connection.sendall(ALIVE)
        assert is_alive(read_answer(connection))
        front.master.send_signal(signal.SIGQUIT)
        assert front.master.wait(30) == 0
        assert connection.recv(1) == b""


@pytest.mark.long
def test_long_polls_return_the_current_record_on_shutdown(front, account):
    """The job is accepted and never started: there is no worker here."""
    fields = {"x-api-key": account.api_key}
    accepted = {"Content-Type": "application/xml", "Prefer": "respond-async", **fields}
    job = ask(front.port, "POST", "/v2/pdf", b"<document/>", accepted)
    lines = {"Content-Type": "application/x-ndjson", **fields}
    batch = ask(front.port, "POST", "/v2/batches?template=service-letter", b"{}\n", lines)
    item_id = item_job_id(batch["id"], 0)
    paths = [f"/v2/jobs/{job['id']}", f"/v2/batches/{batch['id']}", f"/v2/jobs/{item_id}"]
    with ThreadPoolExecutor(len(paths)) as pool:
        polls = [
            pool.submit(ask, front.port, "GET", f"{path}?wait=60", None, fields) for path in paths
        ]
        wait_until(lambda: count_in_progress(front.port) == len(paths) + 1)  # and the count itself
        front.master.terminate()
        records = [poll.result(timeout=30) for poll in polls]  # half of what they asked to wait
        front.master.wait(30)
    assert [record["status"] for record in records] == ["queued"] * 3


def count_in_progress(port):
    """Return the number of requests that a front is answering, according to its metrics."""
    with call(port) as connection:
        connection.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        answer = b"".join(iter(lambda: connection.recv(65536), b""))
    found = re.search(rb"^pressroom_http_requests_in_progress (\d+)", answer, re.MULTILINE)
    return int(found[1])


def ask(port, method, path, body, fields):
    """Send a request on a connection of its own and return the JSON of its answer."""
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=30)) as connection:
        connection.request(method, path, body, fields)
        return json.loads(connection.getresponse().read())
