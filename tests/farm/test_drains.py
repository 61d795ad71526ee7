"""A drained queue: running work ends, nothing new is started, and nothing that waits is lost."""

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from shared.jobs.records import OutcomeStatus, Purpose
from shared.queue.depth import PROPAGATION_SECONDS, Drains, QueueReader, UnknownQueueError
from shared.queue.names import HELD_TASKS, WORKERS, WORKERS_SEEN, reply_key
from shared.queue.states import JobStates
from shared.queue.worker_presence import WorkerReport, find_held_tasks, find_workers, report_worker
from tests.waiting import wait_until


def lines(path: Path) -> int:
    return len(path.read_text().splitlines()) if path.exists() else 0


@pytest.fixture
def drains(front):
    return Drains(front.redis)


@pytest.mark.long
def test_running_jobs_end_and_waiting_jobs_start_when_the_queue_is_resumed(
    front, drains, start_worker, tmp_path
):
    start_worker()
    started = tmp_path / "started"
    running = front.send(f"sleep {PROPAGATION_SECONDS + 4} {started}")
    wait_until(lambda: lines(started) == 1)
    assert drains.drain("interactive")
    assert not drains.drain("interactive")
    with ThreadPoolExecutor() as waiters:
        ended = waiters.submit(front.wait, running)
        time.sleep(PROPAGATION_SECONDS)
        waiting = front.send(f"sleep 0 {started}")
        assert ended.result().status is OutcomeStatus.SUCCEEDED
    assert front.wait(waiting, seconds=2.0) is None
    assert lines(started) == 1
    depth = QueueReader(front.redis).read_depth().queues["interactive"]
    assert (depth.waiting, depth.running, depth.is_drained) == (1, 0, True)
    # A queue next to it continues.
    assert front.render("fine", purpose=Purpose.VALIDATE).status is OutcomeStatus.SUCCEEDED
    assert drains.resume("interactive")
    assert front.wait(waiting).status is OutcomeStatus.SUCCEEDED
    assert front.used() == (2, 2)


@pytest.mark.long
def test_a_worker_that_starts_takes_nothing_from_a_drained_queue(
    front, drains, start_worker, tmp_path
):
    started = tmp_path / "started"
    drains.drain("interactive")
    job = front.send(f"sleep 0 {started}")
    start_worker()
    wait_until(lambda: find_workers(front.redis))
    assert front.wait(job, seconds=3.0) is None
    assert lines(started) == 0
    drains.resume("interactive")
    assert front.wait(job).pages == 1


@pytest.mark.long
def test_a_job_not_started_is_withdrawn_and_never_runs(front, drains, start_worker, tmp_path):
    started = tmp_path / "started"
    drains.drain("interactive")
    published = front.broker.publish(front.job(f"sleep 0 {started}"))
    assert JobStates(front.redis).withdraw(published.job_id)
    assert not JobStates(front.redis).withdraw(published.job_id)
    start_worker()
    drains.resume("interactive")
    assert front.render("pages 2").pages == 2
    assert lines(started) == 0
    assert front.used() == (2, 1)
    assert not front.redis.exists(reply_key(published.job_id))
    assert QueueReader(front.redis).read_depth().queues["interactive"].waiting == 0


@pytest.mark.long
def test_a_started_job_is_not_withdrawn(front, start_worker, tmp_path):
    start_worker()
    started = tmp_path / "started"
    job = front.job(f"sleep 1 {started}")
    published = front.broker.publish(job)
    wait_until(lambda: lines(started) == 1)
    assert not JobStates(front.redis).withdraw(published.job_id)
    assert front.wait(job).pages == 1
    assert not JobStates(front.redis).withdraw(published.job_id)


def test_an_unknown_queue_is_reported(drains):
    with pytest.raises(
        UnknownQueueError, match=r"'intractive'.*interactive, preview, validate, batch"
    ):
        drains.drain("intractive")
    with pytest.raises(UnknownQueueError):
        drains.resume("")
    assert drains.find() == {}


@pytest.mark.long
def test_a_worker_reports_its_tasks_and_its_shutdown(front, start_worker, tmp_path):
    worker = start_worker(worker_queues="batch,interactive", worker_concurrency="3")
    wait_until(lambda: find_workers(front.redis))
    [word] = find_workers(front.redis)
    assert (word.queues, word.slots, word.busy) == (("batch", "interactive"), 3, 0)
    assert word.name.endswith(f":{worker.pid}")
    front.send(f"sleep 4 {tmp_path / 'started'}")
    wait_until(lambda: find_workers(front.redis)[0].busy == 1)
    worker.terminate()
    wait_until(lambda: not find_workers(front.redis))


def test_a_killed_worker_is_missed_and_forgotten(front):
    report_worker(front.redis, WorkerReport("here:1", ("batch",), 2, 1))
    report_worker(front.redis, WorkerReport("gone:1", ("batch",), 2, 1, {"batch": 1}), ["job_1"])
    assert [word.name for word in find_workers(front.redis)] == ["gone:1", "here:1"]
    assert QueueReader(front.redis).read_depth().queues["batch"].running == 1
    front.redis.zincrby(WORKERS_SEEN, -10, "gone:1")
    front.redis.zincrby(HELD_TASKS, -10, "job_1")
    assert [word.name for word in find_workers(front.redis)] == ["here:1"]
    assert not find_held_tasks(front.redis)
    front.redis.zincrby(WORKERS_SEEN, -60, "gone:1")
    front.redis.zincrby(HELD_TASKS, -60, "job_1")
    report_worker(front.redis, WorkerReport("here:1", ("batch",), 2, 0))
    assert front.redis.hkeys(WORKERS) == [b"here:1"]
    assert not front.redis.exists(HELD_TASKS)
