"""`pressroom account export`: all that is stored of an account, nothing of others, and no secret."""

from __future__ import annotations

import json
import re
from io import BytesIO
from pathlib import Path

import pytest
from sqlalchemy import insert, update

from deploy.cli.account_export import _KEYS, _SECRETS
from deploy.cli.main import main
from shared.auth import audit
from shared.auth.administration import list_owned_rows
from shared.clock import now
from shared.db.tables import batch_files, batch_items, batches, jobs, metadata, usage_templates
from tests.bench.feeding import make_batch
from tests.contract.conftest import LOGO

pytestmark = pytest.mark.usefixtures("upload_worker")

SECRET = "Bearer-of-the-destination"


@pytest.fixture
def export(monkeypatch, settings, tmp_path, capsys):
    monkeypatch.setenv("PRESSROOM_DATABASE_URL", settings.database_url)
    monkeypatch.setenv("PRESSROOM_REDIS_URL", settings.redis_url)
    monkeypatch.setenv("PRESSROOM_BLOB_URL", settings.blob_url)

    def export(account_id, name="export", code=0):
        assert main(["account", "export", account_id, str(tmp_path / name), "--json"]) == code
        return tmp_path / name, capsys.readouterr()

    return export


def rows_of(folder: Path, table: str) -> list[dict]:
    return [json.loads(line) for line in (folder / f"{table}.jsonl").read_text().splitlines()]


def test_every_table_is_exported_and_deleted_with_the_account():
    assert {table.name for table, _ in list_owned_rows("acc_1")} == metadata.tables.keys()


def test_no_column_of_a_secret_is_exported_and_every_column_of_a_file_is_known():
    names = {column.name for table in metadata.sorted_tables for column in table.c}
    assert {each for each in names if re.search("secret|digest|token|password", each)} - {
        "previous_secret_until"
    } == _SECRETS
    assert {each for each in names if each.endswith("_key")} == set(_KEYS)


def test_what_is_stored_of_an_account_is_written_to_a_folder(
    caller, other, owned, account, database, ports, export
):
    caller.post("/v2/destinations", json={"url": "https://93.184.216.34/", "secret": SECRET})
    sent, key = owned["job"], f"jobs/{owned['job']}/pdf"
    ports.blobs.put(key, BytesIO(b"%PDF-x"), 6)
    assert (
        other.put("/v2/images/of-another", data=LOGO, content_type="image/png").status_code == 201
    )
    made = make_batch(account.account_id, now())
    with database.session() as session:
        ended = {"status": "succeeded", "finished_at": now(), "pdf_key": key}
        session.execute(update(jobs).where(jobs.c.id == sent).values(ended))
        session.execute(insert(batches).values(made.to_builtins() | {"charset": None}))
        item = {"batch_id": made.id, "index": 0, "status": "failed"}
        session.execute(insert(batch_items).values(item))
        file = {"bytes": 3, "sha256": "a" * 64, "documents": 1, "pages": 1, "sheets": 1}
        file |= {"batch_id": made.id, "number": 1, "blob_key": f"batches/{made.id}/files/1-gone"}
        session.execute(insert(batch_files).values(file))
        used = {"period": "2026-11-01", "template_id": owned["id"], "allowance": "production"}
        used |= {"account_id": "acc_of_another", "pages": 1, "calls": 1}
        session.execute(insert(usage_templates).values(used))
    folder, told = export(account.account_id)
    manifest = json.loads((folder / "manifest.json").read_text())
    assert json.loads(told.out.splitlines()[-1]) == {"folder": str(folder)} | manifest
    assert manifest["rows"].keys() == metadata.tables.keys()
    assert all(len(rows_of(folder, name)) == count for name, count in manifest["rows"].items())
    assert folder.stat().st_mode & 0o777 == 0o700

    assert [each["id"] for each in rows_of(folder, "templates")] == [owned["id"]]
    versions = {each["sha256"] for each in rows_of(folder, "versions")}
    assert versions <= {each["sha256"] for each in rows_of(folder, "contents")}
    for table, name in (("images", "logo"), ("fonts", "brand"), ("plans", "nightly")):
        assert [each["name"] for each in rows_of(folder, table)] == [name]
    for table in ("tags", "plan_tags"):
        assert [each["tag"] for each in rows_of(folder, table)] == ["stable"]
    assert {owned["webhook"]} == {each["id"] for each in rows_of(folder, "webhooks")}
    assert made.id in {each["id"] for each in rows_of(folder, "batches")}
    assert [each["batch_id"] for each in rows_of(folder, "batch_items")] == [made.id]
    assert rows_of(folder, "usage_templates") == []
    assert rows_of(folder, "audit_log")[-1]["action"] == "account.exported"
    assert {each["account_id"] for each in rows_of(folder, "audit_log")} == {account.account_id}

    [image] = rows_of(folder, "images")
    kept = folder / "files/images" / image["workspace_id"] / image["sha256"]
    assert kept.read_bytes() == LOGO
    assert [(each["id"], each["pdf_key"]) for each in rows_of(folder, "jobs")] == [(sent, key)]
    assert (folder / "files" / key).read_bytes() == b"%PDF-x"
    files = [each for each in folder.rglob("files/**/*") if each.is_file()]
    assert len(files) == manifest["files"] >= 4
    assert manifest["missing_files"] == 1  # it has expired

    written = b"".join(each.read_bytes() for each in folder.rglob("*") if each.is_file())
    assert SECRET.encode() not in written
    assert account.api_key.encode() not in written
    assert b"of-another" not in written.replace(b"acc_of_another", b"")
    with database.snapshot() as session:
        assert list(audit.find_breaks(audit.read_all(session))) == []


def test_a_folder_that_exists_stays_as_it_is(export, account, caller, tmp_path):
    (tmp_path / "export").mkdir()
    _, told = export(account.account_id, code=1)
    assert "File exists" in told.err
    assert list((tmp_path / "export").iterdir()) == []
    assert caller.get("/v2/audit").json["entries"] == []


def test_an_unknown_account_is_told_and_no_folder_made(export):
    folder, told = export("acc_none", code=1)
    assert "acc_none" in told.err
    assert not folder.exists()
