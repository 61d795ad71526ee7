"""After an account is deleted, no byte of what it sent is in the farm: files, Redis, database and logs are read raw."""

from __future__ import annotations

import io
import json
import re
import sqlite3
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from PIL import Image
from PIL.PngImagePlugin import PngInfo
from redis import Redis

from deploy.embedded.demo.show import LaunchedFarm, launched_farm
from shared.blobs.factory import open_store
from shared.db.session import open_database
from tests.system.conftest import Account, open_account
from tests.waiting import wait_until
from workers.maintenance.orphans import (
    RemoveOrphanedBlobs,
    RemoveOrphanedContents,
    list_orphan_kinds,
)

pytestmark = pytest.mark.long

KEY = "operator-key-of-32-letters-or-more"
MARKED = "Zebraquartz"  # in whatever the account sends
XML = {"Content-Type": "text/xml"}
JSON = {"Content-Type": "application/json"}
_STREAM = re.compile(rb"\x78[\x01\x5e\x9c\xda]|\x1f\x8b\x08")


def texts_of(data: bytes) -> Iterator[bytes]:
    """Yield data as they are, and whatever is compressed in them."""
    yield data
    for found in _STREAM.finditer(data):
        try:
            inner = zlib.decompressobj(wbits=47).decompress(data[found.start() :], 64 * 1024 * 1024)
        except zlib.error:
            continue
        if len(inner) > 8:
            yield inner


def find_marked(folder: Path, mark: str) -> list[str]:
    """Return the files of a folder that have the mark, in any case, as it is, compressed, or as UTF-16."""
    marks = [mark.lower().encode(), mark.lower().encode("utf-16-be")]
    return [
        f"{path.relative_to(folder)}: {text[max(at - 60, 0) : at + 60]!r}"
        for path in sorted(folder.rglob("*"))
        if path.is_file()
        for text in texts_of(path.read_bytes())
        for each in marks
        if (at := text.lower().find(each)) >= 0
    ]


def send_everything(account: Account, mark: str) -> None:
    """Let an account send the mark in every way, and wait until its work has ended."""

    def ask(
        method: str, path: str, body: bytes = b"", expected: int = 200, **headers: str
    ) -> dict[str, object]:
        answer = account.request(method, path, body, headers=headers)
        assert answer.status == expected, (path, answer.status, answer.body[:300])
        is_json = "json" in (answer.headers["Content-Type"] or "")
        return answer.json if is_json else {}

    picture, described = Image.new("RGB", (8, 8)), PngInfo()
    described.add_text("Comment", mark)
    file = account.farm.folder.path.parent / "picture.png"
    picture.save(file, pnginfo=described)
    ask(
        "PUT", f"/v2/images/{mark.lower()}", file.read_bytes(), 201, **{"Content-Type": "image/png"}
    )
    file.unlink()
    source = (
        f'<document title="{mark}"><data><json>{{"note": ""}}</json></data><flow><p>{mark} {{{{ note }}}}</p>'
        f'<img src="{mark.lower()}" alt="{mark}"/></flow></document>'
    ).encode()
    made = ask("POST", f"/v2/templates?name={mark}", source, 201, **XML)["id"]
    cases = io.BytesIO()
    with zipfile.ZipFile(cases, "w") as archive:
        archive.writestr(f"{mark}.case.json", mark)
    cases_path = f"/v2/templates/{made}/cases"
    ask("PUT", cases_path, cases.getvalue(), **{"Content-Type": "application/zip"})
    slug = {"slug": mark.lower(), "template_id": made}
    ask("POST", "/v2/slugs", json.dumps(slug).encode(), 201, **JSON)
    version = json.dumps({"message": mark}).encode()
    ask("POST", f"/v2/templates/{made}/versions", version, 201, **JSON)
    data = json.dumps({"note": f"{mark} for {mark}"}).encode()
    large = json.dumps({"note": f"{mark} " * 20_000}).encode()
    ask("POST", f"/v2/pdf?template={mark.lower()}&filename={mark}", data, **JSON)
    ask("POST", f"/v2/pdf?template={made}", large, **JSON)
    ask("POST", "/v2/pdf", source.replace(b"<flow>", b"<flw>"), 400, **XML)
    ask("POST", "/v2/validate", source.replace(b"src=", f'{mark}="" src='.encode()), **XML)
    preview = json.dumps({"template": source.decode(), "payload": {"note": mark}}).encode()
    ask("POST", "/v2/preview", preview, **JSON)
    key = {"name": mark, "scopes": ["render"]}
    ask("POST", "/v2/keys", json.dumps(key).encode(), 201, **JSON)
    hook = {
        "url": f"https://127.0.0.1:9/{mark}/hook",
        "events": ["job.succeeded", "batch.finished"],
    }
    ask("POST", "/v2/webhooks", json.dumps(hook).encode(), 201, **JSON)
    place = {"url": f"https://127.0.0.1:9/{mark}/place", "secret": mark, "name": f"{mark}-{{job}}"}
    placed = ask("POST", "/v2/destinations", json.dumps(place).encode(), 201, **JSON)["id"]
    kept = {"Prefer": "respond-async", "Idempotency-Key": mark, **JSON}
    named = f"template={mark.lower()}&subject={mark}&deliver={placed}"
    job = ask("POST", f"/v2/pdf?{named}", data, 202, **kept)["id"]
    assert ask("GET", f"/v2/jobs/{job}?wait=60")["status"] == "succeeded"
    lines = b"\n".join(json.dumps({"note": f"{mark} {n}"}).encode() for n in range(20))
    plan = {"sort": ["note"], "fields": ["note"]}
    ask("PUT", f"/v2/plans/{mark.lower()}", json.dumps(plan).encode(), 201, **JSON)
    kept = {"Content-Type": "application/x-ndjson", "Idempotency-Key": f"{mark}-batch"}
    batch = ask("POST", f"/v2/batches?{named}&plan={mark.lower()}", lines, 202, **kept)["id"]
    wait_until(lambda: ask("GET", f"/v2/batches/{batch}")["status"] == "finished")


def delete_raw(farm: LaunchedFarm, account: Account) -> None:
    """Delete an account as an operator does, and what maintenance would delete hours later at once."""
    operator = {"Authorization": f"Bearer {KEY}"}
    path = f"/v2/admin/accounts/{account.id}"
    disabled = account.request("PATCH", path, b'{"disabled": true}', headers=operator | JSON)
    assert disabled.status == 200, disabled.body
    assert account.request("DELETE", path, headers=operator).status == 204
    database, blobs = open_database(farm.record.database_url), open_store(farm.record.blob_url)
    with closing(Redis.from_url(farm.record.redis_url)) as redis, closing(database):
        RemoveOrphanedContents(database, wait_seconds=0).run_once()
        for kind in list_orphan_kinds(database, blobs):
            RemoveOrphanedBlobs(kind, wait_seconds=0).run_once()
        # Answers that clients have been given are deleted with the next ones, or within two minutes.
        for pattern in (f"*{MARKED.lower()}*", "*:reply"):
            wait_until(lambda pattern=pattern: not [*redis.scan_iter(pattern)], 240, pause=0.5)
        # It writes what is deleted out of its log by and by: see that at once, and in plain text.
        redis.config_set("rdbcompression", "no")
        redis.bgrewriteaof()
        wait_until(lambda: not redis.info("persistence")["aof_rewrite_in_progress"])


def test_nothing_of_a_deleted_account_is_in_files_redis_database_or_logs(tmp_path: Path) -> None:
    mark = MARKED
    with launched_farm(
        tmp_path / "farm",
        environment={"PRESSROOM_ADMIN_KEYS": KEY, "PRESSROOM_OUTBOUND_ALLOW_PRIVATE": "true"},
    ) as farm:
        account = open_account(farm, plan="paid", name=mark)
        send_everything(account, mark)
        assert find_marked(farm.folder.path, mark)
        delete_raw(farm, account)
        folder = farm.folder.path
    with closing(sqlite3.connect(folder / "pressroom.sqlite3")) as database:
        tables = [
            name
            for (name,) in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
        ]
        rows = {
            name: str(database.execute(f'SELECT * FROM "{name}"').fetchall()) for name in tables
        }
        assert {name for name, text in rows.items() if mark.lower() in text.lower()} == {
            "audit_log"
        }
        database.execute(
            "DELETE FROM audit_log"
        )  # which says who changed what, as long as a setting says
        database.commit()
        database.execute("VACUUM")
    assert find_marked(folder, mark) == []
