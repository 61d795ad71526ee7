"""Scopes of keys: each route requires one, in one table, and no key makes a key that may do more."""

from __future__ import annotations

import re

import pytest

from api.app import create_app
from api.auth.scopes import SCOPES
from api.openapi.description import describe
from shared.db import accounts
from shared.scopes import ALL_SCOPES, Scope


@pytest.fixture
def with_scopes(ports, database, account):
    """Return a maker of clients whose key has the given scopes."""

    def make(*scopes: str):
        chosen = frozenset(map(Scope, scopes))
        with database.session() as session:
            key = accounts.create_key(session, account.account_id, scopes=chosen)
        client = create_app(ports).test_client()
        client.environ_base["HTTP_X_API_KEY"] = key.api_key
        return client

    return make


def test_the_table_has_every_route_and_no_other(ports):
    routes = {
        re.sub(r"<[\w:]+>", "{}", rule.rule)
        for rule in create_app(ports).url_map.iter_rules()
        if rule.rule.startswith("/v2")
    }
    assert routes == set(SCOPES)
    assert all(SCOPES.values())


@pytest.mark.parametrize("scope", list(Scope))
def test_a_key_reaches_exactly_the_routes_of_its_scope(ports, with_scopes, scope):
    client, refused = with_scopes(scope), set()
    for rule in create_app(ports).url_map.iter_rules():
        if not rule.rule.startswith("/v2") or rule.rule.startswith("/v2/session"):
            continue
        for method in rule.methods - {"OPTIONS"}:
            answer = client.open(re.sub(r"<[\w:]+>", "none", rule.rule), method=method)
            if answer.status_code == 403:
                assert method == "HEAD" or answer.json["data"]["code"] == "ERR_KEY_SCOPE"
                refused.add(re.sub(r"<[\w:]+>", "{}", rule.rule))
    assert refused == {path for path, accepted in SCOPES.items() if scope not in accepted}


def test_the_refusal_names_what_is_needed_and_what_the_key_has(with_scopes):
    answer = with_scopes("render").get("/v2/templates")
    assert answer.status_code == 403
    assert answer.json["message"] == (
        "This request requires a key with the scope templates; the key has render."
    )
    # A trailing slash, HEAD or another spelling of the same path changes nothing.
    assert with_scopes("render").get("/v2/templates/").status_code == 403
    assert with_scopes("render").head("/v2/keys").status_code == 403
    assert with_scopes("render").get("/v2/unknown").status_code == 404


def test_the_scope_comes_before_the_rate_limit_and_the_body(with_scopes, ports):
    client = with_scopes("account")
    answer = client.post("/v2/pdf?x=1", data=b"x", content_type="image/png")
    assert answer.status_code == 403
    assert "RateLimit" not in answer.headers


def test_a_new_key_has_the_scopes_of_the_request_or_fewer(caller, with_scopes):
    assert caller.get("/v2/account").json["scopes"] == ["render", "templates", "account"]
    assert caller.post("/v2/keys").json["scopes"] == ["render", "templates", "account"]
    fewer = caller.post("/v2/keys", json={"scopes": ["account", "render"]})
    assert fewer.json["scopes"] == ["render", "account"]
    headers = {"Authorization": f"Bearer {fewer.json['key']}"}
    assert caller.get("/v2/account", headers=headers).json["scopes"] == ["render", "account"]
    limited = with_scopes("account")
    assert limited.post("/v2/keys").json["scopes"] == ["account"]
    refused = limited.post("/v2/keys", json={"scopes": ["account", "render"]})
    assert (refused.status_code, refused.json["data"]["code"]) == (403, "ERR_KEY_SCOPE")
    assert "it lacks render" in refused.json["message"]
    assert ["account"] in [key["scopes"] for key in limited.get("/v2/keys").json["keys"]]


@pytest.mark.parametrize(
    "scopes", [[], None, "render", ["render", "render"], ["all"], [3], [["render"]], {"render": 1}]
)
def test_scopes_must_be_a_list_of_known_ones(caller, scopes):
    answer = caller.post("/v2/keys", json={"scopes": scopes})
    assert answer.status_code == 400
    assert "Invalid field scopes" in answer.json["message"]


def test_the_description_lists_the_scopes_of_each_call():
    paths = describe()["paths"]
    assert paths["/v2/templates"]["get"]["security"] == [
        {"bearer": ["templates"]},
        {"key": ["templates"]},
    ]
    assert paths["/v2/authcheck"]["get"]["security"] == [{"bearer": []}, {"key": []}]
    assert paths["/healthz"]["get"]["security"] == []
    for path, methods in paths.items():
        for operation in methods.values():
            assert bool(operation["security"]) == path.startswith("/v2")


def test_a_session_may_do_what_its_key_may(with_scopes):
    client = with_scopes("templates")
    headers = {"X-Pressroom-Studio": "1", "Sec-Fetch-Site": "same-origin"}
    opened = client.post("/v2/session", headers=headers)
    assert opened.status_code == 201
    cookie = opened.headers["Set-Cookie"].partition(";")[0]
    del client.environ_base["HTTP_X_API_KEY"]
    headers["Cookie"] = cookie
    assert client.get("/v2/templates", headers=headers).status_code == 200
    assert client.get("/v2/keys", headers=headers).status_code == 403


def test_keys_made_before_have_all_scopes(database, account, ports):
    with database.session() as session:
        state = accounts.list_keys(session, account.account_id)[0]
    assert state.scopes == ALL_SCOPES
