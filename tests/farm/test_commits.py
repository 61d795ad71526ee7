"""The end of a job is decided once, in one step, whatever comes late or comes again."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from msgspec.structs import replace

from shared.blobs.factory import open_store
from shared.errors import ErrorCode
from shared.jobs.records import Allowance, JobOutcome, Lane, OutcomeStatus
from shared.queue.claims import Claims
from shared.queue.commits import Commits
from shared.queue.connection import connect
from shared.queue.names import reply_key
from shared.queue.replies import Replies
from shared.usage.metering import UsageEvent
from tests.faults.gate import ReplyLosingGate


@pytest.fixture
def commits(front):
    return Commits(front.redis)


def succeeded(job, pages=3, pdf=None, cpu_us=0):
    return JobOutcome(
        job.id,
        OutcomeStatus.SUCCEEDED,
        pages=pages,
        pdf=pdf,
        timings={"layout": 7.0},
        cpu_us=cpu_us,
    )


def test_a_commit_wakes_the_front_and_meters_the_pages(front, commits):
    job = front.job()
    outcome = succeeded(job)
    assert commits.commit(job, outcome) == outcome
    assert front.wait(job) == outcome
    assert front.used() == (3, 1)
    [(_, fields)] = front.redis.xrange("usage")
    event = UsageEvent.decode(fields[b"event"])
    assert (event.job_id, event.account_id, event.pages) == (job.id, "acc_1", 3)
    assert json.loads(fields[b"event"])["type"] == "pressroom.pages"


def test_a_commit_whose_reply_was_lost_counts_once(front, commits, redis_server, request):
    commits.commit(before := front.job(), succeeded(before))  # the server has the script then
    gate = ReplyLosingGate(redis_server.port, trigger=b"EVALSHA")
    request.addfinalizer(gate.close)
    behind = connect(f"redis://127.0.0.1:{gate.port}/0")
    request.addfinalizer(behind.close)
    job = front.job()
    outcome = succeeded(job)
    assert Commits(behind).commit(job, outcome) == outcome
    assert gate.has_lost_a_reply
    assert front.used() == (6, 2)
    assert front.events() == 2


def test_a_commit_on_a_connection_that_broke_is_made(front, commits):
    commits.commit(front.job(), succeeded(front.job()))
    front.redis.client_kill_filter(_type="normal", skipme=True)
    job = front.job()
    outcome = succeeded(job)
    assert commits.commit(job, outcome) == outcome
    assert front.wait(job) == outcome
    assert front.used() == (6, 2)


def test_commit_and_giving_up_agree_however_they_race(front, commits):
    jobs = [front.job() for _ in range(200)]
    with ThreadPoolExecutor(2) as pool:
        committed = pool.map(lambda job: commits.commit(job, succeeded(job)), jobs)
        abandoned = pool.map(lambda job: front.replies.abandon(job.id), reversed(jobs))
        answered = dict(zip((job.id for job in reversed(jobs)), abandoned, strict=True))
        metered = dict(zip((job.id for job in jobs), committed, strict=True))
    assert {key for key, value in answered.items() if value} == {
        key for key, value in metered.items() if value
    }
    assert front.events() == sum(value is not None for value in metered.values())


def test_a_used_up_allowance_turns_a_success_into_a_402(front, commits):
    first, second = front.job(cap=3), front.job(cap=3)
    commits.commit(first, succeeded(first))
    error = commits.commit(second, succeeded(second)).error
    assert (error.status, error.code) == (402, ErrorCode.QUOTA_EXCEEDED)
    assert error.data == {"cap": 3, "usage": 3}
    assert front.wait(second).error == error
    assert front.used() == (3, 1)
    assert front.events() == 1


def test_drafts_have_an_allowance_of_their_own(front, commits):
    job = front.job(cap=0, allowance=Allowance.DRAFT)
    error = commits.commit(job, succeeded(job)).error
    assert error.code is ErrorCode.DRAFT_QUOTA_EXCEEDED
    production = front.job(cap=1)
    assert commits.commit(production, succeeded(production)).error is None


def test_used_up_processor_time_of_both_allowances_turns_a_success_into_a_402(front, commits):
    jobs = [
        front.job(max_cpu=3, allowance=allowance)
        for allowance in (Allowance.PRODUCTION, Allowance.DRAFT, Allowance.PRODUCTION)
    ]
    first, second, third = (
        commits.commit(job, succeeded(job, cpu_us=1_900_000)).error for job in jobs
    )
    assert first is second is None
    assert (third.status, third.code) == (402, ErrorCode.CPU_QUOTA_EXCEEDED)
    assert third.data == {"cap": 3, "usage": 3}
    assert front.events() == 2


def test_many_renders_at_once_overshoot_by_less_than_one_document(front, commits):
    jobs = [front.job(cap=10) for _ in range(40)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda job: commits.commit(job, succeeded(job, pages=4)), jobs))
    assert front.used() == (12, 3)
    assert front.events() == 3


def test_several_jobs_end_in_one_round_trip_each_for_itself(front, commits):
    capped, ended, *others = (
        replace(job, is_recorded=True, lane=Lane.BATCH)
        for job in (front.job(cap=0, account="acc_2"), *(front.job() for _ in range(3)))
    )
    commits.commit(ended, succeeded(ended))
    sent = [(job, succeeded(job)) for job in (capped, others[0], ended, others[1])]
    used_up, first, none, second = commits.commit_all(sent)
    assert used_up.error.status == 402
    assert [first, none, second] == [sent[1][1], None, sent[3][1]]
    assert front.events() == 3
    assert commits.commit_all([]) == []


def test_an_outcome_can_be_read_again_after_a_lost_answer(front, commits):
    job = front.job()
    outcome = commits.commit(job, succeeded(job))
    lost = Replies(front.redis, front.claims)
    assert lost.wait(job.id, timeout_seconds=1) == front.wait(job) == outcome


@pytest.fixture
def sealing(front) -> Claims:
    """Claims of a farm that has a server for what is kept nowhere."""
    memory = connect(f"{front.url.removesuffix('/0')}/1")
    return Claims(front.redis, open_store(front.blob_url), memory)


def test_of_a_job_in_memory_only_counts_are_written(front, commits, sealing):
    job = replace(front.job(), body=sealing.store("job_1", b"secret", in_memory=True))
    made = replace(succeeded(job), filename="secret", pdf=sealing.store_pdf(job, b"%PDF secret"))
    sent = sealing.seal(job, made)
    assert commits.commit(job, sent) is sent
    assert b"secret" not in front.redis.lindex(reply_key(job.id), 0)
    assert front.used() == (made.pages, 1)
    replies = Replies(front.redis, sealing)
    assert replies.wait(job.id, timeout_seconds=5) == made
    assert b"".join(replies.fetch_pdf(made.pdf)) == b"%PDF secret"
    lost = Replies(front.redis, sealing).wait(job.id, timeout_seconds=5)
    assert (lost.status, lost.error.status) == ("failed", 503)


def test_a_job_in_memory_fails_unmetered_while_its_server_is_away(front, commits, sealing):
    job = replace(front.job(), body=sealing.store("job_1", b"secret", in_memory=True))
    away = Claims(front.redis, open_store(front.blob_url), connect("redis://127.0.0.1:1/0"))
    commits.commit(job, away.seal(job, replace(succeeded(job), filename="secret")))
    assert front.wait(job).error.status == 503
    assert front.events() == 0


def test_every_key_of_a_job_expires(front, commits):
    job = front.job()
    commits.begin(job)
    front.replies.wait(job.id, timeout_seconds=0.01)
    commits.commit(job, succeeded(job))
    for key in front.redis.scan_iter("job:*"):
        assert front.redis.ttl(key) > 0
