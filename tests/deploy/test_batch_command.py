"""`pressroom batch` before and after the farm: what it refuses, what it unpacks, what it shows."""

from __future__ import annotations

import errno
import zipfile
from dataclasses import replace
from unittest.mock import Mock

import pytest

from deploy.cli.batch import Progress, unpack
from deploy.cli.main import main
from deploy.cli.output import CommandFailed
from pressroom_client import Batch
from shared.zip_files import name_entry

BATCH = Batch(
    "batch_1", "running", False, "invoice", 1000, 700, 2, 290, 8, 0, 290, "2026-03-01T00:00:00.000Z"
)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["d.ndjson", "-o", "out.txt"], "name a .zip, a .pdf, or a folder"),
        (["d.json", "-o", "out.zip"], "unsupported suffix; accepted are .csv"),
        (["missing.csv", "-o", "out.zip"], "cannot be read"),
    ],
)
def test_unreadable_files_are_reported_before_anything_is_sent(
    arguments, message, tmp_path, monkeypatch, capsys
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "d.ndjson").write_text("{}\n")
    (tmp_path / "d.json").write_text("{}")
    given = ["batch", "t", *arguments, "--url", "http://127.0.0.1:9", "--key", "pr_1"]
    assert main(given) == 1
    assert message in capsys.readouterr().err


def test_without_a_farm_the_error_names_the_options(tmp_path, monkeypatch, capsys) -> None:
    for name in ("PRESSROOM_URL", "PRESSROOM_KEY"):
        monkeypatch.delenv(name, raising=False)
    assert main(["batch", "t", "d.ndjson", "-o", "out.zip"]) == 1
    assert "PRESSROOM_URL" in capsys.readouterr().err


@pytest.mark.long
def test_an_unreachable_farm_leaves_the_batch_resumable(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("pressroom_client.transport.BACKOFF_SECONDS", 0.01)
    (tmp_path / "d.ndjson").write_text("{}\n")
    given = ["batch", "t", "d.ndjson", "-o", "out.zip", "--url", "http://127.0.0.1:9"]
    assert main([*given, "--key", "pr_1"]) == 1
    assert "repeat the command to resume" in capsys.readouterr().err
    first = (tmp_path / ".out.zip.pressroom").read_text()
    assert "pr_1" not in first
    assert main([*given, "--key", "pr_1"]) == 1
    assert (tmp_path / ".out.zip.pressroom").read_text() == first


def test_an_archive_is_extracted_into_its_folder_only(tmp_path) -> None:
    archive = tmp_path / "a.zip"
    with zipfile.ZipFile(archive, "w") as made:
        made.writestr("000000-a.pdf", b"one")
        made.writestr("000001-b.pdf", b"two")
    assert unpack(archive, tmp_path) == 2
    assert (tmp_path / "000001-b.pdf").read_bytes() == b"two"


def test_names_of_an_archive_are_names_that_file_systems_take(tmp_path) -> None:
    archive = tmp_path / "a.zip"
    with zipfile.ZipFile(archive, "w") as made:
        for index, letter in enumerate("aä請😀"):
            made.writestr(name_entry(index, letter * 200), b"one")
    assert unpack(archive, tmp_path) == 4
    assert (tmp_path / f"000001-{'ä' * 100}.pdf").exists()
    assert (tmp_path / f"000002-{'請' * 66}.pdf").exists()


def test_a_batch_that_has_no_result_is_not_resumed(tmp_path, monkeypatch, capsys) -> None:
    (tmp_path / "d.ndjson").write_text("{}\n")
    ended = replace(BATCH, status="finished", error={"message": "too many files"})
    for call in ("submit_batch", "wait_batch"):
        monkeypatch.setattr(f"pressroom_client.Pressroom.{call}", Mock(return_value=ended))
    given = ["batch", "t", str(tmp_path / "d.ndjson"), "-o", str(tmp_path / "out.zip")]
    assert main([*given, "--url", "http://127.0.0.1:9", "--key", "pr_1"]) == 1
    assert "batch_1 has no result: too many files" in capsys.readouterr().err
    assert [each.name for each in tmp_path.iterdir()] == ["d.ndjson"]


def test_an_output_that_cannot_be_written_is_reported(tmp_path, monkeypatch, capsys) -> None:
    (tmp_path / "d.ndjson").write_text("{}\n")
    full = OSError(errno.ENOSPC, "No space left on device")
    monkeypatch.setattr("pressroom_client.Pressroom.submit_batch", Mock(side_effect=full))
    given = ["batch", "t", str(tmp_path / "d.ndjson"), "-o", str(tmp_path / "out.zip")]
    assert main([*given, "--url", "http://127.0.0.1:9", "--key", "pr_1"]) == 1
    assert "out.zip cannot be written: No space left on device" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["../a.pdf", "/etc/a.pdf", "b/../../a.pdf", "..", "a\\..\\b.pdf"])
def test_an_archive_cannot_write_elsewhere(tmp_path, name) -> None:
    archive, folder = tmp_path / "a.zip", tmp_path / "into"
    folder.mkdir()
    with zipfile.ZipFile(archive, "w") as made:
        made.writestr(name, b"x")
    with pytest.raises(CommandFailed):
        unpack(archive, folder)
    assert list(folder.iterdir()) == []
    assert set(tmp_path.iterdir()) == {archive, folder}


def test_a_terminal_has_a_bar_with_rate_and_time_left(capsys) -> None:
    clock = iter([0.0, 0.0, 10.0])
    progress = Progress(is_terminal=True, now=lambda: next(clock))
    progress.show(replace(BATCH, succeeded=0, failed=0))
    progress.show(BATCH)
    progress.end()
    line = capsys.readouterr().err.split("\r")[-1]
    assert "[#######................." in line
    assert "298/1,000 documents" in line
    assert "30%" in line
    assert "30/s" in line
    assert "0:23 left" in line
    assert "8 failed" in line


def test_elsewhere_it_is_a_line_now_and_then(capsys) -> None:
    seconds = [0.0]
    progress = Progress(is_terminal=False, now=lambda: seconds[0])
    for second in range(30):
        seconds[0] = float(second)
        progress.show(BATCH)
    progress.show(replace(BATCH, status="finished"))
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 4
    assert "\x1b" not in "".join(lines)
