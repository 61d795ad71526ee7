"""Back up and restore as the runbook says, tried: dump, lose, restore, and the ledger is intact."""

import subprocess
import time
from pathlib import Path

import pytest
from sqlalchemy import make_url, select

from deploy.embedded.launch import launch_farm, stop_farm
from shared.blobs.store import open_store
from shared.buckets.admission import AdmissionCache
from shared.db.session import open_database
from shared.db.tables import usage_ledger
from shared.queue.connection import connect
from tests.system.conftest import Account, open_account

HELLO = "<document><flow><p>Hello</p></flow></document>"
PROGRAMS = sorted(Path("/usr/lib/postgresql").glob("*/bin"))


def run(program, url, *arguments):
    """Run a program of PostgreSQL on the database of a URL of ours."""
    at = make_url(url)
    command = [PROGRAMS[-1] / program, f"--host={at.host}", f"--port={at.port}"]
    command += [f"--username={at.username}", f"--dbname={at.database}", *arguments]
    subprocess.run([str(part) for part in command], check=True, capture_output=True)


def ledger(url):
    database = open_database(url)
    try:
        with database.snapshot() as session:
            rows = session.execute(select(usage_ledger).order_by(usage_ledger.c.job_id)).mappings()
            return [dict(row) for row in rows]
    finally:
        database.close()


def await_rows(url, count):
    """Wait for the counter: what is not in the ledger yet is in Redis, and not in the dump."""
    deadline = time.monotonic() + 20
    while len(ledger(url)) < count:
        assert time.monotonic() < deadline
        time.sleep(0.1)


@pytest.fixture
def environment(make_postgresql, s3_server):
    return {
        "PRESSROOM_DATABASE_URL": make_postgresql(),
        "PRESSROOM_BLOB_URL": f"s3+http://{s3_server}/restored",
    }


def test_a_farm_that_lost_its_database_and_redis_is_restored_with_its_ledger(
    environment, make_postgresql, tmp_path, documents
):
    first = launch_farm(tmp_path / "first", environment=environment)
    try:
        account = open_account(first, "--max-pages", "10")
        account.store_logo()
        template = account.store_template((documents / "invoice.xml").read_bytes())
        for _ in range(6):
            assert account.render(HELLO).status == 200
        before = account.usage()
        url = environment["PRESSROOM_DATABASE_URL"]
        await_rows(url, 6)
        run("pg_dump", url, "--format=custom", f"--file={tmp_path / 'farm.dump'}")
        kept = ledger(url)
    finally:
        stop_farm(first)
    assert len(kept) == 6

    # Everything but the dump and the object store is lost: another database, another Redis.
    restored = environment | {"PRESSROOM_DATABASE_URL": make_postgresql()}
    run("pg_restore", restored["PRESSROOM_DATABASE_URL"], "--no-owner", tmp_path / "farm.dump")
    assert ledger(restored["PRESSROOM_DATABASE_URL"]) == kept

    second = launch_farm(tmp_path / "second", environment=restored)
    try:
        AdmissionCache(connect(second.record.redis_url)).drop_all()
        again = Account(second, account.id, account.key_id, account.api_key)
        after = again.usage()
        assert (after["pagesGenerated"], after["apiCalls"]) == (
            before["pagesGenerated"],
            before["apiCalls"],
        )
        body = (documents / "invoice.json").read_bytes()
        answer = again.render(body, "application/json", f"?template={template}")
        assert answer.status == 200, answer.body
        assert open_store(restored["PRESSROOM_BLOB_URL"]).check() is None
        # The allowance goes on where it was: 7 of 10 are used, so three more pass.
        again.settled_usage(pages=7)
        assert [again.render(HELLO).status for _ in range(4)] == [200, 200, 200, 402]
    finally:
        stop_farm(second)
