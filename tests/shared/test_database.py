"""Units of work, outages and migrations on a real SQLite file."""

from __future__ import annotations

import multiprocessing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import insert, select, text
from sqlalchemy.exc import DBAPIError, IntegrityError

from shared.db.migrate import upgrade
from shared.db.session import Database, open_database
from shared.db.tables import contents, metadata
from shared.errors import Unavailable

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


def keep(session, sha256="a" * 64):
    session.execute(insert(contents).values(sha256=sha256, content="<document/>", created_at=NOON))


def keep_twice(session):
    keep(session)
    keep(session)


def test_a_unit_of_work_lands_whole(database: Database):
    with database.session() as session:
        keep(session)
    with database.snapshot() as session:
        assert session.scalar(select(contents.c.created_at)) == NOON


def test_a_unit_of_work_that_fails_leaves_nothing(database: Database):
    with pytest.raises(IntegrityError), database.session() as session:
        keep_twice(session)
    with database.snapshot() as session:
        assert session.execute(select(contents)).all() == []


def test_a_reader_does_not_wait_for_a_writer(database: Database):
    with database.session() as writing:
        keep(writing)
        with database.snapshot() as reading:
            assert reading.execute(select(contents)).all() == []


def test_an_unreachable_database_is_named_unavailable(tmp_path: Path):
    database = open_database(f"sqlite:///{tmp_path}/missing/folder/db.sqlite")
    with pytest.raises(Unavailable) as caught:
        database.check()
    assert caught.value.body.status == 503
    assert caught.value.part == "database"


def test_an_unreachable_postgresql_is_named_unavailable():
    database = open_database("postgresql+psycopg://nobody@127.0.0.1:1/none")
    with pytest.raises(Unavailable):
        database.check()


def test_a_defect_of_ours_is_not_an_outage(database: Database):
    with pytest.raises(DBAPIError, match="misspelt"), database.session() as session:
        session.execute(text("SELECT * FROM misspelt"))


def test_the_migrations_lead_to_the_tables_as_declared(database: Database):
    with database.session() as session:
        assert compare_metadata(MigrationContext.configure(session), metadata) == []


def test_several_processes_may_migrate_at_once(tmp_path: Path):
    url = f"sqlite:///{tmp_path}/new.sqlite"
    start = multiprocessing.get_context("spawn")
    processes = [start.Process(target=upgrade, args=(url,)) for _ in range(4)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * 4
    open_database(url).check()
