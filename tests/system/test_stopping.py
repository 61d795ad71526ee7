"""A farm that is stopping: long polls return at once, renders that clients wait for are answered."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from deploy.embedded.demo.show import launched_farm, stop_farm
from tests.system.conftest import open_account
from tests.waiting import wait_until

pytestmark = pytest.mark.long

POLLS, RENDERS = 64, 2
# Some seconds of work for a slot.
LONG = "<document><flow>" + "<p>Some words of a long document.</p>" * 40_000 + "</flow></document>"
ASYNC = {"Content-Type": "text/xml", "Prefer": "respond-async"}


@pytest.fixture
def farm(tmp_path):
    with launched_farm(tmp_path / "farm") as farm:
        yield farm


def test_long_polls_return_within_five_seconds_and_renders_are_answered(farm):
    account = open_account(farm, plan="paid")
    farm.command("queue", "drain", "batch")
    poll = f"{accept_job_that_stays_queued(account)}?wait=60"
    with ThreadPoolExecutor(POLLS + RENDERS + 1) as pool:

        def timed(ask):
            answer = ask()
            return answer, time.monotonic()

        polls = [
            pool.submit(timed, lambda: account.request("GET", poll, headers={}))
            for _ in range(POLLS)
        ]
        renders = [pool.submit(timed, lambda: account.render(LONG)) for _ in range(RENDERS)]
        wait_until_in_progress(account, POLLS + RENDERS)
        began = time.monotonic()
        stopped = pool.submit(stop_farm, farm)
        answered = [each.result(timeout=60) for each in polls]
        rendered = [each.result(timeout=60) for each in renders]
        stopped.result(timeout=90)
        ended = time.monotonic()
    assert {answer.json["status"] for answer, _ in answered} == {"queued"}
    assert max(at for _, at in answered) - began <= 5
    assert {answer.status for answer, _ in rendered} == {200}
    assert farm.supervisor.returncode == 0
    # The stop waits only for the renders, and for the other processes to stop.
    assert ended - max(at for _, at in (*rendered, *answered)) < 15


def accept_job_that_stays_queued(account):
    """Return the path of a job; a worker takes some more until it has heard of the drain."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        accepted = account.request("POST", "/v2/pdf", b"<document/>", headers=ASYNC)
        assert accepted.status == 202
        path = accepted.headers["Location"]
        if account.request("GET", f"{path}?wait=3").json["status"] == "queued":
            return path
    raise AssertionError("each job was taken")


def wait_until_in_progress(account, count):
    """Wait until the front processes `count` requests besides the scrape of its metrics."""
    sample = "pressroom_http_requests_in_progress"

    def requests_in_progress():
        text = account.request("GET", "/metrics").body.decode()
        [found] = [line.split()[-1] for line in text.splitlines() if line.startswith(sample)]
        return float(found)

    wait_until(lambda: requests_in_progress() > count, pause=0.05)
