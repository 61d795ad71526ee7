"""Inspection of uploads in a real worker: what each way of ending gives the client."""

from __future__ import annotations

import pytest

from shared.errors import ErrorKind
from shared.jobs.records import Purpose
from tests.farm.conftest import read_counts
from tests.waiting import wait_until

pytestmark = pytest.mark.usefixtures("worker_log")


@pytest.fixture
def inspect(front):
    """Provide a function that sends a file to inspection and returns the outcome."""
    return lambda body: front.render(body, kind="image", purpose=Purpose.INSPECT)


def test_an_accepted_file_has_its_properties_and_counts_nothing(front, inspect, worker_port):
    assert inspect("accept 3").properties == {"size": 3}
    assert front.used() == (0, 0)
    assert front.events() == 0
    wait_until(lambda: read_counts(worker_port, "inspections")["image", "succeeded"] == 1)
    assert not any(read_counts(worker_port, name) for name in ("pages", "renders", "validations"))


def test_a_refused_file_has_the_words_of_its_inspector(inspect, worker_port):
    error = inspect("refuse").error
    assert (error.status, error.message, error.kind) == (400, "It is damaged.", ErrorKind.REQUEST)
    assert not error.stack_trace
    wait_until(lambda: read_counts(worker_port, "inspections")["image", "request"] == 1)


def test_a_file_that_ends_its_process_is_refused_after_the_second_time(inspect, tmp_path):
    began = tmp_path / "began"
    error = inspect(f"die {began}").error
    assert (error.status, error.kind) == (400, ErrorKind.RESOURCE)
    assert "The image cannot be read: its inspection ended abnormally" in error.message
    assert len(began.read_text().split()) == 2
    assert inspect("accept 1").properties == {"size": 1}


def test_a_file_whose_process_is_killed_once_is_accepted(inspect, tmp_path):
    assert inspect(f"die-once {tmp_path}/began").properties == {"size": 2}


def test_a_file_that_needs_too_much_memory_is_refused(inspect):
    error = inspect("memory").error
    assert (error.status, error.kind) == (400, ErrorKind.RESOURCE)
    assert error.message == (
        "The image needs more memory to render than the 600 MB a render may use: make it smaller."
    )


def test_a_defect_of_ours_is_a_500_with_a_reference(inspect, worker_log):
    error = inspect("bug").error
    assert error.status == 500
    assert error.message.startswith("The inspection failed for a reason inside the service")
    assert error.message.rsplit(maxsplit=1)[1].rstrip(".") in worker_log.read_text()


def test_a_kind_without_inspector_is_a_500(front):
    error = front.render("accept 1", kind="xml", purpose=Purpose.INSPECT).error
    assert error.status == 500


@pytest.mark.long
@pytest.mark.parametrize("body", ["sleep 60", "hang"])
def test_an_endless_inspection_ends_with_its_budget_and_the_next_is_right(front, inspect, body):
    job = front.send(body, kind="image", purpose=Purpose.INSPECT, budget=1.0)
    outcome = front.wait(job, seconds=1.2) or front.replies.abandon(job.id)
    if outcome is not None:
        assert (outcome.error.status, outcome.error.kind) == (504, ErrorKind.TIMEOUT)
        assert "the image is too large or too complex" in outcome.error.message
    assert inspect("accept 2").properties == {"size": 2}


def test_inspections_leave_renders_as_they_were(front, inspect):
    inspect("accept 1")
    assert front.render("pages 2").pages == 2
    assert front.used() == (2, 1)


def test_a_process_that_is_left_without_memory_is_replaced_and_its_worker_goes_on(front):
    front.render("keep")
    for pages in (1, 2, 3):
        assert front.render(f"pages {pages}").pages == pages
