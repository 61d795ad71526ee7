"""Places of accounts: requests wait behind those of their own account only; remote images are fetched first."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from io import BytesIO

import pytest
from PIL import Image

from api.app import create_app
from deploy.embedded.loopback import free_port
from shared.jobs.records import FetchedImage, ImageProblem, JobOutcome, OutcomeStatus
from shared.outbound import Fetcher
from shared.queue.admission_places import PlaceState, count_places
from shared.queue.commits import Commits
from shared.queue.connection import connect
from shared.queue.names import INTERACTIVE, PREVIEW, VALIDATE
from shared.queue.worker_presence import WorkerReport, report_worker
from tests.waiting import wait_until

DOCUMENT = b"<document><flow><p>x</p></flow></document>"
QUEUES = (INTERACTIVE, PREVIEW, VALIDATE)


@pytest.fixture
def slots(redis):
    """Register one worker with one slot while the test runs."""
    is_over = threading.Event()

    def report_again_and_again():
        while True:
            report_worker(redis, WorkerReport("w", QUEUES, 1, 0))
            if is_over.wait(0.5):
                return

    report_worker(redis, WorkerReport("w", QUEUES, 1, 0))
    thread = threading.Thread(target=report_again_and_again)
    thread.start()
    yield
    is_over.set()
    thread.join()


@pytest.fixture
def held(worker):
    """Block the worker at each job until the event is set."""
    is_free = threading.Event()

    def answer(job):
        is_free.wait(20)
        return worker.succeed(job)

    worker.answer = answer
    yield is_free
    is_free.set()


@pytest.fixture
def settings(settings):
    """Limit the waiting requests of an account to one."""
    return replace(settings, max_waiting=1)


@pytest.fixture
def call(ports, account):
    """Return a thread-safe function that renders."""
    app = create_app(ports)

    def call(path="/v2/pdf", **headers):
        client = app.test_client()
        client.environ_base["HTTP_AUTHORIZATION"] = f"Bearer {account.api_key}"
        return client.post(path, data=DOCUMENT, content_type="text/xml", headers=headers)

    return call


def count(redis, state):
    places = count_places(redis)
    return sum(each.jobs for (_, found), each in places.items() if found is state)


@pytest.mark.usefixtures("slots")
@pytest.mark.parametrize("headers", [{}, {"Idempotency-Key": "k"}])
@pytest.mark.parametrize("path", ["/v2/pdf", "/v2/validate"])
def test_too_many_waiting_requests_of_an_account_are_a_429(
    redis, worker, held, call, path, headers
):
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(call)
        wait_until(lambda: count(redis, PlaceState.HELD) == 1)
        second = pool.submit(call)
        wait_until(lambda: count(redis, PlaceState.WAITING) == 1)
        third = call(path, **headers)
        assert third.status_code == 429
        assert int(third.headers["Retry-After"]) >= 1
        assert third.json["data"]["code"] == "ERR_RATE_LIMITED"
        assert "1 renders of the account are already waiting" in third.json["message"]
        wait_until(lambda: worker.jobs)
        assert len(worker.jobs) == 1  # the second is not even in the queue
        held.set()
        assert [first.result().status_code, second.result().status_code] == [200, 200]
    assert call(**headers).status_code == 200  # the key of a refused call is free
    assert count(redis, PlaceState.HELD) == count(redis, PlaceState.WAITING) == 0


@pytest.mark.usefixtures("slots", "held")
@pytest.mark.parametrize("headers", [{}, {"Idempotency-Key": "k"}])
def test_a_waiting_request_is_a_503_when_the_queue_is_drained(
    ports, call, headers, monkeypatch, redis
):
    with ThreadPoolExecutor(1) as pool:
        redis.hset("places:facts", mapping={"held": 9, "slots": 1})  # of fronts elsewhere
        waiting = pool.submit(call, **headers)
        wait_until(lambda: count(redis, PlaceState.WAITING) == 1)
        ports.cells.only.drains.drain(INTERACTIVE)
        answer = waiting.result()
        ports.cells.only.drains.resume(INTERACTIVE)
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "30")
    assert count(redis, PlaceState.WAITING) == 0


@pytest.mark.long
@pytest.mark.usefixtures("slots", "held")
@pytest.mark.parametrize("render_budget", [2])
@pytest.mark.parametrize("headers", [{}, {"Idempotency-Key": "k"}])
def test_a_request_without_a_place_within_the_budget_is_a_503(redis, call, headers):
    redis.hset("places:facts", mapping={"held": 9, "slots": 1})
    answer = call(**headers)
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "10")
    assert answer.json["message"].startswith("No worker was free to render the document")
    assert count(redis, PlaceState.WAITING) == 0


@pytest.mark.usefixtures("slots", "held")
def test_a_waiting_request_queues_again_when_redis_loses_its_data(redis, worker, held, call):
    held.set()
    with ThreadPoolExecutor(1) as pool:
        redis.hset("places:facts", mapping={"held": 9, "slots": 1})
        waiting = pool.submit(call)
        wait_until(lambda: count(redis, PlaceState.WAITING) == 1)
        redis.flushall()
        assert waiting.result().status_code == 200


# --- images at addresses -------------------------------------------------------------------------------


def draw():
    out = BytesIO()
    Image.new("RGB", (4, 3), "navy").save(out, "PNG")
    return out.getvalue()


def say(body, status="200 OK"):
    return f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


@pytest.fixture
def suspending(worker, settings):
    """Return a function that makes the worker suspend each job for images at first."""
    commits = Commits(connect(settings.redis_url))

    def want(*addresses, times=1):
        def answer(job):
            if job.round >= times:
                return worker.succeed(job)
            assert job.is_fetched_for
            wanted = JobOutcome(job.id, OutcomeStatus.SUSPENDED, wanted=addresses, round=job.round)
            commits.suspend(job, wanted)
            return None

        worker.answer = answer

    return want


@pytest.fixture
def open_call(ports, account, open_fetcher_url):
    """Return a function that renders at a front whose fetcher may connect to loopback."""
    client = create_app(replace(ports, fetcher=Fetcher(open_fetcher_url))).test_client()
    client.environ_base["HTTP_AUTHORIZATION"] = f"Bearer {account.api_key}"
    return lambda **headers: client.post(
        "/v2/pdf", data=DOCUMENT, content_type="text/xml", headers=headers
    )


@pytest.mark.parametrize("headers", [{}, {"Idempotency-Key": "k"}])
def test_the_front_fetches_the_images_of_a_suspended_job_and_queues_it_again(
    worker, suspending, open_call, serve, headers
):
    good, bad = serve(say(draw())), serve(say(b"secret", "404 Not Found"))
    suspending(good.url("/a"), good.url("/b"), bad.url(), "ftp://x/y")
    assert open_call(**headers).status_code == 200
    first, second = worker.jobs
    assert (first.id, first.images) == (second.id, {})
    images = second.images
    assert [worker.claims.load(images[good.url(path)].claim) for path in ("/a", "/b")] == [
        draw()
    ] * 2
    assert images[bad.url()] == FetchedImage(1, None, ImageProblem.AWAY, "its server answers 404")
    assert images["ftp://x/y"].problem is ImageProblem.AWAY
    assert "http or https" in images["ftp://x/y"].text
    assert len(good.requests) == 2


def test_a_job_may_be_suspended_for_further_images(worker, suspending, open_call, serve):
    server = serve(say(draw()))
    suspending(server.url(), times=2)
    assert open_call().status_code == 200
    assert [job.round for job in worker.jobs] == [0, 1, 2]


def test_while_images_are_fetched_the_job_has_no_place(redis, suspending, open_call, serve):
    is_over = threading.Event()

    def answer_late(connection, _):
        is_over.wait(60)
        connection.sendall(say(draw()))

    suspending(serve(answer_late).url())
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(open_call)
        wait_until(lambda: count(redis, PlaceState.FETCHING) == 1)
        assert count(redis, PlaceState.HELD) == 0
        time.sleep(1.2)  # the front renews its lease
        assert count(redis, PlaceState.FETCHING) == 1
        is_over.set()
        assert waiting.result().status_code == 200
    assert count(redis, PlaceState.FETCHING) == 0


@pytest.mark.long
@pytest.mark.parametrize("render_budget", [5])
def test_images_that_take_longer_than_the_budget_are_a_504(redis, suspending, open_call, serve):
    suspending(serve(lambda *_: time.sleep(7)).url())
    answer = open_call()
    assert (answer.status_code, answer.json["data"]["code"]) == (504, "ERR_RENDER_TIMEOUT")
    assert "remote assets are too slow" in answer.json["message"]
    assert count(redis, PlaceState.FETCHING) == 0


def test_without_a_fetcher_the_worker_gets_the_reason(ports, account, worker, suspending):
    suspending("http://93.184.216.34/x.png")
    away = replace(ports, fetcher=Fetcher(f"http://127.0.0.1:{free_port()}"))
    client = create_app(away).test_client()
    client.environ_base["HTTP_AUTHORIZATION"] = f"Bearer {account.api_key}"
    client.post("/v2/pdf", data=DOCUMENT, content_type="text/xml")
    [image] = worker.jobs[-1].images.values()
    assert image.problem is ImageProblem.UNFETCHED


def test_the_images_of_a_document_have_a_common_limit(
    worker, suspending, open_call, serve, monkeypatch
):
    monkeypatch.setattr("api.jobs.remote_images.MAX_REMOTE_BYTES", 1500)
    server = serve(say(b"x" * 1000))
    suspending(server.url("/1"), server.url("/2"))
    open_call()
    problems = [image.problem for image in worker.jobs[-1].images.values()]
    assert sorted(problems, key=str) == [None, ImageProblem.TOO_LARGE]
