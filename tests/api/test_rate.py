"""Rate limits per account: step 3 of the order of checks, on a real server."""

from __future__ import annotations

import re
import threading
import time
from collections import Counter
from dataclasses import replace

import pytest

from api.app import create_app
from api.wiring import wire
from shared.auth.accounts import create_account, key_digests_of, set_account
from shared.auth.admission import RateLimiter
from shared.auth.key_state import Rate, parse_rate
from shared.errors import Unavailable
from shared.queue.connection import connect

POLICY = re.compile(r'"account";q=(\d+);w=(\d+)\Z')
LEFT = re.compile(r'"account";r=(\d+);t=(\d+)\Z')


@pytest.fixture
def limited(ports, settings):
    """Yield the front's ports with default rates enforced."""
    ports = wire(replace(settings, enforce_rate_limits=True))
    yield ports
    ports.database.close()


@pytest.fixture
def client(limited, account):
    client = create_app(limited).test_client()
    client.environ_base["HTTP_X_API_KEY"] = account.api_key
    return client


def limit(ports, database, account, rate):
    with database.session() as session:
        set_account(session, account.account_id, rate_limit=rate)
        digests = key_digests_of(session, account.account_id)
    ports.admissions.drop(account.account_id, digests)


def test_the_request_over_the_rate_is_a_429(client, limited, database, account):
    limit(limited, database, account, "3/minute")
    assert [client.get("/v2/authcheck").status_code for _ in range(4)] == [200, 200, 200, 429]
    answer = client.get("/v2/authcheck")
    assert answer.json["data"]["code"] == "ERR_RATE_LIMITED"
    assert 1 <= int(answer.headers["Retry-After"]) <= 60
    assert "3" in answer.json["message"]


def test_every_response_has_policy_and_remaining_requests(client, limited, database, account):
    limit(limited, database, account, "3/minute")
    rests = []
    for path in ("/v2/authcheck", "/v2/nothing", "/v2/account/usage?x=1", "/v2/authcheck"):
        answer = client.get(path)
        assert POLICY.match(answer.headers["RateLimit-Policy"]).groups() == ("3", "60")
        rests.append(int(LEFT.match(answer.headers["RateLimit"])[1]))
    assert rests == [2, 1, 0, 0]


@pytest.mark.parametrize(("plan", "rate"), [("free", "20"), ("paid", "500")])
def test_the_default_rate_is_the_plans(limited, database, plan, rate):
    with database.session() as session:
        key = create_account(session, email="bo@example.org", plan=plan).api_key
    answer = create_app(limited).test_client().get("/v2/authcheck", headers={"x-api-key": key})
    assert POLICY.match(answer.headers["RateLimit-Policy"]).groups() == (rate, "1")


@pytest.mark.long
def test_after_retry_after_a_request_passes(client, limited, database, account):
    limit(limited, database, account, "5/second")
    while (answer := client.get("/v2/authcheck")).status_code == 200:
        continue
    time.sleep(int(answer.headers["Retry-After"]))
    assert client.get("/v2/authcheck").status_code == 200


def test_each_account_has_its_own_rate_limit(client, limited, database, account):
    limit(limited, database, account, "1/minute")
    assert [client.get("/v2/authcheck").status_code for _ in range(2)] == [200, 429]
    with database.session() as session:
        key = create_account(session, email="bo@example.org").api_key
    assert client.get("/v2/authcheck", headers={"x-api-key": key}).status_code == 200


def test_concurrent_requests_cannot_exceed_the_rate(limited, database, account):
    limit(limited, database, account, "10/minute")
    app = create_app(limited)
    statuses: Counter[int] = Counter()

    def ask() -> None:
        client = app.test_client()
        for _ in range(5):
            answer = client.get("/v2/authcheck", headers={"x-api-key": account.api_key})
            statuses[answer.status_code] += 1

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert statuses == {200: 10, 429: 30}


def test_a_rejected_key_is_not_counted_and_gets_no_rate_headers(client):
    answer = client.get("/v2/authcheck", headers={"x-api-key": "nonsense"})
    assert answer.status_code == 401
    assert "RateLimit" not in answer.headers


def test_the_rate_is_checked_before_parameters_and_body(client, limited, database, account):
    limit(limited, database, account, "1/minute")
    client.get("/v2/authcheck")
    answer = client.post("/v2/pdf?nonsense=1", data=b"", content_type="image/png")
    assert answer.status_code == 429


def test_keyless_paths_have_no_rate(client, limited, database, account):
    limit(limited, database, account, "1/minute")
    for _ in range(3):
        answer = client.get("/healthz")
        assert answer.status_code == 200
        assert "RateLimit" not in answer.headers


def test_a_redis_outage_is_unavailable():
    with pytest.raises(Unavailable):
        RateLimiter(connect("redis://127.0.0.1:1/0")).take("acc", Rate(1, 1))


@pytest.mark.parametrize("text", ["", "1", "0/second", "1/hour", "-1/minute", "1/second "])
def test_a_malformed_rate_is_rejected(text):
    with pytest.raises(ValueError, match="N/second"):
        parse_rate(text)


def test_a_rate_set_for_an_account_is_enforced_without_default_rates(ports, database, account):
    client = create_app(ports).test_client()
    client.environ_base["HTTP_X_API_KEY"] = account.api_key
    answers = [client.get("/v2/authcheck") for _ in range(30)]
    assert {answer.status_code for answer in answers} == {200}
    assert "RateLimit-Policy" not in answers[-1].headers
    limit(ports, database, account, "2/minute")
    assert [client.get("/v2/authcheck").status_code for _ in range(3)] == [200, 200, 429]
