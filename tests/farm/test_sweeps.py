"""What nothing names any more is removed after a while, and nothing that is named."""

from __future__ import annotations

import io
import threading
from datetime import UTC, datetime, timedelta
from hashlib import sha256

import pytest
from sqlalchemy import insert, update

from shared.clock import now
from shared.db import images
from shared.db.accounts import create_account
from shared.db.images import ImageFacts
from shared.db.tables import jobs
from shared.db.templates import (
    create_template,
    delete_template,
    get_content,
    keep_content,
    replace_content,
)
from shared.db.unneeded import find_unneeded_contents, remove_content
from shared.db.versions import publish_version
from workers.keeper.sweeps import SweepContents, SweepImages

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
        replace_content(session, made.account_id, template.id, content=text, user=made.user, at=at)


def test_a_text_that_was_replaced_goes(database, made, template):
    replace(database, made, template, "<new/>")
    sweep = SweepContents(database, wait_seconds=0)
    assert sweep.run_once() == 1
    assert not is_kept(database, "<old/>")
    assert is_kept(database, "<new/>")
    assert sweep.run_once() == 0


def test_nothing_goes_before_it_was_unneeded_for_long(database, made, template):
    replace(database, made, template, "<new/>")
    sweep = SweepContents(database)
    assert [sweep.run_once() for _ in range(3)] == [0, 0, 0]
    assert is_kept(database, "<old/>")


def test_a_text_that_was_kept_lately_stays(database):
    with database.session() as session:
        keep_content(session, "<young/>", at=now() - timedelta(minutes=59))
    with database.snapshot() as session:
        kept_before = now() - timedelta(hours=1)
        assert find_unneeded_contents(session, kept_before=kept_before, limit=10) == []


def test_what_a_version_has_stays_when_its_template_goes(database, made, template):
    with database.session() as session:
        publish_version(
            session, made.account_id, template.id, message="", user=made.user, at=LONG_AGO
        )
    replace(database, made, template, "<new/>")
    with database.session() as session:
        delete_template(session, made.account_id, template.id, at=LONG_AGO)
    SweepContents(database, wait_seconds=0).run_once()
    assert is_kept(database, "<old/>")


def test_keeping_a_text_again_renews_its_time(database):
    with database.session() as session:
        keep_content(session, "<a/>", at=LONG_AGO)
    with database.session() as session:
        keep_content(session, "<a/>", at=now())
    with database.session() as session:
        assert not remove_content(session, digest("<a/>"), kept_before=now() - timedelta(hours=1))


def test_a_text_that_is_kept_while_it_is_swept_is_there_afterwards(database, made):
    """Both orders end well, whichever unit of work comes first."""
    for number in range(10):
        text = f"<t{number}/>"
        with database.session() as session:
            keep_content(session, text, at=LONG_AGO)
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
            remove_content(session, digest(text), kept_before=now() - timedelta(hours=1))
        keeping.join()
        assert is_kept(database, text)


def store_image(database, store, made, name, data):
    facts = ImageFacts("image/png", len(data), 1, 1, sha256(data).hexdigest())
    with database.session() as session:
        room = images.reserve_room(session, made.workspace_id, name=name, facts=facts, at=now())
    key = images.blob_key(made.workspace_id, facts.sha256)
    store.put(key, io.BytesIO(data), len(data))
    return key, facts, room


def test_bytes_of_an_upload_that_broke_off_go_and_an_images_stay(database, store, made):
    kept, facts, room = store_image(database, store, made, "kept", b"kept")
    with database.session() as session:
        images.record_image(session, room, facts=facts, user=made.user, at=now())
    under_way, _, _ = store_image(database, store, made, "under-way", b"under way")
    lost = f"images/{made.workspace_id}/{digest('lost')}"
    elsewhere = f"images/ws_gone/{digest('lost')}"
    other = "batches/b1/body"
    for key in (lost, elsewhere, other):
        store.put(key, io.BytesIO(b"lost"), 4)
    sweep = SweepImages(database, store, wait_seconds=0)
    assert sweep.run_once() == 2
    assert sorted([*store.list_keys("images/"), *store.list_keys("batches/")]) == sorted(
        [kept, under_way, other]
    )


def test_bytes_wait_before_they_go(database, store):
    key = f"images/ws_1/{digest('lost')}"
    store.put(key, io.BytesIO(b"lost"), 4)
    sweep = SweepImages(database, store)
    assert [sweep.run_once(), sweep.run_once()] == [0, 0]
    assert list(store.list_keys("images/")) == [key]


def test_bytes_that_an_upload_names_again_stay(database, store, made):
    data = b"again"
    key = images.blob_key(made.workspace_id, sha256(data).hexdigest())
    store.put(key, io.BytesIO(data), len(data))
    sweep = SweepImages(database, store, wait_seconds=0)
    orphans = list(sweep._find_orphans())
    store_image(database, store, made, "again", data)
    assert orphans == [key]
    assert not sweep._remove(key)
    assert store.read(key) == data


def test_a_text_that_accepted_work_is_to_render_stays_until_it_ends(database, made, template):
    replace(database, made, template, "<new/>")
    waiting = job_with(digest("<old/>"))
    with database.session() as session:
        session.execute(insert(jobs).values(**waiting))
    sweep = SweepContents(database, wait_seconds=0)
    assert sweep.run_once() == 0
    with database.session() as session:
        session.execute(update(jobs).values(status="succeeded"))
    assert sweep.run_once() == 1


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
