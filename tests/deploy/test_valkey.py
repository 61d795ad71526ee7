"""The private Redis server keeps what it acknowledged and opens to its password alone."""

import signal
import socket
import stat
import subprocess

import pytest
from redis import AuthenticationError, Redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from deploy.embedded.loopback import LOOPBACK, free_port
from deploy.embedded.plan import configure_server, server_command
from shared.parent_death import with_parent_death_signal
from tests.waiting import wait_until


@pytest.fixture
def start(tmp_path):
    folder = tmp_path / 'a folder with "quotes" and ünïcode'
    folder.mkdir()
    server = configure_server(folder)
    running = []

    def start():
        process = subprocess.Popen(
            with_parent_death_signal(server_command(folder)), stdout=subprocess.DEVNULL
        )
        running.append(process)
        wait_until(server.is_ready)
        return server, process

    yield start
    for process in running:
        process.kill()
        process.wait()


def test_acknowledged_writes_survive_a_kill_on_the_same_port(start):
    server, process = start()
    with Redis.from_url(server.url) as redis:
        redis.rpush("list", *range(1000))
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not server.is_ready()
    start()
    with Redis.from_url(server.url) as redis:
        assert redis.llen("list") == 1000


def test_it_is_append_only_and_evicts_nothing(start):
    server, _ = start()
    with Redis.from_url(server.url) as redis:
        assert redis.config_get("appendonly") == {"appendonly": "yes"}
        assert redis.config_get("maxmemory-policy") == {"maxmemory-policy": "noeviction"}
        assert redis.config_get("bind") == {"bind": "127.0.0.1"}


def test_a_connection_without_the_password_is_rejected(start):
    server, _ = start()
    with (
        Redis(port=server.port, retry=Retry(NoBackoff(), 0)) as redis,
        pytest.raises(AuthenticationError),
    ):
        redis.ping()


def test_the_password_is_in_a_private_file_and_in_no_command_line(tmp_path):
    server = configure_server(tmp_path)
    assert stat.S_IMODE((tmp_path / "valkey.conf").stat().st_mode) == 0o600
    assert server.password not in " ".join(server_command(tmp_path))


def test_an_assigned_port_is_reserved_for_its_server():
    port = free_port()
    with pytest.raises(OSError, match="in use"), socket.socket() as other:
        other.bind((LOOPBACK, port))
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((LOOPBACK, port))
    with socket.create_server((LOOPBACK, port)) as server:  # which reuses addresses
        server.settimeout(5)
        with socket.create_connection((LOOPBACK, port)), server.accept()[0]:
            pass
    assert port not in {free_port() for _ in range(50)}
