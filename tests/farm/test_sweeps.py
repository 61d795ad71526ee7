"""Unreferenced blobs are removed after a while, referenced ones never."""

from __future__ import annotations

import dataclasses
import io
import threading
from datetime import UTC, datetime, timedelta
from hashlib import sha256

import pytest
from sqlalchemy import insert, update

from shared.auth.accounts import create_account
from shared.blobs.folder import FolderStore
from shared.clock import now
from shared.db.orphans import delete_orphaned_content
from shared.db.tables import batches, jobs
from shared.errors import Unavailable
from shared.files.repository import IMAGES
from shared.queue.claims import Claims
from shared.queue.connection import connect
from shared.templates.pinning import Reader
from shared.templates.repository import (
    create_template,
    delete_template,
    get_content,
    replace_content,
    store_content,
)
from shared.templates.versions import publish_version
from tests.images import store_image
from workers.maintenance import orphans as orphan_removal
from workers.maintenance.orphans import (
    RemoveOrphanedBlobs,
    RemoveOrphanedContents,
    orphan_tasks,
    orphaned_batch_blobs,
    orphaned_claims,
    orphaned_job_blobs,
    orphaned_uploads,
)

LONG_AGO = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def made(database):
    with database.session() as session:
        return create_account(session, email="ada@example.org")


@pytest.fixture
def template(database, made):
    with database.session() as session:
        return create_template(
            session, made.account_id, name="t", content="<old/>", user=made.user, at=LONG_AGO
        )


def digest(text):
    return sha256(text.encode()).hexdigest()


def is_kept(database, text):
    with database.snapshot() as session:
        try:
            return get_content(session, digest(text)) == text
        except LookupError:
            return False


def replace(database, made, template, text, *, at=LONG_AGO):
    with database.session() as session:
        replace_content(session, template.id, content=text, user=made.user, at=at)


def test_a_text_that_was_replaced_goes(database, made, template):
    replace(database, made, template, "<new/>")
    sweep = RemoveOrphanedContents(database, wait_seconds=0)
    assert sweep.run_once() == 1
    assert not is_kept(database, "<old/>")
    assert is_kept(database, "<new/>")
    assert sweep.run_once() == 0


def test_nothing_goes_before_it_was_unneeded_for_long(database, made, template):
    replace(database, made, template, "<new/>")
    sweep = RemoveOrphanedContents(database)
    assert [sweep.run_once() for _ in range(3)] == [0, 0, 0]
    assert is_kept(database, "<old/>")


def test_the_content_of_a_version_outlives_its_template(database, made, template):
    with database.session() as session:
        publish_version(
            session,
            Reader(made.account_id, None),
            template.id,
            message="",
            user=made.user,
            at=LONG_AGO,
        )
    replace(database, made, template, "<new/>")
    with database.session() as session:
        delete_template(session, template.id, at=LONG_AGO)
    RemoveOrphanedContents(database, wait_seconds=0).run_once()
    assert is_kept(database, "<old/>")


def test_what_a_version_is_built_on_is_kept_as_long_as_the_version(database, made, template):
    author = {"user": made.user, "at": LONG_AGO}
    with database.session() as session:
        text = f'<document extends="{template.id}@live"/>'
        child = create_template(session, made.account_id, name="C", content=text, **author)
        reader = Reader(made.account_id, None)
        publish_version(session, reader, child.id, message="", **author)
    replace(database, made, template, "<new/>")
    RemoveOrphanedContents(database, wait_seconds=0).run_once()
    assert is_kept(database, "<old/>")


def test_a_text_stored_during_its_sweep_survives(database, made):
    """Both orders end well, whichever unit of work comes first."""
    for number in range(10):
        text = f"<t{number}/>"
        with database.session() as session:
            store_content(session, text, at=LONG_AGO)
        start = threading.Barrier(2)

        def keep(text=text, start=start):
            start.wait()
            with database.session() as session:
                create_template(
                    session, made.account_id, name="t", content=text, user=made.user, at=now()
                )

        keeping = threading.Thread(target=keep)
        keeping.start()
        start.wait()
        with database.session() as session:
            delete_orphaned_content(session, digest(text), stored_before=now() - timedelta(hours=1))
        keeping.join()
        assert is_kept(database, text)


def test_bytes_of_an_upload_that_broke_off_go_and_an_images_stay(database, store, made):
    kept = store_image(database, store, made, "kept", b"kept")
    lost = f"images/{made.workspace_id}/{digest('lost')}"
    elsewhere = f"images/ws_gone/{digest('lost')}"
    other = "batches/b1/body"
    for key in (lost, elsewhere, other):
        store.put(key, io.BytesIO(b"lost"), 4)
    sweep = RemoveOrphanedBlobs(orphaned_uploads(database, store, IMAGES), wait_seconds=0)
    assert sweep.run_once() == 2
    assert sorted([*store.list_keys("images/"), *store.list_keys("batches/")]) == [other, kept]


def test_bytes_that_an_upload_names_again_stay(database, store, made):
    data = b"again"
    key = IMAGES.blob_key(made.workspace_id, sha256(data).hexdigest())
    store.put(key, io.BytesIO(data), len(data))
    orphans = orphaned_uploads(database, store, IMAGES)
    assert orphans.find_orphans([key]) == [key]
    store_image(database, store, made, "again", data)
    assert not orphans.remove(key)
    assert store.read(key) == data


def test_a_text_that_accepted_work_is_to_render_stays_until_it_ends(database, made, template):
    replace(database, made, template, "<new/>")
    waiting = job_with(digest("<old/>"))
    with database.session() as session:
        session.execute(insert(jobs).values(**waiting))
    sweep = RemoveOrphanedContents(database, wait_seconds=0)
    assert sweep.run_once() == 0
    with database.session() as session:
        session.execute(update(jobs).values(status="succeeded"))
    assert sweep.run_once() == 1


def put(store, *keys):
    for key in keys:
        store.put(key, io.BytesIO(b"bytes"), 5)


def add_job(database, job_id, **values):
    with database.session() as session:
        session.execute(insert(jobs).values(**job_with("") | {"id": job_id} | values))


def test_bytes_of_jobs_stay_while_something_names_them(database, store):
    add_job(database, "job_open")
    add_job(database, "job_ended", status="succeeded", pdf_key="jobs/job_ended/pdf-2")
    kept = ["jobs/job_open/body", "jobs/job_open/pdf-1", "jobs/job_ended/pdf-2"]
    # A worker died with a PDF stored, a front with a body; a body was left at its job's end.
    lost = ["jobs/job_ended/pdf-1", "jobs/job_none/body", "jobs/job_ended/body"]
    put(store, *kept, *lost, "claims/other")
    sweep = RemoveOrphanedBlobs(orphaned_job_blobs(database, store), wait_seconds=0)
    assert sweep.run_once() == 3
    assert sorted(store.list_keys("jobs/")) == sorted(kept)
    assert list(store.list_keys("claims/")) == ["claims/other"]


def test_bytes_that_a_job_ends_with_after_all_stay(database, store):
    key = "jobs/job_1/pdf-1"
    put(store, key)
    orphans = orphaned_job_blobs(database, store)
    assert orphans.find_orphans([key]) == [key]
    add_job(database, "job_1", status="succeeded", pdf_key=key)
    assert not orphans.remove(key)
    assert store.read(key) == b"bytes"


def test_bytes_of_batches_that_are_not_on_record_go(database, store):
    with database.session() as session:
        session.execute(insert(batches).values(**batch_with("batch_1")))
    put(store, "batches/batch_1/parts/0-a", "batches/batch_2/parts/0-a", "batches/batch_2/body")
    sweep = RemoveOrphanedBlobs(orphaned_batch_blobs(database, store), wait_seconds=0)
    assert sweep.run_once() == 2
    assert list(store.list_keys("batches/")) == ["batches/batch_1/parts/0-a"]


def test_claims_stay_for_two_hours(redis_url, tmp_path):
    folder = FolderStore(tmp_path)
    with connect(redis_url) as redis:
        claims = Claims(redis, folder)
        claim = claims.store("job_1", b"x" * 1_000_000)
        sweep = RemoveOrphanedBlobs(orphaned_claims(folder))
        assert [sweep.run_once() for _ in range(3)] == [0, 0, 0]
        assert claims.load(claim) == b"x" * 1_000_000
        sweep = RemoveOrphanedBlobs(orphaned_claims(folder), wait_seconds=0)
        assert sweep.run_once() == 1


def test_a_walk_takes_some_keys_in_a_round_and_a_round_removes_some(database, store, monkeypatch):
    monkeypatch.setattr(orphan_removal, "KEYS_PER_ROUND", 3)
    monkeypatch.setattr(orphan_removal, "REMOVALS_PER_ROUND", 2)
    put(store, *(f"jobs/job_{number}/body" for number in range(7)))
    sweep = RemoveOrphanedBlobs(orphaned_job_blobs(database, store), wait_seconds=0)
    assert [sweep.run_once() for _ in range(7)] == [0, 0, 2, 2, 2, 1, 0]


def test_an_interrupted_walk_restarts(database, store):
    failures = [Unavailable("database")]
    orphans = orphaned_job_blobs(database, store)

    def find_orphans(keys):
        if failures:
            raise failures.pop()
        return orphans.find_orphans(keys)

    put(store, "jobs/job_1/body")
    away = dataclasses.replace(orphans, find_orphans=find_orphans)
    sweep = RemoveOrphanedBlobs(away, wait_seconds=0)
    with pytest.raises(Unavailable):
        sweep.run_once()
    assert sweep.run_once() == 1


def test_maintenance_sweeps_every_kind(database, store, redis_url):
    names = [task.name for task in orphan_tasks(database, store)]
    assert len(set(names)) == len(names)
    assert {"images_swept", "job_bytes_swept", "batch_bytes_swept", "claims_swept"} <= set(names)
    assert sum(task.run_once() for task in orphan_tasks(database, store)) == 0


def batch_with(batch_id):
    return {
        "id": batch_id, "account_id": "acc_1", "user_id": "usr_1", "request_id": "req_1",
        "status": "finished", "output": "zip", "kind": "ndjson", "is_draft": False, "template": "t",
        "pinned": {}, "meter": {}, "total": 1, "body_bytes": 1, "created_at": LONG_AGO,
    }  # fmt: skip


def job_with(text_digest):
    return {
        "id": "job_1",
        "account_id": "acc_1",
        "user_id": "usr_1",
        "status": "queued",
        "lane": "interactive",
        "message": f'{{"template":{{"sha256":"{text_digest}"}}}}',
        "is_draft": False,
        "created_at": LONG_AGO,
        "queued_at": LONG_AGO,
    }
