"""A real worker process: what each way of ending a render gives its client."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from shared.blobs.factory import open_store
from shared.errors import ErrorCode, ErrorKind
from shared.jobs.records import ClaimStorage, OutcomeStatus, Purpose
from shared.queue.states import CANCELLED, JobStates
from tests.farm.conftest import read_counts
from tests.waiting import wait_until

pytestmark = pytest.mark.usefixtures("worker_log")


def test_a_render_gives_its_pdf_and_is_metered_once(front):
    outcome = front.render("pages 3")
    assert outcome.status is OutcomeStatus.SUCCEEDED
    assert (outcome.pages, outcome.filename) == (3, "fake.pdf")
    assert b"".join(front.replies.fetch_pdf(outcome.pdf)) == b"%PDF" + b"x" * 100
    assert {"queue", "layout"} <= set(outcome.timings)
    assert front.used() == (3, 1)
    assert front.events() == 1


@pytest.mark.long
def test_a_render_that_its_front_cancels_is_stopped_and_not_metered(front, tmp_path):
    started = tmp_path / "started"
    job = front.send(f"sleep 300 {started}")
    wait_until(started.exists)
    assert JobStates(front.redis).close(job.id, CANCELLED).status is OutcomeStatus.CANCELLED
    assert front.render("pages 1").pages == 1
    assert front.used() == (1, 1)


def test_a_job_whose_front_has_a_clock_ahead_did_not_queue_for_less_than_no_time(front):
    job = front.job()
    front.broker.publish(replace(job, admitted_at=job.admitted_at + 30))
    assert front.wait(job).timings["queue"] == 0


@pytest.mark.parametrize(
    ("size", "home"),
    [(60_000, ClaimStorage.INLINE), (1_000_000, ClaimStorage.BLOB), (5_000_000, ClaimStorage.BLOB)],
)
def test_a_pdf_of_any_size_comes_back_whole_and_leaves_nothing(front, size, home):
    outcome = front.render(f"pages 1 {size}")
    assert outcome.pdf.home is home
    assert sum(map(len, front.replies.fetch_pdf(outcome.pdf))) == outcome.pdf.size == size + 4
    front.replies.wait("job_none", timeout_seconds=0.01)  # what was read goes with the next wait
    assert not front.redis.exists(outcome.pdf.key, f"job:{outcome.job_id}:reply")
    assert outcome.pdf.key not in open_store(front.blob_url).list_keys("claims/")


@pytest.mark.parametrize(
    ("body", "status", "kind"),
    [
        ("authoring", 400, ErrorKind.AUTHORING),
        ("memory", 400, ErrorKind.RESOURCE),
        ("deep", 400, ErrorKind.RESOURCE),
        ("bug", 500, ErrorKind.INTERNAL),
    ],
)
def test_a_failed_render_reports_the_reason_and_counts_nothing(front, body, status, kind):
    error = front.render(body).error
    assert (error.status, error.kind) == (status, kind)
    assert "secret" not in error.message
    assert front.used() == (0, 0)
    assert front.render("pages 1").pages == 1


def test_a_validation_gives_findings_and_counts_nothing(front, worker_port):
    outcome = front.render("broken", purpose=Purpose.VALIDATE)
    assert outcome.findings == {
        "valid": False,
        "errors": [{"message": "broken [not-fine]"}],
        "warnings": [],
    }
    assert front.render("fine", purpose=Purpose.VALIDATE).findings["valid"] is True
    assert front.used() == (0, 0)
    assert front.events() == 0
    wait_until(lambda: read_counts(worker_port, "validations")["xml", "succeeded"])


def test_an_authoring_error_carries_its_trace(front):
    error = front.render("authoring").error
    assert error.message == "There is no field x. [no-field]"
    assert error.stack_trace[0]["tagName"] == "p"
    assert error.stack_trace[0]["lineStart"] == 3


def test_a_memory_error_reports_the_limit(front):
    assert "600 MB" in front.render("memory").error.message


def test_a_defect_is_logged_beside_its_reference(front, worker_log):
    message = front.render("bug").error.message
    reference = message.rsplit(maxsplit=1)[1].rstrip(".")
    log = worker_log.read_text()
    assert reference in log
    assert "ZeroDivisionError" in log


@pytest.mark.long
@pytest.mark.parametrize("body", ["spin 60", "sleep 60", "hang"])
def test_an_endless_render_ends_with_its_budget_and_the_next_is_right(front, body):
    front.render()
    job = front.send(body, budget=1.0)
    outcome = front.wait(job, seconds=1.2) or front.replies.abandon(job.id)
    if outcome is not None:
        assert outcome.error.code is ErrorCode.RENDER_TIMEOUT
        assert outcome.error.status == 504
    assert front.render("pages 2").pages == 2
    assert front.used() == (3, 2)
