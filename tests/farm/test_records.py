"""The ends of a child's jobs go on record together, none much later, none by the fault of another."""

from __future__ import annotations

import time
from collections.abc import Callable
from types import SimpleNamespace

import pytest

from shared.errors import Unavailable
from shared.jobs import JobOutcome, OutcomeStatus
from workers.farm import recorded
from workers.farm.recorded import TOGETHER, Records


class Flow:
    """Notes which ends go on record in one unit of work."""

    def __init__(self) -> None:
        self.units: list[list[str]] = []
        self.refuse: Callable[[list[str]], None] = lambda job_ids: None

    def record_ends(self, ended) -> None:
        self.refuse(list(ended))
        self.units.append(list(ended))


@pytest.fixture
def flow():
    return Flow()


@pytest.fixture
def dropped():
    return []


@pytest.fixture
def records(flow, dropped):
    return Records(flow, SimpleNamespace(drop=dropped.append))


def put(records, *names):
    for name in names:
        job = SimpleNamespace(id=name, body=f"body of {name}")
        records.put(job, JobOutcome(name, OutcomeStatus.SUCCEEDED))


def test_ends_wait_for_each_other_and_for_nothing_more(records, flow):
    put(records, "a", "b", "c")
    assert flow.units == []
    records.settle()
    records.settle()
    assert flow.units == [["a", "b", "c"]]


def test_a_body_goes_when_the_end_of_its_job_is_on_record(records, flow, dropped):
    put(records, "a")
    assert dropped == []
    records.settle()
    assert dropped == ["body of a"]


def test_no_more_than_so_many_go_together(records, flow):
    names = [str(number) for number in range(2 * TOGETHER + 1)]
    put(records, *names)
    assert flow.units == [names[:TOGETHER], names[TOGETHER : 2 * TOGETHER]]


def test_an_end_does_not_wait_long_for_the_next(records, flow):
    put(records, "a")
    time.sleep(0.11)
    put(records, "b")
    assert flow.units == [["a", "b"]]


def test_behind_long_work_ends_go_on_record_without_its_slot(records, flow, wait_until):
    for names in (["a", "b"], ["c"]):
        begun = time.monotonic()
        put(records, *names)
        wait_until(lambda names=names: flow.units[-1:] == [names])
        assert time.monotonic() - begun < 2
        time.sleep(0.05)  # its thread rests again


def test_what_cannot_go_on_record_takes_no_other_along(records, flow, dropped):
    def refuse(job_ids):
        if "b" in job_ids:
            raise ValueError("no such column")

    flow.refuse = refuse
    put(records, "a", "b", "c")
    records.settle()
    assert flow.units == [["a"], ["c"]]
    assert dropped == ["body of a", "body of c"]


def test_a_database_that_is_away_for_a_moment_is_waited_for(records, flow, monkeypatch):
    monkeypatch.setattr(recorded, "_PAUSE_SECONDS", 0.01)
    outages = iter(["away"] * 3)

    def refuse(_):
        if next(outages, None):
            raise Unavailable("database")

    flow.refuse = refuse
    put(records, "a", "b")
    records.settle()
    assert flow.units == [["a", "b"]]


def test_one_that_stays_away_leaves_the_ends_to_the_keeper(records, flow, dropped, monkeypatch):
    monkeypatch.setattr(recorded, "PATIENCE_SECONDS", 0.0)

    def refuse(_):
        raise Unavailable("database")

    flow.refuse = refuse
    put(records, "a", "b")
    records.settle()
    assert (flow.units, dropped) == ([], [])
