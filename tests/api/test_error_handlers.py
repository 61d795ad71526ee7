"""Every failure has the JSON error body, without internals."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from api.app import create_app
from api.wiring import wire
from shared.auth.accounts import set_account
from shared.queue.connection import connect
from shared.queue.names import QUEUES
from tests.servers import RedisServer


def check_body(answer, status):
    assert answer.status_code == status
    assert answer.content_type == "application/json; charset=utf-8"
    body = answer.json
    assert body["statusCode"] == status
    assert isinstance(body["message"], str)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", body["timestamp"])
    return body


@pytest.mark.parametrize(
    ("method", "path", "allow"),
    [
        ("GET", "/v2/pdf", "POST"),
        ("PUT", "/v2/pdf/", "POST"),
        ("POST", "/v2/templates/abc", "DELETE, GET, HEAD, PATCH, PUT"),
        ("POST", "/healthz", "GET, HEAD"),
    ],
)
def test_a_method_not_offered_is_a_405_with_allow(caller, method, path, allow):
    answer = caller.open(path, method=method)
    check_body(answer, 405)
    assert answer.headers["Allow"] == allow


def test_an_internal_error_contains_only_a_reference(caller, ports):
    ports.admissions.find = lambda _: {}["secret detail"]
    body = check_body(caller.get("/v2/authcheck"), 500)
    assert "secret" not in str(body)
    assert re.search(r"err_[a-z0-9]{24}", body["message"])


def test_responses_are_not_stored_by_caches(caller):
    answer = caller.get("/v2/authcheck")
    assert answer.headers["Cache-Control"] == "no-store"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


@pytest.fixture
def without_redis(settings, account):
    ports = wire(replace(settings, redis_url="redis://127.0.0.1:1/0"))
    client = create_app(ports).test_client()
    client.environ_base["HTTP_AUTHORIZATION"] = f"Bearer {account.api_key}"
    yield client
    ports.database.close()


def test_without_redis_the_answer_is_a_503_with_retry_after(without_redis):
    for method, path in (("GET", "/v2/authcheck"), ("POST", "/v2/pdf"), ("GET", "/v2/templates")):
        answer = without_redis.open(path, method=method)
        check_body(answer, 503)
        assert int(answer.headers["Retry-After"]) >= 1


def test_readiness_names_the_unavailable_stores(without_redis, caller):
    assert caller.get("/readyz").json["status"] == "ready"
    body = check_body(without_redis.get("/readyz"), 503)
    assert body["data"]["down"] == ["queue"]
    assert without_redis.get("/healthz").status_code == 200


def test_readiness_says_what_renders_of_accounts_that_keep_nothing_say(
    settings, account, worker, tmp_path
):
    with RedisServer(tmp_path, is_kept=False) as server, connect(server.url) as redis:
        key = {"x-api-key": account.api_key}
        operator = {"x-api-key": "k" * 32}
        ports = wire(
            replace(settings, memory_redis_url=server.url, admin_keys=f"{'o' * 32} {'k' * 32}")
        )
        client = create_app(ports).test_client()

        def find_states():
            ready = client.get("/readyz").json
            status = client.get("/v2/admin/status", headers=operator).json
            assert [each["name"] for each in status["queues"]] == list(QUEUES)
            return ready["status"], ready["parts"]["memory"], status["problems"]

        assert find_states() == ("ready", "up", [])
        redis.config_set("maxmemory", 1)
        assert find_states() == ("partly ready", "down", ["memory"])
        with ports.database.session() as session:
            set_account(session, account.account_id, result_hours=0)
        render = client.post("/v2/pdf", data=b"<d/>", content_type="text/xml", headers=key)
        assert render.status_code == 503
        redis.config_set("maxmemory", 0)
        assert find_states() == ("ready", "up", [])
        redis.config_set("appendonly", "yes")
        told = check_body(client.get("/readyz"), 503)["data"]["reasons"]
        assert "appendonly" in told["memory"]
    ports.database.close()


def test_without_the_database_cached_keys_still_render(settings, caller, account, worker, tmp_path):
    assert caller.get("/v2/authcheck").status_code == 200
    ports = wire(replace(settings, database_url=f"sqlite:///{tmp_path}/no/db.sqlite"))
    client = create_app(ports).test_client()
    headers = {"x-api-key": account.api_key}
    render = client.post("/v2/pdf", data=b"<d/>", content_type="text/xml", headers=headers)
    # The counters of a free account come from the ledger once; a later render needs it no more.
    assert render.status_code == 503
    assert caller.get("/v2/account/usage").status_code == 200
    render = client.post("/v2/pdf", data=b"<d/>", content_type="text/xml", headers=headers)
    assert render.status_code == 200
    answer = client.get("/v2/templates", headers=headers)
    check_body(answer, 503)
    assert answer.headers["Retry-After"]
    assert check_body(client.get("/readyz"), 503)["data"]["down"] == ["database"]


def test_metrics_count_by_rule_never_by_path(caller):
    caller.get("/v2/templates/abc")
    caller.open("/v2/pdf", method="BREW")
    text = caller.get("/metrics").text
    assert (
        'pressroom_http_requests_total{method="GET",route="/v2/templates/<template>",status="404"}'
        in text
    )
    assert "abc" not in text
    assert "BREW" not in text
