"""A PostgreSQL server from its package, for as long as a test run or a measurement needs it."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import psycopg

from deploy.embedded.loopback import free_port

# The superuser needs no password; every other role does.
_ACCESS: Final = """
host all pressroom 127.0.0.1/32 trust
host all all 127.0.0.1/32 scram-sha-256
"""


class NoPostgresqlError(Exception):
    """The server is not installed, or does not start; the text says what to do."""


@contextmanager
def running_postgresql() -> Iterator[int]:
    """Run a server with nothing in it and return its port.

    Raises:
        NoPostgresqlError: there is none to run.
    """
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"))
    if not found:
        raise NoPostgresqlError("PostgreSQL is not installed; run: apt-get install postgresql")
    programs, port = found[-1].parent, free_port()
    # Not a folder of pytest's: those are closed to the user the server runs as.
    folder = Path(tempfile.mkdtemp(prefix="pressroom-postgresql-"))
    if os.getuid() == 0:
        shutil.chown(folder, _unprivileged_user())
    # Another collation than C on purpose: names must be ordered by code point all the same.
    initdb = [programs / "initdb", "-D", folder / "data", "-U", "pressroom", "--no-sync"]
    initdb += ["--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8"]
    access = folder / "pg_hba.conf"
    access.write_text(_ACCESS)
    subprocess.run([*as_ordinary_user(), *initdb], check=True, capture_output=True, cwd=folder)
    server = [programs / "postgres", "-D", folder / "data", "-p", str(port), "-k", folder]
    access_option = f"hba_file={access}"
    for option in ("listen_addresses=127.0.0.1", "fsync=off", "max_connections=200", access_option):
        server += ["-c", option]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [*as_ordinary_user(), *server], stdout=log, stderr=log, cwd=folder
        )
    try:
        _await(port, said=folder / "log")
        yield port
    finally:
        # A fast shutdown: the one of SIGTERM waits for every client to leave.
        process.send_signal(signal.SIGINT)
        process.wait()
        shutil.rmtree(folder)


def connect_postgresql(port: int) -> psycopg.Connection:
    """Connect as the owner of everything; each statement is its own transaction."""
    return psycopg.connect(
        f"host=127.0.0.1 port={port} user=pressroom dbname=postgres", autocommit=True
    )


def make_database(port: int, name: str, *, template: str = "template1") -> str:
    """Make a database and return its URL."""
    with connect_postgresql(port) as connection:
        # Copied as files, not through the log: a third faster, and most tests make one.
        made = f"CREATE DATABASE {name} TEMPLATE {template} STRATEGY FILE_COPY"
        connection.execute(made.encode())
    return f"postgresql+psycopg://pressroom@127.0.0.1:{port}/{name}"


def _await(port: int, *, said: Path) -> None:
    for _ in range(1200):
        with suppress(psycopg.OperationalError), connect_postgresql(port):
            return
        time.sleep(0.1)
    raise NoPostgresqlError(f"PostgreSQL does not start:\n{said.read_text(errors='replace')}")


def as_ordinary_user() -> list[str]:
    """Return the start of a command line: PostgreSQL refuses root, and must not outlive the tests."""
    command = ["setpriv", "--pdeathsig", "KILL"]
    if os.getuid() == 0:
        user = _unprivileged_user()
        command += [f"--reuid={user}", f"--regid={pwd.getpwnam(user).pw_gid}", "--clear-groups"]
    return command


_UNPRIVILEGED_UID: Final = 65534


def _unprivileged_user() -> str:
    names = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in names else pwd.getpwuid(_UNPRIVILEGED_UID).pw_name
