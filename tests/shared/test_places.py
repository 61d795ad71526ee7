"""Places by the calls of a front, next to others."""

from __future__ import annotations

import time

import pytest

from shared.queue import admission_places as module
from shared.queue.admission_places import (
    AdmissionPlaces,
    PlaceRequest,
    PlaceState,
    WaitingLimitError,
    count_places,
    find_fetching,
)
from shared.queue.connection import register
from shared.queue.states import JobStates
from shared.queue.worker_presence import WorkerReport, report_worker
from tests.waiting import wait_until


@pytest.fixture
def places(redis):
    report_worker(redis, WorkerReport("w", ("interactive", "preview"), 1, 0))
    report_worker(redis, WorkerReport("b", ("batch",), 8, 0))
    return AdmissionPlaces(redis, most_waiting=1)


def ask(name, queue="interactive"):
    return PlaceRequest(name, name[0], queue)


def test_a_job_that_waits_has_a_slot_of_a_worker_that_starts(places, redis):
    places.acquire(ask("a1"))
    assert not places.acquire(ask("a2"))
    report_worker(redis, WorkerReport("v", ("interactive",), 3, 0))
    wait_until(lambda: places.renew("a2") is PlaceState.HELD)
    assert places.renew("a1") is PlaceState.HELD  # its lease has not expired


def test_without_workers_some_jobs_are_published_all_the_same(redis):
    places = AdmissionPlaces(redis, most_waiting=1)
    assert all(places.acquire(ask(f"a{n}")) for n in range(8))


def test_a_waiter_is_woken_and_a_full_queue_reports_when_to_retry(places):
    places.acquire(ask("a1"))
    places.acquire(ask("a2"))
    with pytest.raises(WaitingLimitError) as full:
        places.acquire(ask("a3"))
    assert (full.value.waiting, full.value.retry_after_seconds) == (1, 1)
    assert places.wait("a2", seconds=0.01) is PlaceState.WAITING
    places.release("a1")
    assert places.wait("a2", seconds=60) is PlaceState.HELD


def test_a_waiting_job_that_ends_is_woken_too(places, redis):
    places.acquire(ask("a1"))
    places.acquire(ask("a2"))
    assert JobStates(redis).withdraw("a2")
    assert places.wait("a2", seconds=60) is PlaceState.ENDED
    assert places.renew("x") is None


def test_jobs_are_counted_by_queue_and_state_without_those_of_fronts_that_are_gone(
    places, redis, monkeypatch
):
    places.acquire(ask("a1"))
    places.acquire(ask("a2", "preview"))
    register(redis, "suspend")(keys=["job:a1", "job:a1:reply"], args=["a1", "x", 60])
    counted = count_places(redis)
    assert {key: each.jobs for key, each in counted.items()} == {
        ("interactive", PlaceState.FETCHING): 1,
        ("preview", PlaceState.HELD): 1,
    }
    assert all(abs(each.oldest_at - time.time()) < 5 for each in counted.values())
    assert find_fetching(redis) == {"a1"}
    monkeypatch.setattr(module, "PLACE_LEASE_SECONDS", -1)
    places.renew("a1")
    assert find_fetching(redis) == set()
    assert list(count_places(redis)) == [("preview", PlaceState.HELD)]
