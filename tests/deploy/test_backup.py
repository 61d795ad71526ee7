"""A backup is whole or refused, and a restore changes nothing unless all of it is there."""

import gzip
import io
import json
import sqlite3
import stat
import tarfile
import threading
from contextlib import closing

import pytest

from deploy.embedded import backup
from deploy.embedded.backup import BackupFailed, make_backup, restore_backup
from deploy.embedded.data_folder import FolderInUse, open_folder
from shared.auth.accounts import create_account, list_accounts
from shared.blobs.folder import FolderStore
from shared.db.session import open_database


@pytest.fixture
def folder(tmp_path, migrated_database):
    folder = open_folder(tmp_path / "farm")
    folder.create()
    folder.database.write_bytes(migrated_database.read_bytes())
    return folder


@pytest.fixture
def store(folder):
    store = FolderStore(folder.blobs)
    store.put("images/a/0001", io.BytesIO(b"one"))
    store.put("jobs/job_1/body", io.BytesIO(b"x" * 3_000_000))
    return store


def contents(folder):
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def emails(folder):
    database = open_database(folder.database_url)
    with database.snapshot() as session:
        names = [account.name for account in list_accounts(session)]
    database.close()
    return names


def add_account(folder, email):
    database = open_database(folder.database_url)
    with database.session() as session:
        create_account(session, email=email)
    database.close()


def rewrite(source, target, change):
    """Rewrite the members of a backup; `change` returns the new content of a name and a content."""
    with tarfile.open(source) as old, tarfile.open(target, "w:gz") as new:
        for member in old:
            for info, data in change(member, old.extractfile(member).read()):
                info.size = len(data)
                new.addfile(info, io.BytesIO(data))


def test_a_backup_is_restored_byte_by_byte(folder, store, tmp_path):
    add_account(folder, "kept@example.org")
    made = make_backup(folder, tmp_path / "b.tgz")
    assert made.blobs == 2
    assert stat.S_IMODE((tmp_path / "b.tgz").stat().st_mode) == 0o600
    there = open_folder(tmp_path / "there")
    assert restore_backup(tmp_path / "b.tgz", there) == made
    assert contents(there.blobs) == contents(folder.blobs)
    assert emails(there) == emails(folder)
    assert "kept@example.org" in emails(there)
    assert stat.S_IMODE(there.database.stat().st_mode) == 0o600
    assert sorted(path.name for path in tmp_path.iterdir()) == ["b.tgz", "farm", "there"]


def test_unfinished_uploads_are_not_in_a_backup(folder, store, tmp_path):
    (folder.blobs / ".drafts").mkdir()
    (folder.blobs / ".drafts" / "0123").write_bytes(b"half of it")
    store.put("claims/job:job_1:0a", io.BytesIO(b"for its worker"), 14, is_transient=True)
    assert make_backup(folder, tmp_path / "b.tgz").blobs == 2
    there = open_folder(tmp_path / "there")
    restore_backup(tmp_path / "b.tgz", there)
    assert contents(there.blobs).keys() == {"images/a/0001", "jobs/job_1/body"}


def test_the_copy_is_of_one_moment_while_the_farm_writes(folder, tmp_path):
    with closing(sqlite3.connect(folder.database)) as made:
        made.execute("CREATE TABLE pairs (side INTEGER, number INTEGER)")
    stop = threading.Event()

    def write():
        with closing(sqlite3.connect(folder.database, timeout=30)) as connection:
            number = 0
            while not stop.is_set():
                number += 1
                with connection:
                    connection.execute("INSERT INTO pairs VALUES (1, ?)", (number,))
                    connection.execute("INSERT INTO pairs VALUES (2, ?)", (number,))

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for turn in range(3):
            make_backup(folder, tmp_path / f"{turn}.tgz")
    finally:
        stop.set()
        writer.join()
    for turn in range(3):
        there = open_folder(tmp_path / f"there{turn}")
        restore_backup(tmp_path / f"{turn}.tgz", there)
        with closing(sqlite3.connect(there.database)) as read:
            ones, twos = (
                [row[0] for row in read.execute(f"SELECT number FROM pairs WHERE side = {side}")]
                for side in (1, 2)
            )
        assert ones == twos


def test_a_blob_that_comes_with_its_record_during_the_backup_is_in_it(
    folder, store, tmp_path, monkeypatch
):
    copy = backup.copy_database

    def meanwhile(source, target):
        store.put("images/a/0002", io.BytesIO(b"two"))
        add_account(folder, "late@example.org")
        copy(source, target)

    monkeypatch.setattr(backup, "copy_database", meanwhile)
    assert make_backup(folder, tmp_path / "b.tgz").blobs == 3
    there = open_folder(tmp_path / "there")
    restore_backup(tmp_path / "b.tgz", there)
    assert (there.blobs / "images/a/0002").read_bytes() == b"two"
    assert "late@example.org" in emails(there)


def test_an_existing_farm_is_replaced_only_with_the_option_and_moved_aside(folder, store, tmp_path):
    make_backup(folder, tmp_path / "b.tgz")
    add_account(folder, "later@example.org")
    (folder.redis / "appendonly.aof").write_text("queue")
    before = contents(folder.path)
    with pytest.raises(BackupFailed, match="already has a farm"):
        restore_backup(tmp_path / "b.tgz", folder)
    assert contents(folder.path).items() >= before.items()
    restore_backup(tmp_path / "b.tgz", folder, replace=True)
    assert "later@example.org" not in emails(folder)
    [aside] = folder.path.parent.glob(f"{folder.path.name}.replaced-*")
    assert (aside / "redis/appendonly.aof").read_text() == "queue"
    assert (aside / "blobs/images/a/0001").read_bytes() == b"one"
    assert not folder.redis.exists()


def test_a_farm_that_runs_is_not_restored(folder, tmp_path):
    make_backup(folder, tmp_path / "b.tgz")
    lock = folder.lock()
    try:
        with pytest.raises(FolderInUse):
            restore_backup(tmp_path / "b.tgz", folder, replace=True)
    finally:
        lock.close()


def test_a_backup_does_not_write_over_a_file(folder, tmp_path):
    (tmp_path / "b.tgz").write_text("mine")
    with pytest.raises(BackupFailed, match="already exists"):
        make_backup(folder, tmp_path / "b.tgz")
    assert (tmp_path / "b.tgz").read_text() == "mine"
    with pytest.raises(BackupFailed, match="cannot be written"):
        make_backup(folder, tmp_path / "nowhere/b.tgz")
    with pytest.raises(BackupFailed, match="no farm"):
        make_backup(open_folder(tmp_path / "empty"), tmp_path / "c.tgz")


def cut(data):
    return data[: len(data) // 2]


def flip(data):
    return data[:5000] + bytes(byte ^ 255 for byte in data[5000:5100]) + data[5100:]


@pytest.mark.parametrize(
    "damage", [cut, flip, lambda data: b"", lambda data: b"text", lambda data: gzip.compress(b"x")]
)
def test_a_damaged_file_restores_nothing(folder, store, tmp_path, damage):
    make_backup(folder, tmp_path / "b.tgz")
    (tmp_path / "bad.tgz").write_bytes(damage((tmp_path / "b.tgz").read_bytes()))
    there = open_folder(tmp_path / "there")
    with pytest.raises(BackupFailed):
        restore_backup(tmp_path / "bad.tgz", there)
    assert set(contents(there.path)) == {"farm.lock"}


def without_manifest(member, data):
    return [] if member.name == "manifest.json" else [(member, data)]


def without_a_blob(member, data):
    return [] if member.name == "blobs/images/a/0001" else [(member, data)]


def with_other_database(member, data):
    return [(member, data[:-1] + b"!" if member.name.endswith("sqlite3") else data)]


def of_a_later_release(member, data):
    if member.name != "manifest.json":
        return [(member, data)]
    return [(member, json.dumps(json.loads(data) | {"format": 2}).encode())]


def named(name):
    def change(member, data):
        if member.name == "blobs/images/a/0001":
            member.name = name
        return [(member, data)]

    return change


def linked(member, data):
    if member.name != "blobs/images/a/0001":
        return [(member, data)]
    link = tarfile.TarInfo(member.name)
    link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
    return [(link, b"")]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (without_manifest, "is incomplete"), (without_a_blob, "is incomplete"),
        (with_other_database, "damaged"), (of_a_later_release, "of format 2"),
        (named("../outside"), "'../outside'"), (named("/etc/outside"), "'/etc/outside'"),
        (named("blobs/../../outside"), "outside"), (named("blobs/.hidden"), "hidden"),
        (named("farm.lock"), "farm.lock"), (linked, "is not a file"),
    ],
)  # fmt: skip
def test_an_archive_that_is_no_backup_restores_nothing(folder, store, tmp_path, change, told):
    make_backup(folder, tmp_path / "b.tgz")
    rewrite(tmp_path / "b.tgz", tmp_path / "bad.tgz", change)
    there = open_folder(tmp_path / "there")
    with pytest.raises(BackupFailed, match=told):
        restore_backup(tmp_path / "bad.tgz", there)
    assert set(contents(there.path)) == {"farm.lock"}
    assert not (tmp_path / "outside").exists()
