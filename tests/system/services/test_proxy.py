"""The proxy of the compose file, a real nginx, before a real farm."""

import json
import os
import shutil
import socket
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from deploy.embedded.launch import launched_farm
from deploy.embedded.loopback import free_port
from deploy.embedded.parent_death import with_parent_death_signal
from shared.limits import MAX_BODY_BYTES
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
    """Run nginx with the product's file, its ports and folders changed, and return its port."""
    assert NGINX, "nginx is not installed; run: apt-get install nginx-light"
    folder, port = tmp_path_factory.mktemp("nginx"), free_port()
    text = CONFIG.read_text()
    for here, there in (
        ("listen 8080 ", f"listen 127.0.0.1:{port} "),
        ("server front:8000;", f"server 127.0.0.1:{farm.record.ports['front']};"),
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


@pytest.mark.parametrize("path", ["/metrics", "/readyz"])
def test_operator_endpoints_are_not_public(account, path):
    assert account.request("GET", path).status == 404


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
