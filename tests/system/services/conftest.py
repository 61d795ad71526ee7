"""PostgreSQL and an S3 server, started from packages in temporary folders for these tests alone.

A server that is missing is a failure with the command that installs it, never a skip.
"""

from __future__ import annotations

import itertools
import os
import pwd
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from deploy.embedded.leash import leashed
from deploy.embedded.valkey import free_port

PROGRAMS = Path("/usr/lib/postgresql")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.services)


@pytest.fixture(scope="session")
def postgresql_port() -> Iterator[int]:
    folder = Path(tempfile.mkdtemp(prefix="pressroom-postgresql-"))
    port = free_port()
    programs = find_programs()
    try:
        if os.getuid() == 0:
            shutil.chown(folder, unprivileged_user())
        data = folder / "data"
        initdb = [str(programs / "initdb"), "-D", str(data), "-U", "pressroom", "--no-sync"]
        # Another collation than C on purpose: names must be ordered by code point all the same.
        run = [*as_ordinary_user(), *initdb, "--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8"]
        subprocess.run(run, check=True, capture_output=True, cwd=folder)
        server = [str(programs / "postgres"), "-D", str(data), "-p", str(port), "-k", str(folder)]
        options = [
            "-c",
            "listen_addresses=127.0.0.1",
            "-c",
            "fsync=off",
            "-c",
            "max_connections=200",
        ]
        with (folder / "log").open("wb") as log:
            process = subprocess.Popen(
                [*as_ordinary_user(), *server, *options], stdout=log, stderr=log, cwd=folder
            )
        try:
            await_port(port, process, said=folder / "log")
            yield port
        finally:
            process.terminate()
            process.wait()
    finally:
        shutil.rmtree(folder)


@pytest.fixture(scope="session")
def make_postgresql(postgresql_port: int) -> Callable[[], str]:
    """Give a function that makes an empty database and gives its URL."""
    import psycopg

    numbers = itertools.count(1)

    def make() -> str:
        name = f"test_{next(numbers)}"
        where = f"host=127.0.0.1 port={postgresql_port} user=pressroom"
        with psycopg.connect(f"{where} dbname=postgres", autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return f"postgresql+psycopg://pressroom@127.0.0.1:{postgresql_port}/{name}"

    return make


@pytest.fixture
def postgresql_url(make_postgresql: Callable[[], str]) -> str:
    return make_postgresql()


@pytest.fixture(scope="session")
def s3_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Give `key:secret@host:port` of a server that checks signatures and keeps its bytes."""
    folder = tmp_path_factory.mktemp("s3")
    port = free_port()
    rclone = Path(sys.executable).with_name("rclone")
    command = [str(rclone), "serve", "s3", "--addr", f"127.0.0.1:{port}"]
    command += ["--auth-key", "access,a-long-secret", "--config", str(folder / "none.conf")]
    data = folder / "data"
    data.mkdir()
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(leashed([*command, str(data)]), stdout=log, stderr=log)
    try:
        await_port(port, process, said=folder / "log")
        yield f"access:a-long-secret@127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait()


def find_programs() -> Path:
    found = sorted(PROGRAMS.glob("*/bin/postgres"))
    if not found:
        pytest.fail("PostgreSQL is not installed; run: apt-get install postgresql")
    return found[-1].parent


def as_ordinary_user() -> list[str]:
    """Give the start of a command line: PostgreSQL refuses root, and must not outlive the tests."""
    command = ["setpriv", "--pdeathsig", "KILL"]
    if os.getuid() == 0:
        user = unprivileged_user()
        command += [f"--reuid={user}", f"--regid={pwd.getpwnam(user).pw_gid}", "--clear-groups"]
    return command


def unprivileged_user() -> str:
    names = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in names else "nobody"


def await_port(port: int, process: subprocess.Popen[bytes], *, said: Path) -> None:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline and process.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    pytest.fail(f"the server does not start:\n{said.read_text(errors='replace')}")
