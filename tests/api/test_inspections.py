"""Inspection of uploads by a worker that is unavailable, busy, or rejects the file."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from api.app import create_app
from api.jobs.inspection import MAX_AT_ONCE
from shared.auth.accounts import create_account
from shared.errors import ErrorBody, ErrorKind
from shared.jobs.records import BodyKind, JobOutcome, OutcomeStatus, Purpose
from shared.queue.commits import failed_outcome
from shared.queue.names import VALIDATE, job_key
from tests.conftest import with_settings
from tests.messages import read_task_id
from tests.waiting import wait_until

SVG = b'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="7"/>'
PROPERTIES = {"content_type": "image/svg+xml", "width": 9, "height": 7}


def put(caller, data=SVG, name="logo"):
    return caller.put(f"/v2/images/{name}", data=data, content_type="image/svg+xml")


def client_of(ports, key):
    client = create_app(ports).test_client()
    client.environ_base["HTTP_AUTHORIZATION"] = f"Bearer {key}"
    return client


@pytest.fixture
def hasty(ports, account):
    """Yield a client of a front with a time budget of one second."""
    return client_of(with_settings(ports, render_budget=1.0), account.api_key)


@pytest.fixture
def inspector(worker):
    """Run a worker that accepts every upload."""
    worker.answer = lambda job: JobOutcome(job.id, OutcomeStatus.SUCCEEDED, properties=PROPERTIES)
    return worker


def blobs_of(settings):
    folder = Path(settings.blob_url.removeprefix("file://"))
    return [path for path in folder.rglob("*") if path.is_file()]


def test_an_upload_is_inspected_in_the_queue_of_validations(caller, inspector, account):
    answer = put(caller)
    assert answer.status_code == 201
    assert {name: answer.json[name] for name in PROPERTIES} == PROPERTIES
    [job] = inspector.jobs
    assert (job.purpose, job.body_kind) == (Purpose.INSPECT, BodyKind.IMAGE)
    assert (job.workspace_id, job.is_recorded) == (account.workspace_id, False)
    assert inspector.bodies == [SVG]


def test_bytes_that_the_workspace_holds_are_not_inspected_again(caller, inspector):
    put(caller)
    for name in ("logo", "other"):
        assert {key: put(caller, name=name).json[key] for key in PROPERTIES} == PROPERTIES
    assert len(inspector.jobs) == 1


def test_bytes_that_another_workspace_holds_are_inspected(caller, inspector, ports, database):
    put(caller)
    with database.session() as session:
        other = client_of(ports, create_account(session, email="bo@example.org").api_key)
    assert put(other).status_code == 201
    assert len(inspector.jobs) == 2


def test_bytes_that_were_deleted_are_inspected_again(caller, inspector):
    put(caller)
    caller.delete("/v2/images/logo")
    assert put(caller).status_code == 201
    assert len(inspector.jobs) == 2


def test_a_rejection_has_the_message_of_the_worker_and_nothing_is_stored(caller, worker, settings):
    refusal = ErrorBody(400, "The SVG is damaged. Save it again.", ErrorKind.REQUEST)
    worker.answer = lambda job: failed_outcome(job, refusal)
    answer = put(caller)
    assert (answer.status_code, answer.json["message"]) == (400, refusal.message)
    assert "data" not in answer.json
    assert caller.get("/v2/images").json["usage"] == {"total_bytes": 0, "count": 0}
    assert blobs_of(settings) == []


def test_a_refusal_leaves_the_image_that_was_there(caller, inspector):
    first = put(caller).json
    inspector.answer = lambda job: failed_outcome(job, ErrorBody(400, "No.", ErrorKind.REQUEST))
    assert put(caller, SVG + b"<!-- -->").status_code == 400
    assert caller.get("/v2/images/logo").json == first


@pytest.mark.long
@pytest.mark.parametrize("size", [len(SVG), 200_000])
def test_an_upload_without_a_worker_is_a_503_and_leaves_nothing(hasty, redis, settings, size):
    answer = put(hasty, SVG.ljust(size))
    assert answer.status_code == 503
    assert answer.headers["Retry-After"] == "10"
    assert "No worker was free to inspect the upload within 1 s" in answer.json["message"]
    [waiting] = redis.lrange(VALIDATE, 0, -1)  # dropped by the worker that takes it
    assert redis.hget(job_key(read_task_id(waiting)), "done") == b"withdrawn"
    assert blobs_of(settings) == []
    assert hasty.get("/v2/images").json["usage"] == {"total_bytes": 0, "count": 0}


@pytest.mark.long
def test_an_inspection_over_its_budget_is_a_504_and_stores_nothing(
    ports, account, worker, settings
):
    worker.answer = lambda job: None
    hasty = client_of(with_settings(ports, render_budget=5.0), account.api_key)
    answer = put(hasty)
    assert (answer.status_code, answer.json["data"]["code"]) == (504, "ERR_RENDER_TIMEOUT")
    assert "inspection of the upload exceeded its time budget of 5 s" in answer.json["message"]
    assert hasty.get("/v2/images").json["usage"]["count"] == 0
    assert blobs_of(settings) == []


def test_an_upload_to_a_drained_queue_is_a_503(caller, ports):
    ports.cells.only.drains.drain(VALIDATE)
    answer = put(caller)
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "30")
    ports.cells.only.drains.resume(VALIDATE)


def test_uploads_of_an_account_wait_for_a_slot(ports, account, inspector, redis):
    waiting, accept = [], inspector.answer

    def count(job):
        waiting.append(redis.llen(VALIDATE))
        return accept(job)

    inspector.answer = count
    app = create_app(ports)

    def upload(number):
        client = app.test_client()
        client.environ_base["HTTP_AUTHORIZATION"] = f"Bearer {account.api_key}"
        return put(client, SVG + b"<!-- %d -->" % number, f"image-{number}").status_code

    with ThreadPoolExecutor(20) as pool:
        assert set(pool.map(upload, range(20))) == {201}
    assert len(waiting) == 20
    assert max(waiting) + 1 <= MAX_AT_ONCE


@pytest.mark.long
def test_too_many_concurrent_uploads_get_a_retry_after(
    ports, account, database, inspector, monkeypatch, redis
):
    monkeypatch.setattr("api.jobs.inspection.SLOT_WAIT_SECONDS", 0.1)
    is_open, accept = threading.Event(), inspector.answer
    inspector.answer = lambda job: accept(job) if is_open.wait(60) else None
    app = create_app(ports)

    def upload(number, key=account.api_key):
        client = app.test_client()
        client.environ_base["HTTP_AUTHORIZATION"] = f"Bearer {key}"
        return put(client, SVG + b"<!-- %d -->" % number, f"image{number}")

    with database.session() as session:
        other = create_account(session, email="bo@example.org").api_key
    with ThreadPoolExecutor(5) as pool:
        held = [pool.submit(upload, number) for number in range(MAX_AT_ONCE)]
        # One upload is in the worker.
        wait_until(lambda: redis.llen(VALIDATE) >= MAX_AT_ONCE - 1)
        refused = upload(-1)
        anothers = pool.submit(upload, -2, other)
        is_open.set()
        assert [each.result().status_code for each in held] == [201] * MAX_AT_ONCE
        assert anothers.result().status_code == 201
    assert (refused.status_code, refused.headers["Retry-After"]) == (429, "5")
    assert "4 uploads of the account are already being inspected" in refused.json["message"]
    assert upload(-3).status_code == 201
