"""The checker finds each way a run can go wrong, when it is fed one that did."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.engine.paint.drawing import page, text
from tests.faults.checker import State, find_violations
from tests.faults.clients import read_answer
from tests.faults.history import Entry, History, read_history
from workers.engine.layout.display import LaidOutDocument
from workers.engine.paint.writer import write_pages

HISTORY = [
    Entry("render", 0.0, 1.0, 200, "job_a", 2),
    Entry("render", 0.0, 1.0, 200, "job_b", 1),
    Entry("render", 0.0, 1.0, 503),
    Entry("render", 0.0, 1.0, None),
    Entry("accept", 0.0, 1.0, 202, "job_c"),
    Entry("batch", 0.0, 1.0, 202, batch_id="batch_x", total=3),
]
STATE = State(
    ledger=[("job_a", 2), ("job_b", 1), ("job_broken", 5), ("job_c", 4), ("job_x-0", 1), ("job_x-1", 1)],
    totals=(14, 6),
    jobs={"job_c": ("succeeded", 4)},
    batches={"batch_x": ("finished", 3, {"succeeded": 2, "failed": 1}, 2)},
    batch_items={"job_x-0": 1, "job_x-1": 1},
    waiting={"interactive": 0, "batch": 0},
)  # fmt: skip


def test_a_run_that_went_well_has_no_violation() -> None:
    assert find_violations(HISTORY, STATE) == []


@pytest.mark.parametrize(
    ("state", "said"),
    [
        (replace(STATE, ledger=STATE.ledger[1:], totals=(12, 5)), "answered and not counted"),
        (replace(STATE, ledger=[("job_a", 3), *STATE.ledger[1:]], totals=(15, 6)), "counted as 3"),
        (replace(STATE, ledger=[*STATE.ledger, ("job_a", 2)]), "in the ledger twice"),
        (replace(STATE, ledger=[*STATE.ledger, ("job_z", 1)], totals=(15, 7)), "never answered"),
        (replace(STATE, totals=(13, 6)), "the totals say 13 pages"),
        (replace(STATE, jobs={}), "job_c is not on record"),
        (replace(STATE, jobs={"job_c": ("running", None)}), "job_c is still running"),
        (replace(STATE, batches={}), "batch_x is not on record"),
        (replace(STATE, batches={"batch_x": ("running", 3, {}, 2)}), "batch_x is still running"),
        (replace(STATE, batches={"batch_x": ("finished", 3, {"succeeded": 2}, 2)}), "2 that ended"),
        (
            replace(STATE, batches={"batch_x": ("finished", 2, {"succeeded": 2}, 2)}),
            "of 3 documents says 2",
        ),
        (
            replace(STATE, batches={"batch_x": ("finished", 3, {"succeeded": 3}, 9)}),
            "says 9 pages, its items 2",
        ),
        (
            replace(STATE, batch_items={**STATE.batch_items, "job_x-2": 1}),
            "answered and not counted",
        ),
        (replace(STATE, waiting={"batch": 2}), "2 messages are left in batch"),
        (replace(STATE, half_files=("blobs/x.part",)), "half a file is left"),
        (replace(STATE, broken_blobs=("jobs/c/pdf: not there",)), "jobs/c/pdf: not there"),
    ],
)
def test_a_wrong_state_is_found(state, said) -> None:
    found = find_violations(HISTORY, state)
    assert any(said in violation for violation in found), found


@pytest.mark.parametrize(
    ("history", "said"),
    [
        ([*HISTORY, HISTORY[0]], "2 requests were answered with job job_a"),
        ([*HISTORY, Entry("render", 0, 1, 200, "job_y", 1)], "job_y of 1 pages was answered"),
        ([replace(HISTORY[0], flaw="a broken PDF"), *HISTORY[1:]], "a broken PDF"),
        ([replace(entry, status=500) if entry.status is None else entry for entry in HISTORY],
         "1 counted jobs were never answered, 0 connections"),
    ],
)  # fmt: skip
def test_a_wrong_history_is_found(history, said) -> None:
    found = find_violations(history, STATE)
    assert any(said in violation for violation in found), found


def test_a_history_is_read_back_as_it_was_written(tmp_path) -> None:
    history = History(tmp_path / "history.jsonl")
    for entry in HISTORY:
        history.add(entry)
    assert read_history(history.path) == HISTORY == list(history)
    assert history.count(200, 202) == 4


def test_an_answer_with_a_damaged_pdf_is_a_flaw() -> None:
    headers = {"Content-Type": "application/pdf", "X-Page-Count": "1", "X-Job-Id": "job_a"}
    whole = write_pages(LaidOutDocument([page(text(10, 20, "content"))], []))
    damaged = whole.replace(b"endstream", b"endstraem", 1)
    assert read_answer("render", 0.0, 200, headers, whole).flaw is None
    assert "a broken PDF" in (read_answer("render", 0.0, 200, headers, damaged).flaw or "")
    two = read_answer("render", 0.0, 200, {**headers, "X-Page-Count": "2"}, whole)
    assert two.flaw == "a PDF of 1 pages that says 2"
