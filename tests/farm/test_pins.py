"""A worker draws the image a name has now, and asks the database once."""

import io

import pytest

from shared.auth.accounts import create_account
from shared.blobs.factory import open_store
from shared.clock import now
from shared.files.repository import IMAGES, ImageFileProperties
from shared.outbound import Fetcher
from shared.queue.connection import connect
from shared.templates.pinning import image_pins
from workers.render.resources import Images


@pytest.fixture
def workspace(database):
    with database.session() as session:
        return create_account(
            session,
            email="ada@example.org",
            name="Ada",
            plan="paid",
            max_pages=10,
            max_draft_pages=None,
            renewal_day=1,
            with_workspace=True,
            verified=True,
        )


@pytest.fixture
def pins(redis_url):
    redis = connect(redis_url)
    redis.flushall()
    yield image_pins(redis)
    redis.close()


def keep(database, blobs, account, data: bytes, digest: str) -> None:
    properties = ImageFileProperties("image/png", len(data), 1, 1, digest)
    with database.session() as session:
        room = IMAGES.reserve(
            session, account.workspace_id, "logo", properties=properties, at=now()
        )
    blobs.put(IMAGES.blob_key(account.workspace_id, digest), io.BytesIO(data), len(data))
    with database.session() as session:
        IMAGES.record(session, room, properties=properties, user=account.user, at=now())


def test_a_name_found_once_is_found_without_the_database(
    database, workspace, pins, tmp_path, monkeypatch
):
    blobs = open_store(f"file://{tmp_path}/blobs")
    keep(database, blobs, workspace, b"first", "1" * 64)
    images = Images(database, blobs, pins, fetcher=Fetcher("http://127.0.0.1:9"))
    assert images.find(workspace.workspace_id, "logo") == b"first"
    monkeypatch.setattr(database, "snapshot", None)
    assert images.find(workspace.workspace_id, "logo") == b"first"


def test_after_a_change_the_new_bytes_are_drawn(database, workspace, pins, tmp_path):
    blobs = open_store(f"file://{tmp_path}/blobs")
    keep(database, blobs, workspace, b"first", "1" * 64)
    images = Images(database, blobs, pins, fetcher=Fetcher("http://127.0.0.1:9"))
    assert images.find(workspace.workspace_id, "logo") == b"first"
    pins.drop(workspace.workspace_id, "logo")
    keep(database, blobs, workspace, b"second", "2" * 64)
    assert images.find(workspace.workspace_id, "logo") == b"second"


def test_an_unknown_name_is_not_cached(database, workspace, pins, tmp_path):
    images = Images(
        database,
        open_store(f"file://{tmp_path}/blobs"),
        pins,
        fetcher=Fetcher("http://127.0.0.1:9"),
    )
    assert images.find(workspace.workspace_id, "logo") is None
    assert pins.find(workspace.workspace_id, "logo") is None
