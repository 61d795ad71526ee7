"""Units of work, outages and migrations on a real SQLite file."""

from __future__ import annotations

import multiprocessing
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import insert, select, text
from sqlalchemy.exc import DBAPIError, IntegrityError

from shared.db.migrate import upgrade
from shared.db.revision import find_newest_revision, is_current
from shared.db.session import Database, open_database
from shared.db.tables import batches, contents, jobs, metadata, usage_ledger, webhooks
from shared.errors import Unavailable
from shared.templates.pinning import Reader
from shared.templates.repository import get_template
from shared.templates.versions import publish_version

ROOT = Path(__file__).parents[2]
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


def test_an_unreachable_postgresql_is_named_unavailable():
    database = open_database("postgresql+psycopg://absent@127.0.0.1:1/none")
    with pytest.raises(Unavailable):
        database.check()


def test_a_defect_of_ours_is_not_an_outage(database: Database):
    with pytest.raises(DBAPIError, match="misspelt"), database.session() as session:
        session.execute(text("SELECT * FROM misspelt"))


def test_the_migrations_lead_to_the_tables_as_declared(database: Database):
    with database.session() as session:
        assert compare_metadata(MigrationContext.configure(session), metadata) == []


def test_the_newest_revision_is_known_without_alembic(database: Database):
    scripts = ScriptDirectory(str(ROOT / "shared/db/migrations"))
    assert find_newest_revision() == scripts.get_current_head()
    assert is_current(database)


def test_a_database_of_an_earlier_revision_is_not_current(tmp_path: Path):
    database = open_database(f"sqlite:///{tmp_path}/old.sqlite")
    assert not is_current(database)
    with database.session() as session:
        config = Config()
        config.set_main_option("script_location", str(ROOT / "shared/db/migrations"))
        config.attributes["connection"] = session
        command.upgrade(config, "0003")
    assert not is_current(database)
    database.close()


def test_the_newest_migration_preserves_existing_rows(tmp_path: Path):
    url = f"sqlite:///{tmp_path}/old.sqlite"
    check_migration_with_data(url)


@pytest.mark.services
def test_the_newest_migration_keeps_data_on_postgresql(postgresql_url: str):
    check_migration_with_data(postgresql_url)


def check_migration_with_data(url: str) -> None:
    database = open_database(url)
    with database.session() as session:
        config = Config()
        config.set_main_option("script_location", str(ROOT / "shared/db/migrations"))
        config.attributes["connection"] = session
        command.upgrade(config, "0002")
        for statement in OLD_ROWS:
            session.execute(text(statement))
    upgrade(url)
    with database.session() as session:
        record = get_template(session, "t")
        assert (record.name, record.versions, record.slug) == ("Letter", 0, None)
        publish_version(
            session,
            Reader("acc", None),
            "t",
            message="",
            user=record.created_by,
            at=record.created_at,
        )
        assert get_template(session, "t").versions == 1
        assert session.scalar(select(usage_ledger.c.pages)) == 3
        for table in (jobs, batches, webhooks):
            assert session.execute(select(table)).all() == []
    database.close()


OLD_ROWS = (
    "INSERT INTO accounts VALUES ('acc', 'Ada', 'free', 1, NULL, 1, NULL, false, true, '2026-01-01 00:00:00')",
    "INSERT INTO users VALUES ('usr', 'acc', 'Ada', 'ada@example.org')",
    "INSERT INTO contents VALUES ('abc', '<d/>', '2026-01-01 00:00:00')",
    "INSERT INTO templates VALUES ('t', 'acc', 'Letter', 'abc', '2026-01-01 00:00:00', 'usr', '2026-01-01 00:00:00', 'usr', 0, NULL)",
    "INSERT INTO usage_ledger VALUES ('job', 'acc', '2026-01-01', 'production', 3, '2026-01-01 00:00:00', '2026-01-01 00:00:00')",
)


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
