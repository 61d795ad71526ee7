"""Authentication: both headers, every state of a key and its account, and changes that take effect at once."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

import pytest

from shared.auth import accounts
from shared.identifiers import new_api_key

PATH = "/v2/authcheck"


def drop(ports, database, account):
    """Change an account as the operator commands do."""
    with database.snapshot() as session:
        ports.admissions.drop(
            account.account_id, accounts.key_digests_of(session, account.account_id)
        )


def test_both_headers_carry_the_key(stranger, account):
    for headers in (
        {"Authorization": f"Bearer {account.api_key}"},
        {"Authorization": f"bearer  {account.api_key} "},
        {"x-api-key": account.api_key},
        {"Authorization": "Basic abc", "x-api-key": account.api_key},
    ):
        answer = stranger.get(PATH, headers=headers)
        assert answer.status_code == 200
        assert account.account_id in answer.json["status"]


def test_two_different_keys_are_400_and_the_same_twice_is_one(stranger, account):
    good, bad = account.api_key, new_api_key()
    for bearer, other in ((good, bad), (bad, good)):
        both = {"Authorization": f"Bearer {bearer}", "x-api-key": other}
        answer = stranger.get(PATH, headers=both)
        assert answer.status_code == 400
        assert answer.json["message"].startswith("The keys in Authorization and x-api-key differ")
    both = {"Authorization": f"Bearer {good}", "x-api-key": good}
    assert stranger.get(PATH, headers=both).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {}, {"Authorization": "Bearer "}, {"Authorization": "Bearer"},
        {"Authorization": "Basic YTpi"}, {"x-api-key": ""}, {"x-api-key": "pr_short"},
        {"x-api-key": "ünïcode"}, {"x-api-key": new_api_key()},
    ],
)  # fmt: skip
def test_a_missing_or_unknown_key_is_a_401_without_code(stranger, headers):
    answer = stranger.get(PATH, headers=headers)
    assert answer.status_code == 401
    assert answer.headers["WWW-Authenticate"] == "Bearer"
    assert "data" not in answer.json


@pytest.mark.long
def test_a_cached_key_expires_on_time(stranger, database, account):
    now = datetime.now(UTC)
    with database.session() as session:
        soon = accounts.create_key(
            session, account.account_id, expires_at=now + timedelta(seconds=3)
        )
        past = accounts.create_key(session, account.account_id, expires_at=now)
    assert stranger.get(PATH, headers={"x-api-key": soon.api_key}).status_code == 200
    time.sleep(max(0.0, (now - datetime.now(UTC)).total_seconds() + 3.1))
    for key in (soon, past):
        answer = stranger.get(PATH, headers={"x-api-key": key.api_key})
        assert answer.status_code == 401
        assert answer.json["data"] == {"code": "ERR_KEY_EXPIRED"}


@pytest.mark.parametrize(
    ("change", "code"),
    [({"disabled": True}, "ERR_ACCOUNT_DISABLED"), ({"verified": False}, "ERR_EMAIL_NOT_VERIFIED")],
)
def test_a_disabled_or_unverified_account_is_a_403_until_it_is_enabled(
    caller, ports, database, account, change, code
):
    assert caller.get(PATH).status_code == 200
    with database.session() as session:
        accounts.set_account(session, account.account_id, **change)
    drop(ports, database, account)
    answer = caller.get(PATH)
    assert answer.status_code == 403
    assert answer.json["data"] == {"code": code}
    with database.session() as session:
        undone = {field: not value for field, value in change.items()}
        accounts.set_account(session, account.account_id, **undone)
    drop(ports, database, account)
    assert caller.get(PATH).status_code == 200


def test_paths_outside_v2_need_no_key(stranger):
    for path in ("/healthz", "/readyz", "/metrics"):
        assert stranger.get(path).status_code == 200
    assert stranger.get("/v2x").status_code == 404
