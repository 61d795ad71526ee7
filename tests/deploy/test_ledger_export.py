"""`pressroom ledger export`: every metered job of a span of days, once, in order, as rows of text."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from datetime import UTC, datetime, timedelta

import pytest

from deploy.cli.main import main
from shared.db.session import open_database
from shared.jobs.records import Allowance
from shared.usage.metering import UsageEvent
from shared.usage.repository import record_events

FIRST = datetime(2026, 10, 1, tzinfo=UTC)


@pytest.fixture
def farm(tmp_path, migrated_database):
    """Make a farm's folder whose ledger has a job every six hours, of two accounts in turn."""
    folder = tmp_path / "farm"
    folder.mkdir()
    url = f"sqlite:///{folder}/pressroom.sqlite3"
    (folder / "pressroom.sqlite3").write_bytes(migrated_database.read_bytes())
    events = [
        UsageEvent(
            f"job_{number:04}",
            f"acc_{number % 2}",
            "2026-10-01",
            Allowance.PRODUCTION,
            number,
            FIRST + timedelta(hours=6 * number),
        )
        for number in range(200)
    ]
    database = open_database(url)
    with database.session() as session:
        record_events(session, reversed(events), at=FIRST + timedelta(days=60))
    database.close()
    return folder


@pytest.fixture
def export(farm, capsys):
    def export(*arguments, code=0):
        assert main(["ledger", "export", "--data", str(farm), *arguments]) == code
        return capsys.readouterr()

    return export


def test_every_row_is_exported_as_csv_in_the_order_of_time(export):
    told = export()
    head, *rows = csv.reader(io.StringIO(told.out))
    assert head == [
        "job_id", "account_id", "period", "allowance", "pages", "occurred_at", "recorded_at", "cpu_us"
    ]  # fmt: skip
    assert [row[0] for row in rows] == [f"job_{number:04}" for number in range(200)]
    assert rows[3] == [
        "job_0003", "acc_1", "2026-10-01", "production", "3",
        "2026-10-01T18:00:00.000Z", "2026-11-30T00:00:00.000Z", "0",
    ]  # fmt: skip
    assert told.err == "200 rows\n"


def test_days_are_those_from_the_first_to_before_the_last(export):
    told = export("--from", "2026-10-02", "--to", "2026-10-04", "--format", "ndjson")
    rows = [json.loads(line) for line in told.out.splitlines()]
    assert [row["pages"] for row in rows] == list(range(4, 12))
    following = export("--from", "2026-10-04", "--to", "2026-10-05", "--format", "ndjson")
    assert json.loads(following.out.splitlines()[0])["pages"] == 12


def test_the_rows_of_one_account_alone_are_exported(export):
    rows = list(csv.DictReader(io.StringIO(export("--account", "acc_1").out)))
    assert {row["account_id"] for row in rows} == {"acc_1"}
    assert len(rows) == 100


def test_a_file_is_there_once_it_is_whole(export, tmp_path):
    file = tmp_path / "ledger.csv"
    file.write_text("old")
    assert export("-o", str(file)).out == ""
    assert len(file.read_text().splitlines()) == 201
    assert [each.name for each in tmp_path.iterdir() if "part" in each.name] == []


def test_an_export_that_fails_is_reported(export, tmp_path):
    told = export("--from", "2026-10-02", "--to", "2026-10-02", code=1).err
    assert "--from 2026-10-02 is not before --to 2026-10-02" in told
    assert "cannot write" in export("-o", str(tmp_path / "none" / "x.csv"), code=1).err
    with pytest.raises(SystemExit) as ended:
        export("--from", "October")
    assert ended.value.code == 2


@pytest.mark.parametrize("words", ["ledger export", "account list", "status"])
def test_a_reader_that_has_seen_enough_is_no_failure_of_the_program(farm, words):
    command = [sys.executable, "-m", "deploy.cli.main", *words.split(), "--data", str(farm)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        told = process.stderr.read().decode()
    assert process.returncode == 1
    assert "Traceback" not in told
