"""Recorded jobs with a real Redis, real workers and a real maintenance process, killed at the worst moments."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest
from msgspec.structs import replace
from sqlalchemy import select, update

from api.jobs.accepting import make_record
from shared.auth.admission import AdmissionCache
from shared.batches.lifecycle import BatchLifecycle
from shared.batches.slice_scheduling import ensure_in_rotation
from shared.blobs.factory import open_store
from shared.clock import now
from shared.db.session import Database, open_database
from shared.db.tables import jobs, usage_ledger
from shared.jobs.lifecycle import JobLifecycle
from shared.jobs.records import Lane, RenderJob
from shared.jobs.repository import JobRecord, JobStatus, add_jobs, find_job
from shared.queue.broker import Publisher
from shared.queue.names import BATCH, FARM_EPOCH, HELD_TASKS, INTERACTIVE, job_key
from shared.queue.slice_commits import SliceQueue
from shared.queue.states import CANCELLED, CompletionNotices, JobStates
from shared.queue.worker_presence import WorkerReport, find_held_tasks, report_worker
from shared.usage.metering import usage_key
from shared.usage.repository import list_unmetered_jobs
from tests.waiting import wait_until
from workers.maintenance.reconciliation import ReconcileUsage, recount_usage
from workers.maintenance.recorded_work import RequeueLostJobs, expire_jobs

PERIOD = "2026-11-01"


class Farm:
    """The front's side of recorded jobs, and what became of them."""

    def __init__(self, front, environment: dict[str, str], blob_store) -> None:
        self.front = front
        self.environment = environment
        self.database: Database = open_database(environment["PRESSROOM_DATABASE_URL"])
        self.states = JobStates(front.redis)
        self.blobs = blob_store
        endings = CompletionNotices(front.redis)
        self.flow = JobLifecycle(self.database, self.states, endings, blob_store)
        self.slices = SliceQueue(front.redis, Publisher(front.url), render_budget=60)
        self.batches = BatchLifecycle(self.database, blob_store, self.slices, endings)

    def accept(
        self, body: str = "pages 1", *, lane: Lane = Lane.BATCH, account: str = "acc_1"
    ) -> RenderJob:
        """Store a job without queueing it."""
        job = replace(
            self.front.job(body, budget=3600, account=account),
            lane=lane,
            is_recorded=True,
            budget_seconds=60.0,
        )
        with self.database.session() as session:
            ensure_in_rotation(session, [account], at=now())
            add_jobs(session, [make_record(job, user_id="usr_1", template=None)])
        return job

    def send(self, body: str = "pages 1", **options: str) -> RenderJob:
        job = self.accept(body, **options)
        self.batches.enqueue_slices()
        return job

    def record(self, job: RenderJob) -> JobRecord:
        with self.database.snapshot() as session:
            record = find_job(session, job.id)
        assert record is not None
        return record

    def status(self, job: RenderJob) -> JobStatus:
        return self.record(job).status

    def has_ended(self, *sent: RenderJob) -> bool:
        return all(self.status(job).is_final for job in sent)

    def ledger(self) -> dict[str, int]:
        with self.database.snapshot() as session:
            rows = session.execute(select(usage_ledger.c.job_id, usage_ledger.c.pages))
            return {row.job_id: row.pages for row in rows}

    def start_maintenance(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-m", "workers.maintenance.main"], env=self.environment
        )


@pytest.fixture
def farm(front, worker_environment) -> Iterator[Farm]:
    farm = Farm(front, worker_environment, open_store(front.blob_url))
    yield farm
    farm.database.close()


@pytest.fixture
def maintenance(farm) -> Iterator[subprocess.Popen[bytes]]:
    process = farm.start_maintenance()
    yield process
    process.terminate()
    assert process.wait(60) == 0


def stop(maintenance, front) -> None:
    wait_until(lambda: front.redis.exists(FARM_EPOCH))  # it has started, and handles signals
    maintenance.terminate()
    assert maintenance.wait(60) == 0


def held(front) -> bool:
    return bool(find_held_tasks(front.redis))


@pytest.mark.long
def test_a_worker_killed_before_several_ends_are_on_record_has_repeated_none(
    farm, front, start_worker, tmp_path
):
    started = tmp_path / "started"
    worker = start_worker(worker_queues="batch")
    sent = [farm.accept(f"sleep 0.005 {started}") for _ in range(600)]
    farm.batches.enqueue_slices()
    wait_until(lambda: len(committed(front, sent)) > 50)
    with farm.database.session() as holding:  # no other process can write meanwhile
        holding.execute(update(jobs).where(jobs.c.id == "none").values(pages=0))
        on_record = {job.id for job in sent if farm.has_ended(job)}
        wait_until(lambda: len(committed(front, sent) - on_record) >= 3)
        os.kill(worker.pid, signal.SIGKILL)
        worker.wait()
        left = committed(front, sent) - on_record
    assert not any(farm.has_ended(job) for job in sent if job.id in left)
    maintenance = farm.start_maintenance()
    start_worker(worker_queues="batch")
    wait_until(lambda: farm.has_ended(*sent))
    stop(maintenance, front)
    assert {farm.status(job) for job in sent} == {JobStatus.SUCCEEDED}
    # One may have been at work as its worker was killed.
    assert len(sent) <= len(started.read_text().splitlines()) <= len(sent) + 1
    assert front.events() == len(sent)


@pytest.mark.long
def test_a_stopping_worker_records_every_end(farm, front, start_worker):
    worker = start_worker(worker_queues="batch")
    sent = [farm.accept("sleep 0.005") for _ in range(800)]  # more than a slice has time for
    farm.batches.enqueue_slices()
    wait_until(lambda: len(committed(front, sent)) > 50)
    worker.terminate()
    assert worker.wait(60) == 0
    ended = committed(front, sent)
    assert len(ended) < len(sent)
    assert {job.id for job in sent if farm.has_ended(job)} == ended


def committed(front, sent) -> set[str]:
    return {job.id for job in sent if front.redis.hexists(job_key(job.id), "outcome")}


@pytest.mark.long
def test_a_cancelled_render_is_stopped_and_its_slot_is_free(farm, front, start_worker, tmp_path):
    started = tmp_path / "started"
    start_worker()
    running = farm.send(f"sleep 300 {started}")
    wait_until(started.exists)
    farm.flow.end_early(running.id, CANCELLED)
    assert farm.status(running) is JobStatus.CANCELLED
    after = farm.send("pages 1")
    wait_until(lambda: farm.has_ended(after))
    assert farm.status(running) is JobStatus.CANCELLED
    assert front.events() == 1


@pytest.mark.long
def test_a_cancelled_render_that_hangs_in_c_is_ended_with_its_process(farm, front, start_worker):
    start_worker(render_budget="2")  # no thread runs meanwhile, so that its watchdog ends it
    running = farm.send("hang")
    wait_until(lambda: farm.states.find_started(running.id))
    farm.flow.end_early(running.id, CANCELLED)
    after = farm.send("pages 1")
    wait_until(lambda: farm.has_ended(after))
    assert farm.status(running) is JobStatus.CANCELLED


@pytest.mark.long
def test_a_job_that_kills_its_worker_takes_no_neighbour_along(farm, front, start_worker, tmp_path):
    died, started = tmp_path / "died", tmp_path / "started"
    sent = [farm.accept(f"sleep 0 {started}") for _ in range(30)]
    deadly = farm.accept(f"die {died}")
    sent += [farm.accept(f"sleep 0 {started}") for _ in range(30)]
    start_worker(worker_queues="batch")
    farm.batches.enqueue_slices()
    wait_until(lambda: farm.has_ended(deadly, *sent))
    assert {farm.status(job) for job in sent} == {JobStatus.SUCCEEDED}
    assert farm.record(deadly).error["statusCode"] == 500
    assert len(died.read_text().splitlines()) <= 3
    assert front.events() == len(sent)
    assert front.used() == (len(sent), len(sent))


@pytest.mark.long
def test_a_long_render_is_reported_as_running_anywhere_in_its_slice(farm, start_worker):
    sent = [farm.accept("pages 1") for _ in range(20)]
    long = farm.accept("sleep 4")
    start_worker(worker_queues="batch")
    farm.batches.enqueue_slices()
    wait_until(lambda: farm.has_ended(*sent[:1]))
    wait_until(lambda: farm.states.find_started(long.id))
    assert not farm.has_ended(long)
    wait_until(lambda: farm.has_ended(long))
    assert abs(farm.record(long).finished_at - farm.record(long).started_at).total_seconds() >= 4


@pytest.mark.long
def test_a_job_that_needs_an_unavailable_store_is_retried_and_delays_no_other(
    farm, front, start_worker, tmp_path
):
    blobs = Path(farm.environment["PRESSROOM_BLOB_URL"].removeprefix("file://"))
    sent = [farm.accept("pages 1") for _ in range(3)]
    blocked = blobs / "jobs" / sent[1].id
    blocked.parent.mkdir(exist_ok=True)
    blocked.write_text("a file where a folder is needed")
    maintenance = farm.start_maintenance()
    start_worker(worker_queues="batch")
    farm.batches.enqueue_slices()
    wait_until(lambda: farm.has_ended(sent[0], sent[2]))
    assert not farm.has_ended(sent[1])
    blocked.unlink()
    wait_until(lambda: farm.has_ended(*sent))
    stop(maintenance, front)
    assert {farm.status(job) for job in sent} == {JobStatus.SUCCEEDED}
    assert front.used() == (3, 3)


@pytest.mark.long
def test_recorded_ends_are_not_run_again_after_a_flush(farm, front, start_worker):
    start_worker()
    job = farm.send()
    wait_until(lambda: farm.has_ended(job))
    record = farm.record(job)
    front.redis.flushall()
    farm.batches.enqueue_slices()
    wait_until(lambda: not front.redis.llen(BATCH) and not held(front))
    assert front.events() == 0
    assert farm.record(job) == record


def test_maintenance_believes_a_loss_at_the_second_look_only(farm, front):
    job = farm.accept(lane=Lane.INTERACTIVE)
    task = RequeueLostJobs(farm.flow, front.broker)
    set_queued(farm, job, seconds_ago=1)
    assert [task.run_once() for _ in range(3)] == [0, 0, 0]  # too young
    set_queued(farm, job, seconds_ago=20)
    assert [task.run_once() for _ in range(3)] == [0, 1, 0]
    assert front.redis.llen(INTERACTIVE) == 1


def test_a_job_behind_others_or_in_a_workers_hands_is_not_forgotten(farm, front):
    first, second = (farm.accept(lane=Lane.INTERACTIVE) for _ in range(2))
    for job in (first, second):
        front.broker.queue_recorded({job.encode(): job})
        set_queued(farm, job, seconds_ago=1)
    task = RequeueLostJobs(farm.flow, front.broker)
    assert [task.run_once() for _ in range(3)] == [0, 0, 0]
    set_queued(farm, first, seconds_ago=20)
    front.redis.rpop(INTERACTIVE)
    report_worker(front.redis, WorkerReport("here:1", (INTERACTIVE,), 1, 1), [first.id])
    assert [task.run_once() for _ in range(3)] == [0, 0, 0]
    front.redis.delete(HELD_TASKS)
    assert [task.run_once() for _ in range(3)] == [0, 1, 0]


def set_queued(farm: Farm, job: RenderJob, *, seconds_ago: float) -> None:
    with farm.database.session() as session:
        at = now() - timedelta(seconds=seconds_ago)
        session.execute(update(jobs).where(jobs.c.id == job.id).values(queued_at=at))


@pytest.mark.long
def test_expired_records_are_removed_in_two_steps(farm, front, start_worker):
    start_worker()
    job = farm.send()
    wait_until(lambda: farm.has_ended(job))
    assert expire_jobs(farm.flow) == 0
    key = farm.record(job).pdf_key
    end(farm, job, days_ago=1)
    assert expire_jobs(farm.flow) == 1
    assert farm.record(job).pdf_key is None
    with pytest.raises(KeyError):
        farm.blobs.read(key)
    assert expire_jobs(farm.flow) == 0
    end(farm, job, days_ago=7)
    assert expire_jobs(farm.flow) == 1
    with farm.database.snapshot() as session:
        assert find_job(session, job.id) is None


def end(farm: Farm, job: RenderJob, *, days_ago: int) -> None:
    at = now() - timedelta(days=days_ago, seconds=1)
    with farm.database.session() as session:
        session.execute(
            update(jobs).where(jobs.c.id == job.id).values(finished_at=at, sweep_at=now())
        )


@pytest.mark.parametrize(("deliveries", "status"), [(0, 503), (1, 504)])
def test_an_overdue_job_is_given_up(farm, front, deliveries, status):
    job = farm.accept()
    front.redis.hset(job_key(job.id), "deliveries", deliveries)
    with farm.database.session() as session:
        session.execute(update(jobs).where(jobs.c.id == job.id).values(sweep_at=now()))
    assert expire_jobs(farm.flow) == 1
    record = farm.record(job)
    assert (record.status, record.error["statusCode"]) == (JobStatus.FAILED, status)


def test_counters_are_compared_with_the_ledger_for_a_while_after_redis_lost_them(farm, front):
    recount = partial(recount_usage, farm.states, AdmissionCache(front.redis))
    keys = [usage_key(f"acc_{number}", PERIOD) for number in range(3)]
    front.redis.xadd("usage:dead", {"event": "x"})
    farm.states.begin_epoch()
    for key in keys:
        front.redis.hset(key, mapping={"production:pages": 5, "seeded:cpu": 1})
    assert [recount() for _ in range(2)] == [3, 0]
    assert front.redis.hgetall(keys[0]) == {b"production:pages": b"5"}
    front.redis.hset(keys[0], "seeded:cpu", 1)
    front.redis.set("farm:epoch", time.time() - 3600)
    assert recount() == 0


def reconciliation(farm: Farm, **options: timedelta) -> ReconcileUsage:
    return ReconcileUsage(list_unmetered_jobs, farm.database, farm.front.admissions, **options)


@pytest.mark.long
def test_maintenance_outlasts_an_outage_and_stops_on_a_signal(
    own_redis, worker_environment, tmp_path
):
    environment = worker_environment | {"PRESSROOM_REDIS_URL": own_redis.url}
    log = tmp_path / "maintenance.log"
    with log.open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", "workers.maintenance.main"],
            env=environment, stdout=out, stderr=subprocess.STDOUT,
        )  # fmt: skip
    try:
        wait_for_epoch(own_redis.url)
        own_redis.kill()
        wait_for_text(log, "task waits")
        own_redis.start()
        assert process.poll() is None
        process.terminate()
        assert process.wait(60) == 0
    finally:
        process.kill()
        process.wait()


def wait_for_epoch(url: str) -> None:
    from shared.queue.connection import connect

    with connect(url) as redis:
        wait_until(lambda: redis.exists("farm:epoch"))


def wait_for_text(log: Path, text: str) -> None:
    wait_until(lambda: text in log.read_text())
