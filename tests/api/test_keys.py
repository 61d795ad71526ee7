"""/v2/keys: created, listed and revoked by keys of the same account only."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

from api.account.keys import MAX_LIVE_KEYS
from api.app import create_app
from shared.auth import accounts


def test_a_key_is_shown_once_and_works(caller, stranger, account):
    made = caller.post("/v2/keys", json={"name": "Shop", "expires_at": "2199-01-31T12:00:00Z"})
    assert made.status_code == 201
    assert made.json["key"].startswith("pr_")
    assert made.json["name"] == "Shop"
    assert made.json["expires_at"] == "2199-01-31T12:00:00.000Z"
    answer = stranger.get("/v2/keys", headers={"x-api-key": made.json["key"]})
    listed = answer.json["keys"]
    assert [key["is_own"] for key in listed] == [False, True]
    assert made.json["key"] not in answer.get_data(as_text=True)
    assert listed[1]["display"] == f"{made.json['key'][:7]}…{made.json['key'][-4:]}"
    assert {key["user"]["email"] for key in listed} == {"ada@example.org"}


def test_a_revoked_key_is_rejected_on_the_next_request(caller, account):
    made = caller.post("/v2/keys").json
    headers = {"Authorization": f"Bearer {made['key']}"}
    assert caller.get("/v2/authcheck", headers=headers).status_code == 200
    assert caller.delete(f"/v2/keys/{made['id']}").status_code == 204
    assert caller.get("/v2/authcheck", headers=headers).json["data"]["code"] == "ERR_KEY_REVOKED"
    assert caller.delete(f"/v2/keys/{made['id']}").status_code == 204
    assert [("revoked_at" in key) for key in caller.get("/v2/keys").json["keys"]] == [False, True]


def test_a_key_may_revoke_itself(caller, account):
    assert caller.delete(f"/v2/keys/{account.key_id}").status_code == 204
    assert caller.get("/v2/keys").status_code == 401


@pytest.mark.parametrize(
    "fields",
    [
        {"name": ""}, {"name": 3}, {"name": None}, {"expires_at": None}, {"name": "x" * 201},
        {"name": "a\nb"}, {"name": "\ud800"}, {"expires_at": "2001-01-01"},
        {"expires_at": "9999-12-31T23:59:59-14:00"}, {"expires_at": "soon"}, {"expires_at": 3},
        {"surprise": 1},
    ],
)  # fmt: skip
def test_invalid_fields_are_a_400_and_make_no_key(caller, fields):
    assert caller.post("/v2/keys", json=fields).status_code == 400
    assert len(caller.get("/v2/keys").json["keys"]) == 1


def test_a_key_ends_no_later_than_the_key_that_makes_it(caller, stranger):
    end = "2199-01-31T12:00:00.000Z"
    maker = {"x-api-key": caller.post("/v2/keys", json={"expires_at": end}).json["key"]}
    made = [
        stranger.post("/v2/keys", json=fields, headers=maker)
        for fields in ({}, {"expires_at": "2198-01-01T00:00:00Z"}, {"expires_at": "2200-01-01T00:00:00Z"})
    ]  # fmt: skip
    assert [each.status_code for each in made] == [201, 201, 403]
    assert [each.json["expires_at"] for each in made[:2]] == [end, "2198-01-01T00:00:00.000Z"]
    assert end in made[2].json["message"]


@pytest.mark.long
def test_of_many_keys_made_at_once_those_beyond_the_limit_are_409(ports, database, account):
    with database.session() as session:
        for _ in range(MAX_LIVE_KEYS - 3):
            accounts.create_key(session, account.account_id)
    app = create_app(ports)

    def create(_):
        headers = {"x-api-key": account.api_key}
        return app.test_client().post("/v2/keys", json={}, headers=headers).status_code

    with ThreadPoolExecutor(60) as pool:
        statuses = Counter(pool.map(create, range(120)))
    assert statuses == {201: 2, 409: 118}


def test_the_number_of_valid_keys_of_an_account_is_limited(caller, database, account):
    with database.session() as session:
        for _ in range(MAX_LIVE_KEYS - 1):
            accounts.create_key(session, account.account_id)
    answer = caller.post("/v2/keys")
    assert answer.status_code == 409
    assert str(MAX_LIVE_KEYS) in answer.json["message"]
    first = caller.get("/v2/keys").json["keys"][1]["id"]
    caller.delete(f"/v2/keys/{first}")
    assert caller.post("/v2/keys").status_code == 201
