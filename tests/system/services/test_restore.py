"""Back up and restore see the runbook, tried: dump, lose, restore, and the ledger is intact."""

import os
import subprocess
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from sqlalchemy import make_url, select

from deploy.embedded.demo.show import launch_farm, stop_farm
from shared.auth.admission import AdmissionCache
from shared.blobs.factory import open_store
from shared.db.session import open_database
from shared.db.tables import usage_ledger
from shared.queue.connection import connect
from tests.s3 import rclone_binary
from tests.system.conftest import Account, open_account
from tests.waiting import wait_until

ROOT = Path(__file__).parents[3]
GUIDE = (ROOT / "deploy/docs/backup.md").read_text()
BUCKET = "restored"
HELLO = "<document><flow><p>Hello</p></flow></document>"
# Too large for the message: its body lies in the object store.
LARGE = HELLO.replace("<flow>", f"<!--{'x' * 200_000}--><flow>")
ASYNC = {"Content-Type": "text/xml", "Prefer": "respond-async"}
PROGRAMS = sorted(Path("/usr/lib/postgresql").glob("*/bin"))


def run(command, url, folder):
    """Run a line of the guide in a folder, with the programs of PostgreSQL and a database of ours."""
    assert command in GUIDE
    address = make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)
    environment = {"PATH": f"{PROGRAMS[-1]}:{os.environ['PATH']}", "DATABASE": address}
    command = command.replace("--dbname=…", '--dbname="$DATABASE"')
    subprocess.run(
        ["sh", "-ec", command], cwd=folder, env=environment, check=True, capture_output=True
    )


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
    wait_until(lambda: len(ledger(url)) >= count, pause=0.1)


@pytest.fixture
def environment(make_postgresql, rclone_url):
    return {
        "PRESSROOM_DATABASE_URL": make_postgresql(),
        "PRESSROOM_BLOB_URL": f"{rclone_url}/{BUCKET}",
    }


@pytest.fixture
def rclone(rclone_url, tmp_path):
    """Provide a function that runs rclone with the remotes `farm:` (the server) and `backup:` (a folder)."""
    server = urlsplit(rclone_url)
    key, secret = map(unquote, (server.username, server.password))
    config = tmp_path / "rclone.conf"
    config.write_text(
        f"[farm]\ntype = s3\nprovider = Other\nendpoint = http://{server.hostname}:{server.port}\n"
        f"access_key_id = {key}\nsecret_access_key = {secret}\n\n"
        f"[backup]\ntype = alias\nremote = {tmp_path / 'backup'}\n"
    )

    def run_rclone(*arguments):
        command = [rclone_binary(), *arguments, "--config", str(config)]
        ended = subprocess.run(command, capture_output=True, text=True, check=False)
        assert ended.returncode == 0, ended.stderr
        return ended.stdout

    return run_rclone


def in_readme(command):
    """Return a command as the runbook shows it, without its host and its comment."""
    assert f"\n{command}\n" in GUIDE or f"`{command}`" in GUIDE
    return command.replace("bucket", BUCKET).split()[1:]


@pytest.mark.long
def test_a_farm_that_lost_its_database_and_redis_is_restored_with_its_ledger(
    environment, make_postgresql, rclone, tmp_path, documents
):
    first = launch_farm(tmp_path / "first", environment=environment)
    try:
        account = open_account(first, max_pages=12)
        account.store_logo()
        template = account.store_template((documents / "invoice.xml").read_bytes())
        for _ in range(6):
            assert account.render(HELLO).status == 200
        job = account.request("POST", "/v2/pdf", HELLO.encode(), headers=ASYNC).json["id"]
        assert account.await_end(f"/v2/jobs/{job}")["status"] == "succeeded"
        pdf = account.request("GET", f"/v2/jobs/{job}/pdf").body
        before = account.settled_usage(pages=7)
        url = environment["PRESSROOM_DATABASE_URL"]
        await_rows(url, 7)
        copy = in_readme("rclone copy farm:bucket backup:bucket")
        rclone(*copy)
        # Accepted between the two passes: its body is stored at that time, and its record is in the dump.
        account.farm.command("queue", "drain", "batch", "--wait", "30")
        waiting = account.request("POST", "/v2/pdf", LARGE.encode(), headers=ASYNC).json["id"]
        run('pg_dump --format=custom --file=farm.dump "$DATABASE"', url, tmp_path)
        rclone(*copy)
        kept = ledger(url)
    finally:
        stop_farm(first)
    assert len(kept) == 7

    # Everything but the dump and the copy is lost: another database, another Redis, an empty bucket.
    rclone("purge", f"farm:{BUCKET}")
    rclone("mkdir", f"farm:{BUCKET}")
    rclone(*in_readme("rclone copy backup:bucket farm:bucket"))
    restored = environment | {"PRESSROOM_DATABASE_URL": make_postgresql()}
    run("pg_restore --no-owner --dbname=… farm.dump", restored["PRESSROOM_DATABASE_URL"], tmp_path)
    assert ledger(restored["PRESSROOM_DATABASE_URL"]) == kept

    second = launch_farm(tmp_path / "second", environment=restored)
    try:
        AdmissionCache(connect(second.record.redis_url)).drop_all()
        again = Account(second, account.id, account.key_id, account.api_key)
        assert again.request("GET", f"/v2/jobs/{job}/pdf").body == pdf
        ended = again.await_end(f"/v2/jobs/{waiting}")
        assert (ended["status"], ended["pages"]) == ("succeeded", 1)
        # What had been counted before, and the job that had waited.
        after = again.settled_usage(pages=before["pagesGenerated"] + 1)
        assert (after["pagesGenerated"], after["apiCalls"]) == (
            before["pagesGenerated"] + 1,
            before["apiCalls"] + 1,
        )
        body = (documents / "invoice.json").read_bytes()
        answer = again.render(body, "application/json", f"?template={template}")
        assert answer.status == 200, answer.body
        assert open_store(restored["PRESSROOM_BLOB_URL"]).check() is None
        # The allowance continues where it was: 9 of 12 are used, so three more pass.
        again.settled_usage(pages=9)
        assert [again.render(HELLO).status for _ in range(4)] == [200, 200, 200, 402]
    finally:
        stop_farm(second)
