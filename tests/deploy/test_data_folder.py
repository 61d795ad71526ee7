"""A data folder belongs to one farm and to its owner alone."""

import os
import stat

import pytest

from deploy.embedded.data_folder import FarmRecord, FolderInUse, open_folder
from deploy.embedded.logs import LogTail, last_lines


@pytest.fixture
def folder(tmp_path):
    folder = open_folder(tmp_path / "farm")
    folder.create()
    return folder


def record_of(url="http://127.0.0.1:8000"):
    return FarmRecord(
        os.getpid(), url, "sqlite:////x", "redis://:secret@127.0.0.1:1/0", "file:///x"
    )


def test_two_farms_never_share_a_folder(folder):
    lock = folder.lock()
    folder.write_record(record_of())
    with pytest.raises(FolderInUse) as taken:
        folder.lock()
    lock.close()
    assert str(folder.path) in str(taken.value)
    assert f"process {os.getpid()} at http://127.0.0.1:8000" in str(taken.value)


def test_a_folder_is_free_again_once_its_farm_is_gone(folder):
    folder.lock().close()
    folder.lock().close()


def test_the_record_has_the_redis_password_and_is_the_owners_alone(folder):
    folder.write_record(record_of())
    assert stat.S_IMODE((folder.path / "farm.json").stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.path.stat().st_mode) == 0o700


def test_a_record_left_by_a_killed_farm_is_not_taken_for_a_running_one(folder):
    folder.write_record(record_of())
    assert folder.find_running() is None
    lock = folder.lock()
    assert folder.find_running() == record_of()
    lock.close()


def test_log_lines_are_shown_whole_with_the_name_of_their_process(tmp_path):
    log = tmp_path / "front.log"
    log.write_text("before\n")
    said = []
    tail = LogTail(said.append)
    tail.follow("front", log)
    with log.open("a") as file:
        file.write("first\nhalf of the sec")
        file.flush()
        tail.show()
        file.write("ond\n")
        file.flush()
        tail.show()
    assert said == ["front   | first", "front   | half of the second"]


def test_the_end_of_a_log_that_is_not_there_is_empty(tmp_path):
    assert last_lines(tmp_path / "none.log") == []
