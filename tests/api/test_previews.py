"""POST /v2/preview at the front: parameters, rate limit, queue and sessions."""

from __future__ import annotations

import json
import threading
from base64 import b64decode
from concurrent.futures import ThreadPoolExecutor

import pytest

from api.app import create_app
from api.previews.routes import MAX_AT_ONCE
from shared.auth.accounts import create_account
from shared.errors import ErrorBody, ErrorKind
from shared.jobs.records import BodyKind, JobOutcome, OutcomeStatus, Purpose
from shared.previews.records import DEFAULT_SCALE, PreviewRequest
from shared.queue.commits import failed_outcome
from shared.queue.names import PREVIEW, job_key
from tests.conftest import with_settings
from tests.messages import read_task_id
from tests.waiting import wait_until

TEXT = "<document/>"
PAGE = {
    "page": 1,
    "width": 10.0,
    "height": 20.0,
    "file": {"content_type": "image/png", "width": 13, "height": 27, "scale": 1.3},
    "boxes": [],
    "boxes_left_out": 0,
}
VALID = {"valid": True, "errors": [], "warnings": []}


@pytest.fixture(autouse=True)
def database_url(sqlite_url):
    return sqlite_url


@pytest.fixture
def drawing(worker):
    """Run a worker that draws every page as the same few bytes."""

    def answer(job):
        pdf = worker.claims.store(job.id, b"pixels")
        return JobOutcome(
            job.id, OutcomeStatus.SUCCEEDED, pages=3, pdf=pdf, findings=VALID, properties=PAGE
        )

    worker.answer = answer
    return worker


def client_of(app, key):
    client = app.test_client()
    client.environ_base["HTTP_AUTHORIZATION"] = f"Bearer {key}"
    return client


def ask(client, **fields):
    return client.post("/v2/preview", json={"template": TEXT, **fields})


def asked_of(worker):
    return PreviewRequest.decode(worker.bodies[-1])


def data_of(worker):
    data = asked_of(worker).data
    return data.kind, data.body, data.flow


def test_a_preview_uses_its_own_queue_and_returns_its_page(caller, drawing):
    answer = ask(caller)
    assert answer.status_code == 200
    file = answer.json.pop("file")
    assert b64decode(file.pop("data")) == b"pixels"
    assert file == PAGE["file"]
    assert answer.json | {"file": PAGE["file"]} == {"pages": 3, "findings": VALID, **PAGE}
    [job] = drawing.jobs
    assert (job.purpose, job.body_kind, job.template) == (Purpose.PREVIEW, BodyKind.PREVIEW, None)
    assert not job.is_recorded
    assert asked_of(drawing) == PreviewRequest(TEXT, None)
    assert asked_of(drawing).scale == DEFAULT_SCALE


def test_the_parameters_reach_the_worker(caller, drawing):
    ask(caller, page=7, scale=2.5, format="webp", payload={"a": [1.10, "ä"]}, session="tab_1-a")
    asked = asked_of(drawing)
    assert (asked.template, asked.page, asked.scale, asked.format) == (TEXT, 7, 2.5, "webp")
    assert data_of(drawing) == (BodyKind.JSON, b'{"a": [1.1, "\\u00e4"]}', None)
    ask(caller, payload="a;b\n1;2\n", payload_type="text/csv")
    assert data_of(drawing) == (BodyKind.CSV, b"a;b\n1;2\n", None)
    ask(caller, payload="# a", payload_type="text/markdown")
    assert data_of(drawing) == (BodyKind.MARKDOWN, b"# a", "body")
    ask(caller, payload="# a", payload_type="text/markdown", flow="notes")
    assert data_of(drawing) == (BodyKind.MARKDOWN, b"# a", "notes")
    ask(caller, payload="{")  # what is wrong with it is a finding
    assert data_of(drawing) == (BodyKind.JSON, b"{", None)
    ask(caller, payload=None, page=None, scale=None, format=None, session=None)
    assert asked_of(drawing) == PreviewRequest(TEXT, None)


def test_a_stored_template_is_named_by_its_reference(caller, drawing):
    made = caller.post("/v2/templates?name=T", data=TEXT, content_type="text/xml").json["id"]
    assert ask(caller, template=f"{made}@live").status_code == 200
    assert drawing.jobs[-1].template.template_id == made
    assert asked_of(drawing).template is None
    assert ask(caller, template="service-invoice").status_code == 200
    unknown = ask(caller, template="missing")
    assert (unknown.status_code, unknown.json["data"]["code"]) == (404, "ERR_TEMPLATE_NOT_FOUND")
    empty = caller.post("/v2/templates?name=E").json["id"]
    assert ask(caller, template=empty).json["data"]["code"] == "ERR_TEMPLATE_EMPTY"


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"template": None}, "$.template"),
        ({"template": ""}, "$.template"),
        ({"template": 7}, "Expected `str`, got `int` - at `$.template`"),
        ({"template": "a b"}, "template"),
        ({"template": ["<"]}, "$.template"),
        ({"page": 0}, "Expected `int` >= 1 - at `$.page`"),
        ({"page": 1.5}, "$.page"),
        ({"page": "1"}, "$.page"),
        ({"page": 1_000_001}, "$.page"),
        ({"page": True}, "$.page"),
        ({"page": 10**400}, "$.page"),
        ({"scale": 0}, "Expected `number` >= 0.1 - at `$.scale`"),
        ({"scale": 8.01}, "$.scale"),
        ({"scale": -1}, "$.scale"),
        ({"scale": "1"}, "$.scale"),
        (
            {"format": "gif"},
            "Invalid enum value 'gif' - at `$.format`: accepted are png, webp, pdf.",
        ),
        ({"format": 3}, "$.format"),
        ({"session": ""}, "$.session"),
        ({"session": "a:b"}, "$.session"),
        ({"session": "a" * 65}, "$.session"),
        ({"session": "a\n"}, "$.session"),
        ({"payload": [1]}, "Invalid payload"),
        ({"payload": 3}, "Invalid payload"),
        ({"payload": {}, "payload_type": "text/csv"}, "Invalid payload"),
        ({"payload": "a", "payload_type": "text/xml"}, "$.payload_type"),
        ({"flow": "body"}, "flow is accepted with payload_type text/markdown only"),
        ({"payload_type": "text/markdown", "flow": ""}, "$.flow"),
        ({"pages": 1}, "Unknown field 'pages': accepted are template, payload"),
    ],
)
def test_a_malformed_request_is_a_400_that_names_its_field(caller, worker, fields, message):
    answer = ask(caller, **fields)
    assert answer.status_code == 400
    assert message in answer.json["message"]
    assert worker.jobs == []


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"{",
        b'{"template": "<a/>", "scale": NaN}',
        b'{"template": "<a/>", "page": 1, "page": 2}',
        b'{"template": "<a/>", "page": 1, "page": 1}',
        b'{"page": 1, "template": "<a/>", "p\\u0061ge": 2}',
        b'{"template": "<a/>", "payload": {"a": "\xff"}}',
        b'{"template": "<\\ud800/>"}',
        b'{"template": "<a/>", "payload": "\\ud800"}',
        b'{"template": "\\ud800"}',
        b'{"template": "<a/>", "payload": ' + b'{"a":' * 100_000 + b"1" + b"}" * 100_001,
        b"\xff",
    ],
)
def test_a_hostile_body_is_a_400(caller, worker, body):
    answer = caller.post("/v2/preview", data=body, content_type="application/json")
    assert answer.status_code == 400
    assert worker.jobs == []


def test_another_type_is_a_415_and_a_query_a_400(caller, worker):
    for media in ("text/xml", None):
        assert caller.post("/v2/preview", data=TEXT, content_type=media).status_code == 415
    assert caller.post("/v2/preview?page=1", json={"template": TEXT}).status_code == 400
    assert caller.get("/v2/preview").status_code == 405
    assert worker.jobs == []


def test_a_field_that_is_null_is_as_if_it_were_missing(caller, drawing):
    fields = ("payload", "flow", "page", "scale", "format", "session")
    answer = caller.post("/v2/preview", json={"template": TEXT, **dict.fromkeys(fields)})
    assert answer.status_code == 200
    assert caller.post("/v2/preview", json={"template": None}).status_code == 400


def test_previews_have_their_own_rate_limit(ports, account, drawing):
    client = client_of(create_app(with_settings(ports, preview_rate="2/minute")), account.api_key)
    answers = [ask(client) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert "the account may send 2 in any 60 seconds" in answers[2].json["message"]
    assert answers[2].json["message"].startswith("Too many previews")
    assert answers[0].headers["RateLimit-Policy"] == '"preview";q=2;w=60'
    assert client.post("/v2/preview/", json={"template": TEXT}).status_code == 429
    assert client.get("/v2/authcheck").status_code == 200


def test_no_worker_for_previews_is_a_503_at_the_end_of_their_budget(ports, account, redis):
    client = client_of(create_app(with_settings(ports, preview_budget=0.3)), account.api_key)
    answer = ask(client)
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "10")
    assert "No worker was free to draw the preview within 0.3 s" in answer.json["message"]
    [waiting] = redis.lrange(PREVIEW, 0, -1)  # dropped by the worker that takes it
    assert redis.hget(job_key(read_task_id(waiting)), "done") == b"withdrawn"


@pytest.mark.long
def test_a_preview_over_its_budget_is_a_504(ports, account, worker):
    worker.answer = lambda job: None
    answer = ask(client_of(create_app(with_settings(ports, preview_budget=5.0)), account.api_key))
    assert (answer.status_code, answer.json["data"]["code"]) == (504, "ERR_RENDER_TIMEOUT")
    assert "The preview exceeded its time budget of 5 s" in answer.json["message"]


def test_a_drained_queue_is_a_503_at_once(caller, ports):
    ports.cells.only.drains.drain(PREVIEW)
    assert ask(caller).headers["Retry-After"] == "30"
    ports.cells.only.drains.resume(PREVIEW)


def test_an_error_of_the_worker_is_the_error_response(caller, worker):
    refusal = ErrorBody(400, "It cannot be drawn.", ErrorKind.RESOURCE)
    worker.answer = lambda job: failed_outcome(job, refusal)
    assert ask(caller).json["message"] == "It cannot be drawn."


def in_session(app, key, session="a", **fields):
    return ask(client_of(app, key), session=session, **fields)


@pytest.fixture
def held(drawing):
    """Block the worker until the event is set."""
    is_open, draw = threading.Event(), drawing.answer
    drawing.answer = lambda job: draw(job) if is_open.wait(60) else None
    yield is_open
    is_open.set()


@pytest.mark.parametrize("is_begun", [True, False])
def test_a_newer_preview_of_a_session_replaces_the_older_at_once(
    app, account, drawing, held, is_begun, redis
):
    with ThreadPoolExecutor(4) as pool:
        if not is_begun:  # something else is in the worker
            pool.submit(in_session, app, account.api_key, "other")
            wait_until(lambda: drawing.jobs)
        before = len(drawing.jobs)
        older = pool.submit(in_session, app, account.api_key)
        wait_until(lambda: len(drawing.jobs) > before if is_begun else redis.llen(PREVIEW))
        newer = pool.submit(in_session, app, account.api_key)
        answer = older.result()
        assert (answer.status_code, answer.json["data"]["code"]) == (409, "ERR_PREVIEW_SUPERSEDED")
        held.set()
        assert newer.result().status_code == 200


def test_a_finished_preview_is_not_replaced(caller, drawing):
    assert [ask(caller, session="a").status_code for _ in range(3)] == [200] * 3


def test_a_session_is_its_accounts_own(app, account, database, drawing, held, redis):
    with database.session() as session:
        other = create_account(session, email="bo@example.org").api_key
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(in_session, app, account.api_key)
        wait_until(lambda: drawing.jobs)
        second = pool.submit(in_session, app, other)
        wait_until(lambda: redis.llen(PREVIEW))
        held.set()
        assert {first.result().status_code, second.result().status_code} == {200}


def test_too_many_concurrent_previews_are_a_429_with_retry_after(
    app, account, drawing, held, monkeypatch, redis
):
    monkeypatch.setattr("api.previews.routes.SLOT_WAIT_SECONDS", 0.1)
    with ThreadPoolExecutor(MAX_AT_ONCE) as pool:
        waiting = [
            pool.submit(in_session, app, account.api_key, f"s{n}") for n in range(MAX_AT_ONCE)
        ]
        wait_until(lambda: redis.llen(PREVIEW) == MAX_AT_ONCE - 1)
        refused = in_session(app, account.api_key, "more")
        held.set()
        assert [each.result().status_code for each in waiting] == [200] * MAX_AT_ONCE
    assert (refused.status_code, refused.headers["Retry-After"]) == (429, "5")
    assert "4 previews of the account are already being drawn" in refused.json["message"]


def test_a_body_that_is_too_large_is_a_413(caller, worker):
    body = json.dumps({"template": "<" + "a" * (32 * 1024 * 1024)})
    answer = caller.post("/v2/preview", data=body, content_type="application/json")
    assert answer.status_code == 413
