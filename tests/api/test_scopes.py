"""Scopes of keys: each route requires one, and no key makes a key that may do more."""

from __future__ import annotations

import re

import pytest

from api.app import create_app, describe_api
from api.operations.model import find_operation
from shared.auth import accounts
from shared.auth.scopes import ALL_SCOPES, Scope, decode_scopes, encode_scopes

ALL = ["read", "render", "templates", "account"]


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


ROUTES_THAT_READ_KEYS_DO_NOT_LIST = {
    "/v2/keys", "/v2/keys/{}", "/v2/webhooks", "/v2/webhooks/{}", "/v2/webhooks/{}/rotate",
    "/v2/webhooks/{}/test", "/v2/webhooks/{}/deliveries", "/v2/destinations",
    "/v2/destinations/{}", "/v2/destinations/{}/test", "/v2/deliveries",
    "/v2/deliveries/{}/redeliver", "/v2/audit",
}  # fmt: skip


def list_calls(ports):
    """Return the scopes of each call under /v2, by its method and rule."""
    app = create_app(ports)
    return {
        (method, rule.rule): find_operation(app.view_functions[rule.endpoint]).scopes
        for rule in app.url_map.iter_rules()
        if rule.rule.startswith("/v2") and not rule.rule.startswith("/v2/admin/")
        for method in rule.methods - {"OPTIONS"}
    }


def test_every_call_has_scopes(ports):
    assert all(list_calls(ports).values())


def test_a_view_of_no_operation_is_refused_for_every_key(ports, account):
    app = create_app(ports)
    app.add_url_rule("/v2/forgotten", view_func=lambda: "open")
    answer = app.test_client().get("/v2/forgotten", headers={"x-api-key": account.api_key})
    assert (answer.status_code, answer.json["data"]["code"]) == (403, "ERR_KEY_SCOPE")


@pytest.mark.parametrize("scope", list(Scope))
def test_a_key_reaches_exactly_the_calls_of_its_scope(ports, with_scopes, scope):
    client, refused = with_scopes(scope), set()
    scopes = list_calls(ports)
    calls = {call for call in scopes if not call[1].startswith("/v2/session")}
    for method, rule in calls:
        answer = client.open(re.sub(r"<[\w:]+>", "none", rule), method=method)
        if answer.status_code == 403:
            assert method == "HEAD" or answer.json["data"]["code"] == "ERR_KEY_SCOPE"
            refused.add((method, rule))
    assert refused == {call for call in calls if scope not in scopes[call]}


def test_a_key_that_reads_changes_nothing_and_renders_nothing(ports):
    calls = list_calls(ports)
    reached = {call for call, scopes in calls.items() if Scope.READ in scopes}
    of_the_session = {("POST", "/v2/session"), ("DELETE", "/v2/session")}
    changing = {call for call in reached if call[0] not in ("GET", "HEAD")}
    assert changing == of_the_session | {("POST", "/v2/preview")}
    unread = {rule for method, rule in calls.keys() - reached if method == "GET"}
    assert {re.sub(r"<[\w:]+>", "{}", rule) for rule in unread} <= ROUTES_THAT_READ_KEYS_DO_NOT_LIST


def test_a_key_that_reads_sees_what_the_account_has(caller, with_scopes):
    content = b"<document><flow><p>One page</p></flow></document>"
    made = caller.post("/v2/templates?name=Letter", data=content, content_type="application/xml")
    reader, path = with_scopes("read"), f"/v2/templates/{made.json['id']}"
    assert reader.get(path).json["content"] == content.decode()
    for listed in ("templates", "jobs", "batches", "images", "fonts", "account/usage"):
        assert reader.get(f"/v2/{listed}").status_code == 200
    for method, changed in (
        ("PUT", path),
        ("PATCH", path),
        ("DELETE", path),
        ("POST", f"{path}/versions"),
        ("PUT", f"{path}/tags/live"),
        ("POST", "/v2/templates"),
        ("POST", "/v2/pdf"),
        ("POST", "/v2/validate"),
        ("POST", "/v2/batches"),
        ("POST", "/v2/images"),
        ("GET", "/v2/keys"),
        ("GET", "/v2/webhooks"),
    ):
        answer = reader.open(changed, method=method)
        assert (answer.status_code, answer.json["data"]["code"]) == (403, "ERR_KEY_SCOPE")
    assert caller.get(path).json["content"] == content.decode()


def test_all_other_scopes_together_include_reading(caller, with_scopes):
    full = with_scopes("render", "templates", "account")
    assert full.get("/v2/account").json["scopes"] == ALL
    made = full.post("/v2/keys", json={"scopes": ["read"]})
    assert (made.status_code, made.json["scopes"]) == (201, ["read"])
    assert with_scopes("account").post("/v2/keys", json={"scopes": ["read"]}).status_code == 403


@pytest.mark.parametrize(
    ("scopes", "text"),
    [
        (ALL_SCOPES, "render templates account"),  # as versions read it that know no other scope
        ({Scope.READ}, "read"),
        ({Scope.RENDER, Scope.READ}, "read render"),
        ({Scope.RENDER, Scope.TEMPLATES}, "render templates"),
    ],
)
def test_scopes_are_stored_so_that_earlier_versions_read_them(scopes, text):
    assert encode_scopes(scopes) == text
    assert decode_scopes(text) == scopes


def test_the_refusal_names_what_is_needed_and_what_the_key_has(with_scopes):
    answer = with_scopes("render").get("/v2/templates")
    assert answer.status_code == 403
    assert answer.json["message"] == (
        "This request requires a key with the scope read or templates; the key has render."
    )
    answer = with_scopes("read").post("/v2/templates")
    assert "the scope templates; the key has read." in answer.json["message"]
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
    assert caller.get("/v2/account").json["scopes"] == ALL
    assert caller.post("/v2/keys").json["scopes"] == ALL
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
    assert "scopes" in answer.json["message"]


def test_the_description_lists_the_scopes_of_each_call():
    paths = describe_api()["paths"]
    assert paths["/v2/templates"]["get"]["security"] == [
        {"bearer": ["read"]},
        {"key": ["read"]},
        {"bearer": ["templates"]},
        {"key": ["templates"]},
    ]
    assert paths["/v2/templates"]["post"]["security"] == [
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
    assert set(state.scopes) == ALL_SCOPES
