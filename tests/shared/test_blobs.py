"""One conformance suite for every home of large bytes."""

from __future__ import annotations

import errno
import io
import os
import subprocess
import sys
import threading

import pytest

from shared.blobs.factory import open_store
from shared.blobs.folder import FolderStore
from shared.blobs.store import BlobMissingError, BlobStore, ByteRange
from shared.errors import ServiceError, Unavailable


def put(store: BlobStore, key: str, data: bytes) -> None:
    store.put(key, io.BytesIO(data), len(data))


@pytest.mark.parametrize("size", [0, 1, 70_000, 12_000_000])
def test_a_stored_blob_is_read_back(store, size):
    data = bytes(range(256)) * (size // 256) + b"x" * (size % 256)
    put(store, "images/ws_1/0a", data)
    assert store.read("images/ws_1/0a") == data
    with store.open("images/ws_1/0a") as stream:
        assert stream.read(10) == data[:10]
        assert stream.read() == data[10:]


def test_a_second_put_replaces_the_first(store):
    put(store, "job:1:a", b"first, and longer")
    put(store, "job:1:a", b"second")
    assert store.read("job:1:a") == b"second"


def test_temporary_blobs_are_stored_like_permanent_ones(store):
    for data in (b"first, and longer", b"second"):
        store.put("claims/a", io.BytesIO(data + b"and more"), len(data), is_transient=True)
        assert store.read("claims/a") == data


def test_a_folder_waits_for_its_disk_unless_bytes_are_brief(tmp_path, monkeypatch):
    waits = []
    monkeypatch.setattr(os, "fsync", waits.append)
    folder = FolderStore(tmp_path)
    folder.put("claims/a", io.BytesIO(b"x"), 1, is_transient=True)
    assert not waits
    folder.put("jobs/a", io.BytesIO(b"x"), 1)
    assert len(waits) == 2  # the bytes, and their name


def test_only_a_folder_is_near(store, request):
    assert store.is_local == (request.node.callspec.params["store"] == "folder")


def test_only_the_given_size_is_taken_from_the_stream(store):
    stream = io.BytesIO(b"abcdef")
    store.put("part", stream, 3)
    assert store.read("part") == b"abc"
    assert stream.read() == b"def"


def test_a_stream_that_ends_early_stores_nothing(store):
    with pytest.raises(ValueError, match="ended"):
        store.put("short", io.BytesIO(b"abc"), 5)
    with pytest.raises(BlobMissingError):
        store.read("short")


@pytest.mark.parametrize("size", [0, 1, 5 * 1024 * 1024, 17_000_000])
def test_a_stream_of_unknown_length_is_stored_whole(store, size):
    data = bytes(range(256)) * (size // 256) + b"x" * (size % 256)
    store.put("batches/b/body", io.BytesIO(data))
    assert store.read("batches/b/body") == data


@pytest.mark.parametrize("before", [0, 100, 12_000_000])
def test_a_stream_that_fails_stores_nothing(store, before):
    class Failing(io.BytesIO):
        def read(self, size=-1):
            piece = super().read(min(size, 100_000))
            if not piece:
                raise ServiceError(413, "too much of it")
            return piece

    with pytest.raises(ServiceError, match="too much"):
        store.put("failed", Failing(b"x" * before))
    with pytest.raises(BlobMissingError):
        store.read("failed")


@pytest.mark.parametrize(("offset", "length"), [(0, 1), (5, 300_000), (999_990, 10), (999_990, 99)])
def test_a_part_is_read_alone(store, offset, length):
    data = bytes(range(250)) * 4000
    put(store, "parts/a", data)
    with store.open("parts/a", byte_range=ByteRange(offset, length)) as stream:
        first = stream.read(3)
        assert first + stream.read() == data[offset : offset + length]
        assert stream.read(1) == b""


def test_a_part_of_nothing_is_missing(store):
    with pytest.raises(BlobMissingError), store.open("none", byte_range=ByteRange(0, 10)):
        pass


def test_a_missing_blob_is_reported_as_missing(store):
    store.check()
    for key in ("none", "no/such/folder"):
        with pytest.raises(BlobMissingError):
            store.read(key)
        with pytest.raises(BlobMissingError), store.open(key):
            pass


def test_bytes_are_missing_while_nothing_was_ever_put(store):
    with pytest.raises(BlobMissingError):
        store.read("none")


def test_the_keys_of_a_prefix_are_listed(store):
    assert list(store.list_keys("batches/b1/")) == []
    for key in ("batches/b1/body", "batches/b1/parts/0-a", "batches/b10/body", "other"):
        put(store, key, b"x")
    assert sorted(store.list_keys("batches/b1/")) == ["batches/b1/body", "batches/b1/parts/0-a"]
    for key in store.list_keys("batches/b1/"):
        store.delete(key)
    assert list(store.list_keys("batches/b1/")) == []


def test_nothing_whole_is_removed_with_the_drafts(store):
    put(store, "batches/b/body", b"whole")
    assert store.remove_temporary_files(older_than_seconds=-3600) == 0
    assert store.read("batches/b/body") == b"whole"


def test_old_leftovers_of_killed_writers_are_removed(tmp_path):
    folder = FolderStore(tmp_path)
    assert folder.remove_temporary_files(older_than_seconds=0) == 0
    folder.check()
    (tmp_path / ".drafts" / "0123").write_bytes(b"half of it")
    assert folder.remove_temporary_files(older_than_seconds=3600) == 0
    assert folder.remove_temporary_files(older_than_seconds=-3600) == 1
    assert list((tmp_path / ".drafts").iterdir()) == []


def test_deleting_is_repeatable(store):
    put(store, "gone", b"x")
    store.delete("gone")
    store.delete("gone")
    store.delete("never/was")
    with pytest.raises(BlobMissingError):
        store.read("gone")


@pytest.mark.parametrize(
    "key",
    [
        "", "/etc/passwd", "../up", "a/../b", "a//b", "a/", ".hidden", "a/.b", "ä", "a b", "a\0",
        "a\n",
    ],
)  # fmt: skip
def test_a_key_outside_the_pattern_is_refused(store, key):
    for call in (store.read, store.delete, lambda key: put(store, key, b"x")):
        with pytest.raises(ValueError, match="blob key"):
            call(key)


@pytest.mark.services
def test_a_dead_s3_server_is_reported():
    store = open_store("s3+http://key:secret@127.0.0.1:1/bucket")
    for call in (lambda: store.read("a"), lambda: put(store, "a", b"x"), store.check):
        with pytest.raises(Unavailable):
            call()


@pytest.mark.services
def test_a_wrong_secret_is_reported_as_unavailable(rclone_url):
    store = open_store(rclone_url.replace("key:", "other:") + "/bucket")
    with pytest.raises(Unavailable):
        store.check()


def test_a_file_under_way_is_never_seen(tmp_path):
    store = FolderStore(tmp_path)

    class Watching(io.BytesIO):
        def read(self, size=-1):
            with pytest.raises(BlobMissingError):
                store.read("slow")
            return super().read(size)

    store.put("slow", Watching(b"abc"), 3)
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["slow"]


@pytest.mark.parametrize(
    "url", ["http://host/bucket", "s3://host/bucket", "s3://k:s@host", "file:", "", "s3://k:s@/b"]
)
def test_a_url_of_no_store_is_refused(url):
    with pytest.raises(ValueError, match="blob URL"):
        open_store(url)


WRITER = """
import sys
from shared.blobs.factory import open_store

class Slow:
    def read(self, size=-1):
        print("writes", flush=True)
        sys.stdin.read()

open_store(sys.argv[1]).put("jobs/j/body", Slow())
"""


def test_a_writer_that_is_killed_leaves_no_file(tmp_path):
    url = f"file://{tmp_path}/blobs"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", WRITER, url], **pipes) as writer:
        assert writer.stdout.readline() == b"writes\n"
        writer.kill()
    assert [path for path in (tmp_path / "blobs").rglob("*") if path.is_file()] == []


def test_a_file_system_without_nameless_files_will_do(tmp_path, monkeypatch):
    def refuse(path, flags, *args, **kwargs):
        if flags & os.O_TMPFILE == os.O_TMPFILE:
            raise OSError(errno.EOPNOTSUPP, "not supported")
        return os_open(path, flags, *args, **kwargs)

    os_open = os.open
    monkeypatch.setattr(os, "open", refuse)
    folder = FolderStore(tmp_path)
    put(folder, "a/b", b"bytes")
    assert folder.read("a/b") == b"bytes"
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["b"]


def test_folders_go_with_their_last_file(tmp_path):
    folder = FolderStore(tmp_path)
    for key in ("jobs/j/body", "jobs/j/pdf"):
        put(folder, key, b"x")
    folder.delete("jobs/j/body")
    assert (tmp_path / "jobs" / "j").is_dir()
    folder.delete("jobs/j/pdf")
    assert list(tmp_path.iterdir()) == []


def test_a_failed_store_leaves_no_folder(tmp_path):
    folder = FolderStore(tmp_path)
    with pytest.raises(ValueError, match="ended 1 bytes"):
        folder.put("jobs/j/pdf", io.BytesIO(b"x"), 2)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_goes_while_a_file_comes_does_no_harm(tmp_path):
    folder = FolderStore(tmp_path)
    is_over = threading.Event()

    def come_and_go():
        while not is_over.is_set():
            put(folder, "jobs/j/short", b"x")
            folder.delete("jobs/j/short")
            list(folder.list_keys("jobs/"))

    threads = [threading.Thread(target=come_and_go) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for number in range(100):
            put(folder, "jobs/j/body", b"%d" % number)
            assert folder.read("jobs/j/body") == b"%d" % number
            folder.delete("jobs/j/body")
    finally:
        is_over.set()
        for thread in threads:
            thread.join()
