"""Units of work, outages and migrations on a real SQLite file."""

from __future__ import annotations

import multiprocessing
import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import insert, select, text
from sqlalchemy.exc import DBAPIError, IntegrityError

from shared.db import tables
from shared.db.migrate import UnknownRevision, upgrade
from shared.db.revision import NEWEST, is_current
from shared.db.session import Database, open_database
from shared.db.tables import api_keys, contents, metadata, usage_ledger
from shared.errors import Unavailable
from shared.templates.pinning import Reader
from shared.templates.repository import get_template
from shared.templates.versions import publish_version

LAST_RELEASE = Path(__file__).parent / "release_1_0_0"  # dumps of a database without rows
NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


def keep(session, sha256="a" * 64):
    session.execute(insert(contents).values(sha256=sha256, content="<document/>", created_at=NOON))


def kept(*columns):
    return select(*columns).where(contents.c.sha256 == "a" * 64)


def keep_twice(session):
    keep(session)
    keep(session)


def test_a_unit_of_work_lands_whole(database: Database):
    with database.session() as session:
        keep(session)
    with database.snapshot() as session:
        assert session.scalar(kept(contents.c.created_at)) == NOON


def test_a_unit_of_work_that_fails_leaves_nothing(database: Database):
    with pytest.raises(IntegrityError), database.session() as session:
        keep_twice(session)
    with database.snapshot() as session:
        assert session.execute(kept(contents)).all() == []


def test_a_reader_does_not_wait_for_a_writer(database: Database):
    with database.session() as writing:
        keep(writing)
        with database.snapshot() as reading:
            assert reading.execute(kept(contents)).all() == []


def test_an_unreachable_database_is_named_unavailable(tmp_path: Path):
    database = open_database(f"sqlite:///{tmp_path}/missing/folder/db.sqlite")
    with pytest.raises(Unavailable) as caught:
        database.check()
    assert caught.value.body.status == 503
    assert caught.value.part == "database"


def test_a_defect_of_ours_is_not_an_outage(database: Database):
    with pytest.raises(DBAPIError, match="misspelt"), database.session() as session:
        session.execute(text("SELECT * FROM misspelt"))


def test_changed_tables_have_another_revision():
    names = [str(each) for table in metadata.tables.values() for each in table.columns]
    names += [str(each.name) for table in metadata.tables.values() for each in table.indexes]
    digest = sha256(" ".join(sorted(names)).encode()).hexdigest()[:12]
    assert (NEWEST, digest) == ("0028", "89053a03d3e6"), (
        "a farm at this revision would lack the change"
    )


def test_a_database_without_tables_is_not_current(tmp_path: Path):
    database = open_database(f"sqlite:///{tmp_path}/new.sqlite")
    assert not is_current(database)
    database.close()


def test_a_database_of_the_last_release_is_upgraded(tmp_path: Path):
    with sqlite3.connect(tmp_path / "old.sqlite") as connection:
        connection.executescript((LAST_RELEASE / "sqlite.sql").read_text())
    connection.close()
    check_upgrade(f"sqlite:///{tmp_path}/old.sqlite")


@pytest.mark.services
def test_a_postgresql_database_of_the_last_release_is_upgraded(postgresql_url: str):
    database = open_database(postgresql_url)
    with database.session() as session:
        session.exec_driver_sql((LAST_RELEASE / "postgresql.sql").read_text())
    database.close()
    check_upgrade(postgresql_url)


def check_upgrade(url: str) -> None:
    database = open_database(url)
    assert not is_current(database)
    with database.session() as session:
        for statement in OLD_ROWS:
            session.execute(statement)
    upgrade(url)
    assert is_current(database)
    with database.session() as session:
        assert compare_metadata(MigrationContext.configure(session), metadata) == []
        assert session.scalar(select(api_keys.c.scopes)) == "render templates account"
        record = get_template(session, "t")
        assert (record.name, record.versions, record.slug) == ("Letter", 0, None)
        by, at = record.created_by, record.created_at
        publish_version(session, Reader("acc", None), "t", message="", user=by, at=at)
        assert get_template(session, "t").versions == 1
        assert session.scalar(select(usage_ledger.c.pages)) == 3
        assert session.scalar(select(tables.webhook_deliveries.c.account_id)) == "acc"
    database.close()


CHANGED = {"created_at": NOON, "created_by": "usr", "updated_at": NOON, "updated_by": "usr"}
OLD_ROWS = [
    insert(tables.accounts).values(
        id="acc",
        name="Ada",
        plan="free",
        max_pages=1,
        renewal_day=1,
        is_disabled=False,
        is_email_verified=True,
        created_at=NOON,
    ),
    insert(tables.users).values(id="usr", account_id="acc", name="Ada", email="ada@example.org"),
    insert(api_keys).values(
        id="key", account_id="acc", user_id="usr", digest="d", display="pk_1", created_at=NOON
    ),
    insert(contents).values(sha256="abc", content="<d/>", created_at=NOON),
    insert(tables.templates).values(
        id="t", account_id="acc", name="Letter", sha256="abc", **CHANGED
    ),
    insert(usage_ledger).values(
        job_id="job",
        account_id="acc",
        period="2026-01-01",
        allowance="production",
        pages=3,
        occurred_at=NOON,
        recorded_at=NOON,
    ),
    insert(tables.webhooks).values(
        id="hook", account_id="acc", url="https://a.example", events=[], secret="s", created_at=NOON
    ),
    insert(tables.webhook_deliveries).values(
        id="msg",
        webhook_id="hook",
        event="job.failed",
        payload="{}",
        created_at=NOON,
        status="pending",
    ),
]


@pytest.mark.parametrize("revision", ["0010", "9999"])
def test_a_database_of_another_release_is_refused_with_advice(sqlite_url: str, revision: str):
    database = open_database(sqlite_url)
    with database.session() as session:
        session.execute(text(f"UPDATE alembic_version SET version_num = '{revision}'"))
    with pytest.raises(
        UnknownRevision, match=f"at revision {revision}; this release upgrades from"
    ):
        upgrade(sqlite_url)
    database.close()


def test_a_release_works_on_tables_that_a_later_one_added_to(sqlite_url: str):
    later = f"{int(NEWEST) + 1:04}"
    database = open_database(sqlite_url)
    with database.session() as session:
        session.execute(text("ALTER TABLE accounts ADD COLUMN colour TEXT"))
        session.execute(text(f"UPDATE alembic_version SET version_num = '{later}'"))
    assert is_current(database)
    upgrade(sqlite_url)
    with database.session() as session:
        assert session.scalar(text("SELECT version_num FROM alembic_version")) == later
        assert session.execute(OLD_ROWS[0]).rowcount == 1
    database.close()


@pytest.mark.long
def test_several_may_open_a_new_database_at_once(tmp_path: Path):
    together = threading.Barrier(8)

    def use(url: str):
        database = open_database(url)
        together.wait()
        database.check()
        database.close()

    with ThreadPoolExecutor(8) as pool:
        for number in range(60):
            list(pool.map(use, [f"sqlite:///{tmp_path}/{number}.sqlite"] * 8))


@pytest.mark.long
def test_several_processes_may_migrate_at_once(tmp_path: Path):
    url = f"sqlite:///{tmp_path}/new.sqlite"
    start = multiprocessing.get_context("spawn")
    processes = [start.Process(target=upgrade, args=(url,)) for _ in range(4)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * 4
    database = open_database(url)
    database.check()
    database.close()
