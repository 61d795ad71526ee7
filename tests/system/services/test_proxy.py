"""The proxy of the compose file, a real nginx, before a real farm."""

import http.client
import json
import os
import shutil
import socket
import struct
import subprocess
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socketserver import (
    DatagramRequestHandler,
    StreamRequestHandler,
    ThreadingTCPServer,
    ThreadingUDPServer,
)
from threading import Thread

import pytest

from deploy.embedded.demo.show import launched_farm
from deploy.embedded.loopback import free_port
from shared.limits import MAX_BODY_BYTES, MB
from shared.parent_death import with_parent_death_signal
from tests.system.conftest import open_account
from tests.waiting import wait_until

CONFIG = Path(__file__).parents[3] / "deploy/docker/nginx.conf"
HELLO = "<document><flow><p>Hello</p></flow></document>"
NGINX = shutil.which("nginx", path="/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin")
CONNECTIONS = 10


@pytest.fixture(scope="module")
def farm(tmp_path_factory):
    environment = {"PRESSROOM_API_PROCESSES": "1", "PRESSROOM_API_CONNECTIONS": str(CONNECTIONS)}
    with launched_farm(tmp_path_factory.mktemp("farm"), environment=environment) as farm:
        yield farm


@pytest.fixture(scope="module")
def proxy(farm, tmp_path_factory):
    """Run nginx before the farm, and return its port and its log."""
    with fronts_by_name("127.0.0.1") as resolver:
        folder = tmp_path_factory.mktemp("nginx")
        with running_proxy(folder, front=farm.record.ports["front"], resolver=resolver) as proxy:
            yield proxy


@contextmanager
def running_proxy(folder, *, front, resolver):
    """Run nginx with the product's file, its ports and folders changed."""
    assert NGINX, "nginx is not installed; run: apt-get install nginx-light"
    port = free_port()
    text = CONFIG.read_text()
    for here, there in (
        ("listen 8080 ", f"listen 127.0.0.1:{port} "),
        ("front:8000", f"front.example:{front}"),
        ("resolver 127.0.0.11 ", f"resolver 127.0.0.1:{resolver.server_address[1]} "),
        ("/tmp/", f"{folder}/"),
    ):
        assert here in text
        text = text.replace(here, there)
    file = folder / "nginx.conf"
    # As root its workers would become an unprivileged user without access to the tests' folders.
    file.write_text(f"user root;\n{text}" if os.getuid() == 0 else text)
    subprocess.run([NGINX, "-t", "-c", str(file)], check=True, capture_output=True)
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            with_parent_death_signal([NGINX, "-c", str(file), "-g", "daemon off;"]),
            stdout=log,
            stderr=log,
        )
    try:
        wait_until(lambda: answers(port), explain=(folder / "log").read_text)
        yield port, folder / "log"
    finally:
        process.terminate()
        process.wait()


class NameServer(ThreadingUDPServer):
    """Answers each question of DNS with the addresses of the moment, as Docker does for replicas."""

    addresses: tuple[str, ...] = ()


class Answers(DatagramRequestHandler):
    def handle(self):
        """RFC 1035, 4.1: the head, the question as it came, and one A record for each address."""
        question = self.rfile.read()
        addresses = self.server.addresses
        self.wfile.write(
            question[:2] + struct.pack("!HHHHH", 0x8180, 1, len(addresses), 0, 0) + question[12:]
        )
        for address in addresses:
            self.wfile.write(
                b"\xc0\x0c" + struct.pack("!HHIH", 1, 1, 1, 4) + socket.inet_aton(address)
            )


class AddressedFront(BaseHTTPRequestHandler):
    """Answers each request with the address of its server."""

    def do_POST(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(self.server.server_address[0].encode())

    def log_message(self, *_):
        pass


class ClosingFront(StreamRequestHandler):
    """Takes each request and closes the connection without an answer."""

    def handle(self):
        self.request.recv(4096)
        self.server.taken += 1


@contextmanager
def serving(server):
    with server:
        thread = Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def fronts_by_name(*addresses):
    with serving(NameServer(("127.0.0.1", 0), Answers)) as server:
        server.addresses = addresses
        yield server


def bare_front(address, port=0):
    return serving(ThreadingHTTPServer((address, port), AddressedFront))


def test_a_front_that_moved_to_another_address_is_found(tmp_path):
    with (
        bare_front("127.0.0.2") as old,
        bare_front("127.0.0.3", old.server_port),
        fronts_by_name("127.0.0.2") as names,
        running_proxy(tmp_path, front=old.server_port, resolver=names) as (proxy, _),
    ):
        assert post(proxy) == (200, b"127.0.0.2")
        names.addresses = ("127.0.0.3",)
        wait_until(lambda: post(proxy) == (200, b"127.0.0.3"))


def test_requests_that_no_front_took_go_to_another_one(tmp_path):
    with (
        bare_front("127.0.0.2") as front,
        fronts_by_name("127.0.0.3", "127.0.0.2") as names,
        running_proxy(tmp_path, front=front.server_port, resolver=names) as (proxy, _),
    ):
        assert {post(proxy) for _ in range(20)} == {(200, b"127.0.0.2")}


def test_a_render_that_a_front_took_is_not_sent_to_another(tmp_path):
    with (
        bare_front("127.0.0.2") as front,
        serving(
            ThreadingTCPServer(("127.0.0.3", front.server_port), ClosingFront)
        ) as closing_front,
        fronts_by_name("127.0.0.3", "127.0.0.2") as names,
        running_proxy(tmp_path, front=front.server_port, resolver=names) as (proxy, _),
    ):
        closing_front.taken = 0
        statuses = [post(proxy)[0] for _ in range(20)]
    assert set(statuses) == {200, 502}
    assert statuses.count(502) == closing_front.taken


def post(port):
    status, _, body = ask(port, "POST / HTTP/1.1\r\nHost: x\r\n")
    return status, body


def answers(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture
def account(farm, proxy):
    """Return an account whose requests go through the proxy."""
    account = open_account(farm, plan="paid")
    ports = {**farm.record.ports, "front": proxy[0]}
    return replace(account, farm=replace(farm, record=replace(farm.record, ports=ports)))


def test_a_render_goes_through(account):
    answer = account.render(HELLO)
    assert (answer.status, answer.pages) == (200, 1)
    assert answer.body.startswith(b"%PDF")


@pytest.mark.parametrize("name", ["metrics", "readyz"])
@pytest.mark.parametrize(
    "spelling",
    ["/{}", "/{}/", "/{}%2f", "//{}", "/%2f{}", "/./{}", "/docs/../{}", "/docs/%2e%2e/{}", "/{};a", "/{}?a"],
)  # fmt: skip
def test_operator_endpoints_are_not_public_in_any_spelling(account, proxy, name, spelling):
    status, _, body = ask(proxy[0], f"GET {spelling.format(name)} HTTP/1.1\r\nHost: x\r\n")
    assert status == 404
    assert json.loads(body)["statusCode"] == 404


@pytest.mark.parametrize(
    ("head", "status"),
    [
        ("GET /" + "a" * 40_000 + " HTTP/1.1\r\nHost: x\r\n", 414),
        ("GET / HTTP/1.1\r\nHost: x\r\nx-a: " + "a" * 40_000 + "\r\n", 431),
        ("GET / HTTP/1.1\r\nHost: a b\r\n", 400),
        ("GET / HTTP/1.1\r\n", 400),
        ("TRACE / HTTP/1.1\r\nHost: x\r\n", 405),
        ("GET / HTTP/3.0\r\nHost: x\r\n", 505),
        ("POST /v2/pdf HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: br\r\n", 501),
        (f"POST /v2/pdf HTTP/1.1\r\nHost: x\r\nContent-Length: {65 * MB}\r\n", 413),
        (f"POST /v2/batches HTTP/1.1\r\nHost: x\r\nContent-Length: {600 * MB}\r\n", 413),
    ],
    ids=lambda value: str(value)[:40],
)
def test_the_proxys_own_errors_are_the_json_error_body(account, proxy, head, status):
    answered, fields, body = ask(proxy[0], head)
    assert answered == status
    assert fields["content-type"] == "application/json; charset=utf-8"
    error = json.loads(body)
    assert error["statusCode"] == status
    assert datetime.fromisoformat(error["timestamp"])
    assert error["message"]
    assert "nginx/" not in str(fields)


def test_a_front_that_is_away_is_json_with_retry_after(tmp_path):
    with (
        fronts_by_name("127.0.0.1") as resolver,
        running_proxy(tmp_path, front=free_port(), resolver=resolver) as (port, _),
    ):
        status, fields, body = ask(port, "GET /healthz HTTP/1.1\r\nHost: x\r\n")
    assert (status, fields["retry-after"]) == (502, "5")
    assert json.loads(body)["statusCode"] == 502


def test_a_batch_of_seventy_megabytes_goes_through_as_it_arrives(account, proxy):
    """nginx stores none of it, and the front takes it, chunked and with a length."""
    line = b'{"a":"' + b"x" * (MB - 9) + b'"}\n'
    headers = {
        "x-api-key": account.api_key,
        "Content-Type": "application/x-ndjson",
        "Content-Length": str(70 * MB),
    }
    for sent in (headers, {name: value for name, value in headers.items() if "Length" not in name}):
        with closing(http.client.HTTPConnection("127.0.0.1", proxy[0], timeout=60)) as connection:
            connection.request(
                "POST", "/v2/batches?template=service-letter&draft=true", (line for _ in range(70)), sent
            )  # fmt: skip
            answer = connection.getresponse()
            assert answer.status == 202, answer.read()
            record = json.loads(answer.read())
            assert record["total"] == 70
        assert account.request("DELETE", f"/v2/batches/{record['id']}").status == 204


def ask(port, head: str):
    """Send a head and return the status, the header fields and the body of the answer."""
    with socket.create_connection(("127.0.0.1", port), timeout=60) as client:
        client.sendall(f"{head}\r\n".encode())
        answer = http.client.HTTPResponse(client)
        answer.begin()
        return (
            answer.status,
            {name.lower(): value for name, value in answer.getheaders()},
            answer.read(),
        )


def test_a_body_over_the_limit_is_refused_in_the_fronts_own_words(account):
    answer = account.render(b"x" * (MAX_BODY_BYTES + 1))
    assert answer.status == 413
    assert json.loads(answer.body)["statusCode"] == 413


def test_clients_that_send_slowly_hold_no_connection_of_the_front(account, proxy):
    port, _ = proxy
    slow = []
    for _ in range(5 * CONNECTIONS):
        client = socket.create_connection(("127.0.0.1", port))
        client.sendall(
            f"POST /v2/pdf HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {account.api_key}\r\n"
            "Content-Type: text/xml\r\nContent-Length: 1000\r\n\r\n<document>".encode()
        )
        slow.append(client)
    try:
        with ThreadPoolExecutor(4) as pool:
            answers = list(pool.map(lambda _: account.render(HELLO, timeout=20), range(8)))
        assert {answer.status for answer in answers} == {200}
    finally:
        for client in slow:
            client.close()


def test_its_log_contains_no_key_and_no_query(account, proxy):
    account.render(HELLO, query="?template=not-for-a-log")
    wait_until(lambda: "POST /v2/pdf" in proxy[1].read_text())
    text = proxy[1].read_text()
    assert "not-for-a-log" not in text
    assert account.api_key not in text
