"""ETag, If-Match and If-None-Match on templates, versions and tags; names and lists of templates."""

from __future__ import annotations

import threading

import pytest

from api.app import create_app
from shared.clock import now
from shared.templates.public import publish_public_templates
from tests.contract.conftest import client_of

XML = {"Content-Type": "text/xml"}


@pytest.fixture
def path(template) -> str:
    return f"/v2/templates/{template}"


def etag_of(caller, path) -> str:
    return caller.get(path).headers["ETag"]


def replace(caller, path, content=b"<e/>", **headers):
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    return caller.put(path, data=content, headers=XML | names)


# --- changes --------------------------------------------------------------------------------------


def test_a_change_is_applied_while_the_etag_is_current(caller, path):
    etag = etag_of(caller, path)
    changed = replace(caller, path, If_Match=etag)
    assert changed.status_code == 200
    assert changed.headers["ETag"] == etag_of(caller, path) != etag


def test_a_change_with_an_outdated_etag_is_412_with_the_current_one(caller, path):
    etag = etag_of(caller, path)
    current = replace(caller, path).headers["ETag"]
    refused = replace(caller, path, b"<f/>", If_Match=etag)
    assert (refused.status_code, refused.json["statusCode"]) == (412, 412)
    assert current in refused.json["message"]
    assert refused.headers["ETag"] == current
    assert caller.get(path).json["content"] == "<e/>"


@pytest.mark.parametrize("change", ["content", "name", "version", "slug"])
def test_every_visible_change_changes_the_etag(caller, path, template, change):
    before = etag_of(caller, path)
    match change:
        case "content":
            replace(caller, path)
        case "name":
            caller.patch(path, json={"name": "Other"})
        case "version":
            caller.post(f"{path}/versions", json={})
        case "slug":
            caller.post("/v2/slugs", json={"slug": "letter", "template": template})
    assert etag_of(caller, path) != before
    assert etag_of(caller, path) == etag_of(caller, path)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"If-Match": "*"}, 200), ({"If-Match": "{etag}"}, 200),
        ({"If-Match": '"x", {etag}'}, 200), ({"If-Match": 'W/{etag}'}, 412),
        ({"If-Match": '"x"'}, 412), ({"If-Match": '"*"'}, 412), ({"If-Match": "x"}, 400),
        ({"If-Match": ""}, 400), ({"If-Match": '"a" "b"'}, 400),
        ({"If-Match": '"' + "a" * 7000}, 400), ({"If-None-Match": "*"}, 412),
        ({"If-None-Match": "{etag}"}, 412), ({"If-None-Match": "W/{etag}"}, 412),
        ({"If-None-Match": '"x"'}, 200),
    ],
)  # fmt: skip
def test_preconditions_follow_rfc_9110(caller, path, headers, status):
    etag = etag_of(caller, path)
    sent = {name: value.replace("{etag}", etag) for name, value in headers.items()}
    for answer in (
        caller.patch(path, json={"name": "T"}, headers=sent),
        caller.put(path, data=b"<d/>", headers=XML | sent),
    ):
        assert answer.status_code == status


def test_a_rename_a_publish_and_a_delete_take_conditions(caller, path):
    stale = etag_of(caller, path)
    replace(caller, path)
    headers = {"If-Match": stale}
    assert caller.patch(path, json={"name": "N"}, headers=headers).status_code == 412
    assert caller.post(f"{path}/versions", json={}, headers=headers).status_code == 412
    assert caller.delete(path, headers=headers).status_code == 412
    headers = {"If-Match": etag_of(caller, path)}
    assert caller.post(f"{path}/versions", json={}, headers=headers).status_code == 201
    assert caller.delete(path, headers={"If-Match": etag_of(caller, path)}).status_code == 204
    assert caller.delete(path, headers={"If-Match": "*"}).status_code == 404


def test_a_tag_is_moved_and_removed_from_the_state_that_was_read(caller, path, publish):
    publish("<a/>")
    publish("<b/>")
    tag = f"{path}/tags/stable"
    assert caller.put(tag, json={"version": 1}, headers={"If-Match": "*"}).status_code == 412
    made = caller.put(tag, json={"version": 1}, headers={"If-None-Match": "*"})
    assert (made.status_code, made.headers["ETag"]) == (200, etag_of(caller, tag))
    assert caller.put(tag, json={"version": 2}, headers={"If-None-Match": "*"}).status_code == 412
    first = {"If-Match": made.headers["ETag"]}
    assert caller.put(tag, json={"version": 2}, headers=first).status_code == 200
    assert caller.put(tag, json={"version": 1}, headers=first).status_code == 412
    assert caller.delete(tag, headers=first).status_code == 412
    assert caller.get(tag).json["version"] == 2
    assert caller.delete(tag, headers={"If-Match": etag_of(caller, tag)}).json["removed"]
    assert caller.delete(tag, headers={"If-Match": "*"}).status_code == 412
    assert not caller.delete(tag).json["removed"]


def test_of_concurrent_changes_with_one_etag_one_is_applied(caller, path, ports, account):
    etag = etag_of(caller, path)
    statuses = []
    # Not in the threads: Werkzeug compiles routes by ast, which Python 3.11 cannot do in two at once.
    app = create_app(ports)

    def change(number: int) -> None:
        client = app.test_client()
        client.environ_base["HTTP_X_API_KEY"] = account.api_key
        body = f"<e{number}/>".encode()
        statuses.append(replace(client, path, body, If_Match=etag).status_code)

    threads = [threading.Thread(target=change, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(statuses) == [200, *[412] * 7]


def test_a_precondition_reveals_nothing_of_another_account(other, caller, path):
    etag = etag_of(caller, path)
    for headers in ({"If-Match": etag}, {"If-Match": "*"}, {"If-None-Match": etag}):
        assert replace(other, path, **headers).status_code == 404
        assert other.get(path, headers=headers).status_code == 404
        assert other.put(f"{path}/tags/a", json={"version": 1}, headers=headers).status_code == 404


# --- reads ----------------------------------------------------------------------------------------


def test_a_current_representation_is_304(caller, path, publish):
    publish("<a/>")
    caller.put(f"{path}/tags/stable", json={"version": 1})
    for each in (
        *("/v2/templates", path, f"{path}@latest", f"{path}/versions", f"{path}/versions/1"),
        *(f"{path}/tags", f"{path}/tags/stable", f"{path}/tags/stable/history"),
    ):
        etag = etag_of(caller, each)
        for sent in (etag, f"W/{etag}", f'"x", {etag}', "*"):
            answer = caller.get(each, headers={"If-None-Match": sent})
            assert (answer.status_code, answer.data) == (304, b""), each
            assert answer.headers["ETag"] == etag
            assert "Content-Type" not in answer.headers
        assert caller.get(each, headers={"If-None-Match": '"x"'}).status_code == 200
        assert caller.get(each, headers={"If-Match": '"x"'}).status_code == 412


def test_a_read_after_a_change_is_sent(caller, path):
    etag = etag_of(caller, path)
    replace(caller, path)
    assert caller.get(path, headers={"If-None-Match": etag}).json["content"] == "<e/>"


# --- names and lists ------------------------------------------------------------------------------


def test_a_template_is_renamed(caller, path):
    before = caller.get(path).json
    renamed = caller.patch(path, json={"name": "Rechnung é"})
    assert renamed.status_code == 200
    before.pop("content")
    assert renamed.json == before | {"name": "Rechnung é"}
    assert caller.get(path).json["name"] == "Rechnung é"


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({}, "name"), ({"name": 3}, "$.name"), ({"name": ""}, "$.name"),
        ({"name": "a" * 201}, "$.name"), ({"name": "a\nb"}, "$.name"),
        ({"name": "a\ud800"}, "unpaired surrogate"), ({"title": "a"}, "Unknown field"),
    ],
)  # fmt: skip
def test_an_invalid_name_is_rejected(caller, path, fields, told):
    answer = caller.patch(path, json=fields)
    assert answer.status_code == 400
    assert told in answer.json["message"]


def test_templates_are_found_by_their_name(caller):
    ids = {
        name: caller.post("/v2/templates", query_string={"name": name}).json["id"]
        for name in ("Letter", "Letter 2", "letter")
    }
    for name, template_id in ids.items():
        found = caller.get("/v2/templates", query_string={"name": name}).json["templates"]
        assert [each["id"] for each in found] == [template_id]
    assert caller.get("/v2/templates?name=Lett").json["templates"] == []
    assert caller.get("/v2/templates?name=").status_code == 400


def test_public_templates_are_listed_on_request(caller, path, template, database):
    with database.session() as session:
        publish_public_templates(session, at=now())
    assert len(caller.get("/v2/templates").json["templates"]) == 1
    listed = caller.get("/v2/templates?include=public").json["templates"]
    ids = [each["id"] for each in listed]
    assert ids == sorted(ids)
    assert {template, "service-letter"} <= set(ids)
    assert all(each.startswith("service-") for each in set(ids) - {template})
    first = caller.get("/v2/templates?include=public&limit=1").json
    rest = caller.get(f"/v2/templates?include=public&start_after={first['next_cursor']}").json
    assert [first["templates"][0], *rest["templates"]] == listed
    assert caller.get("/v2/templates?include=all").status_code == 400


def test_public_templates_are_no_way_to_those_of_others(caller, path, app, database):
    stranger = client_of(app, database, email="di@example.org")
    listed = stranger.get("/v2/templates?include=public").json["templates"]
    assert all(each["id"].startswith("service-") for each in listed)
    assert stranger.get("/v2/templates?include=public&name=T").json["templates"] == []


@pytest.mark.parametrize(
    ("method", "where"),
    [("PUT", "/v2/images/logo"), ("DELETE", "/v2/images/logo"), ("DELETE", "/v2/slugs/abc")],
)
def test_a_condition_that_cannot_be_checked_is_412(caller, method, where):
    for headers in ({"If-Match": '"a"'}, {"If-None-Match": "*"}):
        answer = caller.open(where, method=method, headers=headers)
        assert answer.status_code == 412
        assert "has no ETag" in answer.json["message"]


@pytest.mark.parametrize("where", ["/v2/images/logo", "/v2/templates/abc"])
def test_a_part_of_a_body_is_not_stored_as_the_whole(caller, where):
    headers = {"Content-Range": "bytes 0-3/10"}
    answer = caller.put(where, data=b"<d/>", content_type="text/xml", headers=headers)
    assert answer.status_code == 400
    assert answer.json["message"].startswith("Content-Range is not accepted")


def test_what_is_created_has_its_location(caller, template, publish):
    assert caller.get(caller.post("/v2/templates?name=T").headers["Location"]).status_code == 200
    publish("<document/>")
    made = [
        caller.post(f"/v2/templates/{template}/versions", json={}),
        caller.post("/v2/slugs", json={"slug": "abc", "template": template}),
        caller.post("/v2/webhooks", json={"url": "https://93.184.216.34/"}),
        caller.post("/v2/keys", json={}),
    ]
    paths = [answer.headers["Location"] for answer in made]
    assert [path.rpartition("/")[0] for path in paths] == [
        f"/v2/templates/{template}/versions", "/v2/slugs", "/v2/webhooks", "/v2/keys"
    ]  # fmt: skip
    assert {caller.get(path).status_code for path in paths[:3]} == {200}
