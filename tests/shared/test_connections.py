"""Connections to PostgreSQL: never more than a process may have, also through PgBouncer."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import make_url, text

from deploy.embedded.loopback import free_port
from shared.auth.accounts import create_account, list_accounts
from shared.db.migrate import upgrade
from shared.db.session import open_database
from shared.errors import Unavailable
from tests.postgresql import as_ordinary_user, connect_postgresql
from tests.waiting import wait_until

pytestmark = pytest.mark.services

POOLED = 2


def count_connections(url: str) -> int:
    address = make_url(url)
    with connect_postgresql(address.port or 0) as connection:
        query = "SELECT count(*) FROM pg_stat_activity WHERE datname = %s"
        row = connection.execute(query, [address.database]).fetchone()
    assert row is not None
    return int(row[0])


def test_a_process_has_no_more_connections_than_it_may(postgresql_url):
    database = open_database(postgresql_url, connections=3)

    def work(_):
        with database.session() as session:
            session.execute(text("SELECT pg_sleep(0.2)"))
            return count_connections(postgresql_url)

    with ThreadPoolExecutor(12) as pool:
        assert max(pool.map(work, range(12))) == 3
    database.close()


def test_a_unit_of_work_that_gets_no_connection_is_refused_in_time(postgresql_url):
    database = open_database(postgresql_url, connections=2)
    with database.session() as one, database.session() as other:
        assert [each.scalar(text("SELECT 1")) for each in (one, other)] == [1, 1]
        with pytest.raises(Unavailable), database.snapshot():
            pass
    database.check()
    database.close()


@pytest.fixture
def pgbouncer(postgresql_url: str) -> Iterator[str]:
    """Run PgBouncer as deploy/docs/scale.md sets it up and return the URL of the database behind it."""
    address, port = make_url(postgresql_url), free_port()
    settings = {
        "listen_addr": "127.0.0.1",
        "listen_port": port,
        "auth_type": "any",
        "pool_mode": "transaction",
        "default_pool_size": POOLED,
        "ignore_startup_parameters": "extra_float_digits,options",
        "unix_socket_dir": "",
    }
    place = f"host=127.0.0.1 port={address.port} dbname={address.database} user=pressroom"
    lines = ["[databases]", f"pressroom = {place}", "[pgbouncer]"]
    lines += [f"{name} = {value}" for name, value in settings.items()]
    # Not a folder of pytest's: those are closed to the user the server runs as.
    with tempfile.NamedTemporaryFile("w", suffix=".ini") as configuration:
        configuration.write("\n".join([*lines, ""]))
        configuration.flush()
        Path(configuration.name).chmod(0o644)
        process = subprocess.Popen(
            [*as_ordinary_user(), "/usr/sbin/pgbouncer", "--quiet", configuration.name], cwd="/"
        )
        try:
            await_server(port, process)
            url = address.set(port=port, database="pressroom", query={"pooler": "transaction"})
            yield url.render_as_string(hide_password=False)
        finally:
            process.kill()
            process.wait()


def await_server(port: int, process: subprocess.Popen[bytes]) -> None:
    def answers() -> bool:
        assert process.poll() is None, "PgBouncer does not start"
        with (
            suppress(psycopg.OperationalError),
            psycopg.connect(f"host=127.0.0.1 port={port} user=pressroom dbname=pressroom"),
        ):
            return True
        return False

    wait_until(answers)


def test_many_share_few_connections_through_pgbouncer(postgresql_url, pgbouncer):
    upgrade(pgbouncer)
    database = open_database(pgbouncer, connections=8)

    def work(number):
        # Often enough for psycopg to prepare each statement.
        for turn in range(10):
            with database.session() as session:
                create_account(session, email=f"a{number}.{turn}@example.org")
            with database.snapshot() as session:
                assert list_accounts(session)
        return count_connections(postgresql_url)

    with ThreadPoolExecutor(8) as pool:
        assert max(pool.map(work, range(8))) <= POOLED
    with database.snapshot() as session:
        names = [account.name for account in list_accounts(session)]
    assert len([name for name in names if name.endswith("@example.org")]) == 80
    database.close()


def test_another_kind_of_pooler_is_refused_by_name():
    with pytest.raises(ValueError, match="pooler='session'; accepted is transaction"):
        open_database("postgresql+psycopg://x@127.0.0.1/x?pooler=session")
