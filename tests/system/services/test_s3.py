"""The blob store on a real S3 server keeps what it promises."""

import io

import pytest

from shared.blobs.factory import open_store
from shared.blobs.store import BlobMissingError
from shared.errors import Unavailable


@pytest.fixture
def store(s3_server):
    return open_store(f"s3+http://{s3_server}/pressroom")


def put(store, key, data):
    store.put(key, io.BytesIO(data), len(data))


def test_bytes_come_back_as_they_were_put(store):
    data = bytes(range(256)) * 4096 * 8  # 8 MB: the client sends it in parts
    put(store, "jobs/large", data)
    assert store.read("jobs/large") == data
    with store.open("jobs/large") as stream:
        assert stream.read(10) == data[:10]


def test_a_key_holds_the_last_stored_bytes(store):
    put(store, "images/ws_1/same", b"old")
    put(store, "images/ws_1/same", b"new")
    assert store.read("images/ws_1/same") == b"new"


def test_deleting_a_missing_key_is_not_an_error(store):
    put(store, "jobs/gone", b"x")
    store.delete("jobs/gone")
    store.delete("jobs/gone")
    with pytest.raises(BlobMissingError):
        store.read("jobs/gone")


def test_a_wrong_secret_is_an_unavailable_store(s3_server):
    server = s3_server.replace("a-long-secret", "another")
    with pytest.raises(Unavailable):
        open_store(f"s3+http://{server}/pressroom").check()
