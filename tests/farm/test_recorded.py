"""Recorded jobs with a real Redis, real workers and a real keeper, killed at the worst moments."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import select, update

from api.jobs.accepting import make_record
from shared.buckets.admission import AdmissionCache
from shared.clock import now
from shared.db.jobs import JobRecord, JobStatus, add_jobs, find_job
from shared.db.session import Database, open_database
from shared.db.tables import jobs, usage_ledger
from shared.db.unmetered import list_unmetered_jobs
from shared.db.usage import find_totals
from shared.job_flow import JobFlow
from shared.jobs import Lane, RenderJob
from shared.metering import usage_key
from shared.queue.endings import Endings
from shared.queue.names import BATCH, HELD_TASKS, UNACKED, job_key
from shared.queue.roster import WorkerWord, report
from shared.queue.states import CANCELLED, JobStates
from workers.keeper.jobs import RequeueJobs, SweepJobs
from workers.keeper.reconciliation import Reconcile, RecountUsage

PERIOD = "2026-11-01"


class Farm:
    """The front's side of recorded jobs, and what became of them."""

    def __init__(self, front, environment: dict[str, str], blob_store) -> None:
        self.front = front
        self.environment = environment
        self.database: Database = open_database(environment["PRESSROOM_DATABASE_URL"])
        self.states = JobStates(front.redis)
        self.blobs = blob_store
        self.flow = JobFlow(self.database, self.states, Endings(front.redis), blob_store)

    def accept(self, body: str = "pages 1", *, lane: Lane = Lane.BATCH) -> RenderJob:
        """Put a job on record and do not queue it."""
        job = replace(
            self.front.job(body, budget=3600), lane=lane, is_recorded=True, budget_seconds=60.0
        )
        with self.database.session() as session:
            add_jobs(session, [make_record(job, user_id="usr_1", template=None)])
        return job

    def send(self, body: str = "pages 1") -> RenderJob:
        job = self.accept(body)
        self.front.broker.queue_recorded({job.encode(): job})
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

    def start_keeper(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen([sys.executable, "-m", "workers.keeper.main"], env=self.environment)


@pytest.fixture
def farm(front, worker_environment) -> Iterator[Farm]:
    farm = Farm(front, worker_environment, front.claims._blobs)
    yield farm
    farm.database.close()


@pytest.fixture
def keeper(farm) -> Iterator[subprocess.Popen[bytes]]:
    process = farm.start_keeper()
    yield process
    process.terminate()
    assert process.wait(15) == 0


def held(front) -> bool:
    return bool(front.redis.hlen(UNACKED))


def test_a_recorded_job_ends_on_record_and_its_state_goes(farm, front, start_worker, wait_until):
    start_worker()
    job = farm.send("pages 3")
    wait_until(lambda: farm.has_ended(job))
    record = farm.record(job)
    assert (record.status, record.pages, record.filename) == (JobStatus.SUCCEEDED, 3, "fake.pdf")
    assert record.started_at is not None
    assert record.timings.keys() >= {"queue", "layout"}
    assert farm.blobs.read(record.pdf_key).startswith(b"%PDF")
    wait_until(lambda: 0 < front.redis.ttl(job_key(job.id)) <= 600)
    assert front.events() == 1
    assert front.used() == (3, 1)


def test_killed_between_the_commit_and_the_record_it_is_completed_and_not_repeated(
    farm, front, start_worker, wait_until, tmp_path
):
    started = tmp_path / "started"
    worker = start_worker()
    job = farm.accept(f"sleep 0 {started}")
    with farm.database.session() as holding:  # nobody else can write meanwhile
        holding.execute(update(jobs).where(jobs.c.id == "none").values(pages=0))
        front.broker.queue_recorded({job.encode(): job})
        wait_until(lambda: front.redis.hexists(job_key(job.id), "outcome"))
        os.kill(worker.pid, signal.SIGKILL)
        worker.wait()
    assert farm.status(job) is JobStatus.QUEUED
    start_worker()
    keeper = RequeueJobs(farm.flow, front.broker)
    wait_until(lambda: keeper.run_once() or farm.has_ended(job))
    wait_until(lambda: farm.has_ended(job))
    assert farm.status(job) is JobStatus.SUCCEEDED
    assert len(started.read_text().splitlines()) == 1
    assert front.events() == 1


def test_a_worker_killed_before_several_ends_are_on_record_has_repeated_none(
    farm, front, start_worker, wait_until, tmp_path
):
    started = tmp_path / "started"
    worker = start_worker(worker_queues="batch")
    sent = [farm.accept(f"draw 0.005 {started}") for _ in range(200)]
    front.broker.queue_recorded({job.encode(): job for job in sent})
    wait_until(lambda: len(committed(front, sent)) > 50)  # messages are taken ahead by then
    with farm.database.session() as holding:  # nobody else can write meanwhile
        holding.execute(update(jobs).where(jobs.c.id == "none").values(pages=0))
        on_record = {job.id for job in sent if farm.has_ended(job)}
        wait_until(lambda: len(committed(front, sent) - on_record) >= 3)
        os.kill(worker.pid, signal.SIGKILL)
        worker.wait()
        left = committed(front, sent) - on_record
    assert not any(farm.has_ended(job) for job in sent if job.id in left)
    keeper = farm.start_keeper()
    start_worker(worker_queues="batch")
    wait_until(lambda: farm.has_ended(*sent))
    keeper.terminate()
    assert keeper.wait(15) == 0
    assert {farm.status(job) for job in sent} == {JobStatus.SUCCEEDED}
    # One may have been at work as its worker was killed.
    assert len(sent) <= len(started.read_text().splitlines()) <= len(sent) + 1
    assert front.events() == len(sent)


def test_a_worker_that_is_told_to_stop_leaves_no_end_off_the_record(
    farm, front, start_worker, wait_until
):
    worker = start_worker(worker_queues="batch")
    sent = [farm.accept("draw 0.005") for _ in range(200)]
    front.broker.queue_recorded({job.encode(): job for job in sent})
    wait_until(lambda: len(committed(front, sent)) > 50)
    worker.terminate()
    assert worker.wait(10) == 0
    ended = committed(front, sent)
    assert len(ended) < len(sent)
    assert {job.id for job in sent if farm.has_ended(job)} == ended


def test_nor_does_a_child_that_has_had_its_number_of_jobs(farm, front, start_worker, wait_until):
    start_worker(worker_queues="batch", child_max_jobs="7")
    sent = [farm.accept("pages 2") for _ in range(40)]
    front.broker.queue_recorded({job.encode(): job for job in sent})
    wait_until(lambda: farm.has_ended(*sent), seconds=15)
    assert front.used() == (80, 40)


def committed(front, sent) -> set[str]:
    return {job.id for job in sent if front.redis.hexists(job_key(job.id), "outcome")}


def test_a_flushed_redis_loses_no_job_and_meters_each_once(
    farm, front, start_worker, keeper, wait_until, tmp_path
):
    started = tmp_path / "started"
    start_worker()
    wait_until(lambda: front.redis.exists("farm:epoch"))
    sent = [farm.send(f"sleep 1.5 {started}"), *(farm.send("pages 2") for _ in range(5))]
    wait_until(started.exists)
    front.redis.flushall()
    flushed_at = time.monotonic()
    wait_until(lambda: farm.has_ended(*sent))
    assert time.monotonic() - flushed_at < 12
    assert {farm.status(job) for job in sent} == {JobStatus.SUCCEEDED}
    # Events that were lost with Redis are recorded later, the others by the counter.
    reconciliation(farm, settled_after=timedelta(0)).run_once()
    assert farm.ledger() == {sent[0].id: 1, **dict.fromkeys((job.id for job in sent[1:]), 2)}


def test_a_job_that_never_reached_the_queue_is_queued_within_ten_seconds(
    farm, start_worker, keeper, wait_until
):
    start_worker()
    ended = farm.send()
    wait_until(lambda: farm.has_ended(ended))
    forgotten = farm.accept()
    wait_until(lambda: farm.has_ended(forgotten), seconds=10)
    assert farm.status(forgotten) is JobStatus.SUCCEEDED


def test_a_cancelled_render_is_stopped_and_its_slot_is_free(
    farm, front, start_worker, wait_until, tmp_path
):
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


def test_a_cancelled_render_that_hangs_in_c_is_ended_with_its_process(
    farm, front, start_worker, wait_until
):
    start_worker()
    running = farm.send("hang")
    wait_until(lambda: farm.states.find_started(running.id))
    farm.flow.end_early(running.id, CANCELLED)
    after = farm.send("pages 1")
    wait_until(lambda: farm.has_ended(after))
    assert farm.status(running) is JobStatus.CANCELLED


def test_a_job_that_kills_its_worker_fails_after_its_tries(
    farm, front, start_worker, wait_until, tmp_path
):
    started = tmp_path / "started"
    start_worker()
    job = farm.send(f"die {started}")
    wait_until(lambda: farm.has_ended(job))
    record = farm.record(job)
    assert (record.status, record.error["statusCode"]) == (JobStatus.FAILED, 500)
    assert len(started.read_text().splitlines()) <= 3
    assert front.events() == 0


def test_what_has_ended_on_record_is_not_run_again_after_a_flush(
    farm, front, start_worker, wait_until
):
    start_worker()
    job = farm.send()
    wait_until(lambda: farm.has_ended(job))
    record = farm.record(job)
    front.redis.flushall()
    front.broker.queue_recorded({job.encode(): job})
    wait_until(lambda: not front.redis.llen(BATCH) and not held(front))
    assert front.events() == 0
    assert farm.record(job) == record


def test_the_keeper_believes_a_loss_at_the_second_look_only(farm, front):
    job = farm.accept()
    duty = RequeueJobs(farm.flow, front.broker)
    assert duty.run_once() == 1  # this Redis had no epoch: all is queued
    front.redis.delete(BATCH)
    set_queued(farm, job, seconds_ago=1)
    assert [duty.run_once() for _ in range(3)] == [0, 0, 0]  # too young
    set_queued(farm, job, seconds_ago=20)
    assert [duty.run_once() for _ in range(3)] == [0, 1, 0]
    assert front.redis.llen(BATCH) == 1


def test_a_job_behind_others_or_in_a_workers_hands_is_not_forgotten(farm, front):
    first, second = farm.send(), farm.send()
    front.redis.set("farm:epoch", 1)
    duty = RequeueJobs(farm.flow, front.broker)
    for job in (first, second):
        set_queued(farm, job, seconds_ago=1)
    assert [duty.run_once() for _ in range(3)] == [0, 0, 0]
    set_queued(farm, first, seconds_ago=20)
    front.redis.rpop(BATCH)
    report(front.redis, WorkerWord("here:1", (BATCH,), 1, 1), [first.id])
    assert [duty.run_once() for _ in range(3)] == [0, 0, 0]
    front.redis.delete(HELD_TASKS)
    assert [duty.run_once() for _ in range(3)] == [0, 1, 0]


def set_queued(farm: Farm, job: RenderJob, *, seconds_ago: float) -> None:
    with farm.database.session() as session:
        at = now() - timedelta(seconds=seconds_ago)
        session.execute(update(jobs).where(jobs.c.id == job.id).values(queued_at=at))


def test_everything_unfinished_is_queued_again_in_pieces(farm, front, monkeypatch):
    monkeypatch.setattr("workers.keeper.jobs._AT_ONCE", 7)
    sent = [farm.accept() for _ in range(20)]
    assert RequeueJobs(farm.flow, front.broker).run_once() == len(sent)
    assert front.redis.llen(BATCH) == len(sent)
    assert RequeueJobs(farm.flow, front.broker).run_once() == 0


def test_what_expires_goes_in_two_steps(farm, front, start_worker, wait_until):
    start_worker()
    job = farm.send()
    wait_until(lambda: farm.has_ended(job))
    sweep = SweepJobs(farm.flow)
    assert sweep.run_once() == 0
    key = farm.record(job).pdf_key
    end(farm, job, days_ago=1)
    assert sweep.run_once() == 1
    assert farm.record(job).pdf_key is None
    with pytest.raises(KeyError):
        farm.blobs.read(key)
    assert sweep.run_once() == 0
    end(farm, job, days_ago=7)
    assert sweep.run_once() == 1
    with farm.database.snapshot() as session:
        assert find_job(session, job.id) is None


def end(farm: Farm, job: RenderJob, *, days_ago: int) -> None:
    at = now() - timedelta(days=days_ago, seconds=1)
    with farm.database.session() as session:
        session.execute(
            update(jobs).where(jobs.c.id == job.id).values(finished_at=at, sweep_at=now())
        )


def test_an_overdue_job_is_given_up(farm, front):
    job = farm.accept()
    with farm.database.session() as session:
        session.execute(update(jobs).where(jobs.c.id == job.id).values(sweep_at=now()))
    assert SweepJobs(farm.flow).run_once() == 1
    record = farm.record(job)
    assert (record.status, record.error["statusCode"]) == (JobStatus.FAILED, 504)
    assert front.redis.hget(job_key(job.id), "done") == b"overdue"


def test_reconciliation_counts_what_the_ledger_lacks_once(farm, front, start_worker, wait_until):
    start_worker()
    job = farm.send("pages 4")
    wait_until(lambda: farm.has_ended(job))
    front.redis.hset(usage_key("acc_1", PERIOD), "seeded", 1)
    duty = reconciliation(farm)
    assert duty.run_once() == 0  # the counter may still come to it
    duty = reconciliation(farm, settled_after=timedelta(0))
    assert [duty.run_once() for _ in range(2)] == [1, 0]
    assert farm.ledger() == {job.id: 4}
    with farm.database.snapshot() as session:
        assert find_totals(session, "acc_1", PERIOD).production.pages == 4
    assert not front.redis.hexists(usage_key("acc_1", PERIOD), "seeded")


def test_counters_are_compared_with_the_ledger_for_a_while_after_redis_lost_them(farm, front):
    duty = RecountUsage(farm.states, AdmissionCache(front.redis))
    keys = [usage_key(f"acc_{number}", PERIOD) for number in range(3)]
    front.redis.xadd("usage:dead", {"event": "x"})
    farm.states.begin_epoch()
    for key in keys:
        front.redis.hset(key, mapping={"production:pages": 5, "seeded": 1})
    assert [duty.run_once() for _ in range(2)] == [3, 0]
    assert front.redis.hgetall(keys[0]) == {b"production:pages": b"5"}
    front.redis.hset(keys[0], "seeded", 1)
    front.redis.set("farm:epoch", time.time() - 3600)
    assert duty.run_once() == 0


def reconciliation(farm: Farm, **options: timedelta) -> Reconcile:
    admissions = AdmissionCache(farm.front.redis)
    return Reconcile("jobs", list_unmetered_jobs, farm.database, admissions, **options)


def test_the_keeper_outlasts_an_outage_and_stops_when_told(own_redis, worker_environment, tmp_path):
    environment = worker_environment | {"PRESSROOM_REDIS_URL": own_redis.url}
    log = tmp_path / "keeper.log"
    with log.open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", "workers.keeper.main"],
            env=environment, stdout=out, stderr=subprocess.STDOUT,
        )  # fmt: skip
    try:
        wait_for_epoch(own_redis.url)
        own_redis.kill()
        wait_for_text(log, "duty waits")
        own_redis.start()
        assert process.poll() is None
        process.terminate()
        assert process.wait(10) == 0
    finally:
        process.kill()
        process.wait()


def wait_for_epoch(url: str) -> None:
    from shared.queue.connection import connect

    with connect(url) as redis:
        end_at = time.monotonic() + 40
        while not redis.exists("farm:epoch"):
            assert time.monotonic() < end_at
            time.sleep(0.05)


def wait_for_text(log: Path, text: str) -> None:
    end_at = time.monotonic() + 40
    while text not in log.read_text():
        assert time.monotonic() < end_at, log.read_text()
        time.sleep(0.05)
