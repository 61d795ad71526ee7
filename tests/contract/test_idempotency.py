"""`Idempotency-Key` on POST /v2/pdf: repeated calls, concurrent ones, and the time that keys are kept."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from msgspec.structs import replace
from redis import Redis
from sqlalchemy import func, select, update

from api.app import create_app
from shared.clock import now
from shared.db.tables import idempotency_keys, jobs
from shared.errors import ErrorBody, ErrorKind
from shared.jobs.idempotency import KEY_RETENTION, remove_expired_keys
from shared.jobs.records import JobOutcome, OutcomeStatus
from shared.queue.names import BATCH, INTERACTIVE, job_key
from tests.waiting import wait_until
from workers.maintenance.recorded_work import remove_keys

XML = "text/xml"


@pytest.fixture
def worker(worker):
    worker.queues = ["interactive", BATCH]
    return worker


def send(caller, body=b"<d/>", key="k1", query="", **headers):
    sent = {"Idempotency-Key": key} | headers
    return caller.post(f"/v2/pdf{query}", data=body, content_type=XML, headers=sent)


def fail_with(status):
    def answer(job):
        error = ErrorBody(status, "Not now.", ErrorKind.RESOURCE, stack_trace=({"message": "x"},))
        return JobOutcome(job.id, OutcomeStatus.FAILED, error=error)

    return answer


def same(answer, other):
    """Check that an answer repeats another, and says so."""
    assert answer.headers["Idempotent-Replayed"] == "true"
    assert answer.status_code == other.status_code
    assert answer.data == other.data
    headers = dict(answer.headers) | {"Idempotent-Replayed": ""}
    assert headers == dict(other.headers) | {"Idempotent-Replayed": ""}


def count_jobs(database):
    with database.snapshot() as session:
        return session.scalar(select(func.count()).select_from(jobs))


def test_a_repeated_render_returns_the_first_response_and_is_metered_once(caller, worker, ports):
    worker.answer = lambda job: worker.succeed(job, pages=2, filename="x")
    first = send(caller)
    assert first.status_code == 200
    assert first.data == worker.pdf
    same(send(caller), first)
    assert len(worker.jobs) == 1
    assert worker.redis.xlen("usage") == 1
    assert caller.get(f"/v2/jobs/{first.headers['X-Job-Id']}").json["pages"] == 2


def test_a_repeated_render_returns_the_warnings_of_the_first(caller, worker):
    warnings = [{"code": "a", "message": "x", "count": 2}]
    worker.answer = lambda job: replace(worker.succeed(job), warnings=warnings)
    first = send(caller)
    assert (first.headers["X-Warning-Count"], first.headers["X-Warning-Codes"]) == ("2", "a")
    same(send(caller), first)


def test_a_repeated_failure_returns_the_first_error_body(caller, worker):
    worker.answer = fail_with(413)
    first = send(caller)
    assert first.status_code == 413
    same(send(caller), first)
    assert len(worker.jobs) == 1


@pytest.mark.parametrize("prefer", [{}, {"Prefer": "respond-async, wait=5"}])
def test_an_error_of_the_document_is_not_repeated(caller, worker, template, prefer):
    query = f"?template={template}"
    worker.answer = fail_with(400)  # of an image, say, which is stored then
    assert send(caller, query=query, **prefer).status_code == 400
    worker.answer = worker.succeed
    again = send(caller, query=query, **prefer)
    assert (again.status_code, len(worker.jobs)) == (200, 2)
    assert "Idempotent-Replayed" not in again.headers
    same(send(caller, query=query, **prefer), again)


def test_a_corrected_document_may_have_the_key_of_the_one_that_failed(caller, worker):
    worker.answer = fail_with(400)
    assert send(caller).status_code == 400
    worker.answer = worker.succeed
    assert send(caller, b"<e/>").status_code == 200
    assert send(caller).status_code == 422


def test_a_repeated_async_render_returns_the_first_record(caller, worker):
    first = send(caller, Prefer="respond-async")
    assert first.status_code == 202
    assert caller.get(f"/v2/jobs/{first.json['id']}?wait=5").json["status"] == "succeeded"
    same(send(caller, Prefer="respond-async"), first)
    same(send(caller), first)  # how it is to be answered is not a part of what is asked
    assert len(worker.jobs) == 1


@pytest.mark.parametrize("status", [402, 503])
def test_the_response_of_a_render_that_was_not_done_is_not_stored(caller, worker, status):
    worker.answer = fail_with(status)
    assert send(caller).status_code == status
    worker.answer = worker.succeed
    assert send(caller).status_code == 200
    assert len(worker.jobs) == 2


def test_an_error_before_the_render_is_not_stored(caller, worker, template, save):
    assert send(caller, b"").status_code == 400
    assert send(caller, query="?template=none").status_code == 404
    assert send(caller).status_code == 200


@pytest.mark.parametrize(
    ("body", "query"), [(b"<e/>", ""), (b"<d/>", "?draft=true"), (b"<e/>", "?draft=true")]
)
def test_another_request_with_the_same_key_is_rejected(caller, worker, body, query):
    send(caller)
    answer = send(caller, body, query=query)
    assert answer.status_code == 422
    assert "already used with a different request" in answer.json["message"]
    assert len(worker.jobs) == 1


def test_the_content_type_is_a_part_of_the_request(caller, worker):
    send(caller)
    headers = {"Idempotency-Key": "k1"}
    again = caller.post("/v2/pdf", data=b"<d/>", content_type="application/xml", headers=headers)
    assert again.status_code == 422


def test_the_order_of_parameters_is_none(caller, worker, template, save):
    save("<document/>")
    first = send(caller, query=f"?template={template}&draft=true")
    same(send(caller, query=f"?draft=true&template={template}"), first)


def test_another_accounts_key_is_another_key(caller, other, worker):
    send(caller)
    assert send(other, b"<e/>").status_code == 200
    assert len(worker.jobs) == 2


@pytest.mark.parametrize("key", ["", " ", "a b", "ä", "x" * 256, "a\tb"])
def test_an_invalid_key_is_rejected(caller, key):
    answer = send(caller, key=key)
    assert answer.status_code == 400
    assert "1 to 255 visible ASCII" in answer.json["message"]


def test_a_key_may_be_long_and_odd(caller, worker):
    assert send(caller, key="!~" * 127 + "'").status_code == 200


def test_a_repeat_while_the_first_is_in_progress_is_a_409_with_retry_after(caller, worker):
    begin = threading.Event()
    worker.answer = lambda job: begin.wait(60) and worker.succeed(job)
    with ThreadPoolExecutor() as pool:
        first = pool.submit(send, caller)
        wait_until(lambda: worker.jobs)
        again = send(caller)
        begin.set()
        assert again.status_code == 409
        assert int(again.headers["Retry-After"]) >= 1
        same(send_when_ready(caller), first.result())


def send_when_ready(caller):
    while (answer := send(caller)).status_code == 409:
        pass
    return answer


def test_of_many_at_once_exactly_one_renders(ports, account, worker, database):
    app = create_app(ports)
    ready = threading.Barrier(12)

    def call(_):
        client = app.test_client()
        client.environ_base["HTTP_AUTHORIZATION"] = f"Bearer {account.api_key}"
        ready.wait()
        return send(client)

    with ThreadPoolExecutor(12) as pool:
        answers = list(pool.map(call, range(12)))
    statuses = sorted(answer.status_code for answer in answers)
    assert statuses[0] == 200
    assert set(statuses) <= {200, 409}
    assert len({answer.data for answer in answers if answer.status_code == 200}) == 1
    assert len(worker.jobs) == 1
    assert count_jobs(database) == 1
    assert worker.redis.xlen("usage") == 1


def test_the_key_of_a_removed_job_is_a_410(caller, worker):
    caller.delete(f"/v2/jobs/{send(caller).headers['X-Job-Id']}")
    assert send(caller).status_code == 410
    assert len(worker.jobs) == 1


def test_a_key_is_free_again_after_a_day(caller, worker, database):
    send(caller)
    with database.session() as session:
        session.execute(update(idempotency_keys).values(expires_at=now()))
    assert send(caller, b"<e/>").status_code == 200
    assert len(worker.jobs) == 2


def test_a_round_of_maintenance_removes_all_expired_keys(caller, worker, database, monkeypatch):
    monkeypatch.setattr("workers.maintenance.recorded_work.ROWS_PER_TRANSACTION", 2)
    for number in range(5):
        send(caller, key=f"k{number}")
    with database.session() as session:
        session.execute(update(idempotency_keys).values(expires_at=now()))
    assert remove_keys(database) == 5


def test_expired_keys_are_removed_some_at_a_time(caller, worker, database):
    for number in range(3):
        send(caller, key=f"k{number}")
    with database.session() as session:
        assert remove_expired_keys(session, at=now(), limit=10) == 0
        later = now() + KEY_RETENTION + timedelta(seconds=1)
        assert remove_expired_keys(session, at=later, limit=2) == 2
        assert remove_expired_keys(session, at=later, limit=2) == 1


@pytest.mark.long
@pytest.mark.parametrize("render_budget", [5])
def test_a_render_over_its_budget_is_a_504_that_is_stored(caller, worker):
    worker.answer = lambda job: None
    first = send(caller)
    assert first.status_code == 504
    assert first.json["data"]["code"] == "ERR_RENDER_TIMEOUT"
    same(send(caller), first)
    assert worker.redis.xlen("usage") == 0


@pytest.mark.long
@pytest.mark.parametrize("render_budget", [5])
def test_a_render_that_no_worker_started_is_a_503_and_done_when_repeated(caller, worker):
    worker.consume("nothing")
    first = send(caller)
    assert (first.status_code, first.headers["Retry-After"]) == (503, "2")
    assert first.json["message"].startswith("No worker was free to start the render")
    worker.consume(INTERACTIVE)
    again = send(caller)
    assert again.status_code == 200
    assert [job.id for job in worker.jobs] == [again.headers["X-Job-Id"]]
    assert worker.redis.xlen("usage") == 1


@pytest.mark.parametrize("is_started", [False, True])
def test_maintenance_keeps_the_504_of_a_started_render_only(caller, worker, ports, is_started):
    lifecycle = ports.cells.only.jobs
    job_id = send(caller, Prefer="respond-async", key="other").json["id"]
    assert caller.get(f"/v2/jobs/{job_id}?wait=5").json["status"] == "succeeded"
    worker.consume(BATCH if is_started else "nothing")
    worker.answer = lambda job: None
    waiting = send(caller, Prefer="respond-async", key="k2").json["id"]
    if is_started:
        wait_until(lambda: len(worker.jobs) == 2)
    lifecycle.end_overdue(waiting)
    error = caller.get(f"/v2/jobs/{waiting}").json["error"]
    assert error["statusCode"] == (504 if is_started else 503)


@pytest.mark.long
def test_a_render_that_waits_in_a_drained_queue_is_503_and_done_when_it_is_sent_again(
    caller, ports, redis_url, request
):
    drains = ports.cells.only.drains
    with ThreadPoolExecutor(2) as pool:
        waiting = pool.submit(send, caller)
        # One whose text looks like the message of another.
        beside = pool.submit(
            send, caller, key="beside", body=b'<d>"delivery_tag":"interactive:</d>'
        )
        with Redis.from_url(redis_url) as redis:
            wait_until(lambda: redis.llen(INTERACTIVE) == 2)
            drains.drain(INTERACTIVE)
            # Soon, not at the end of their budgets: those would be answered with a 504.
            for answer in (waiting.result(), beside.result()):
                assert (answer.status_code, answer.headers["Retry-After"]) == (503, "30")
                assert answer.json["message"].startswith("No render can start at the moment")
    again = send(caller)
    assert (again.status_code, again.headers["Retry-After"]) == (503, "30")
    drains.resume(INTERACTIVE)
    worker = request.getfixturevalue("worker")
    # A front goes for a while by what it read.
    first = wait_until(lambda: (answer := send(caller)).status_code != 503 and answer)
    second = send(caller)
    assert (first.status_code, second.status_code) == (200, 200)
    assert first.headers["X-Job-Id"] == second.headers["X-Job-Id"]
    assert len(worker.jobs) == 1


@pytest.mark.long
def test_a_render_that_has_begun_is_not_taken_out_of_a_drained_queue(
    caller, ports, worker, redis_url
):
    def slow(job):
        ports.cells.only.drains.drain(INTERACTIVE)
        with Redis.from_url(redis_url) as redis:
            redis.hincrby(job_key(job.id), "deliveries", 1)
        time.sleep(2.5)
        return worker.succeed(job)

    worker.answer = slow
    assert send(caller).status_code == 200


def test_an_error_that_is_not_stored_has_retry_after(caller, worker):
    worker.answer = fail_with(503)
    answer = send(caller)
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "2")
