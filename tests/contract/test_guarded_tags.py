"""A guarded tag moves only to what another key than its publisher's approved."""

from __future__ import annotations

import pytest

from shared.auth.scopes import Scope


@pytest.fixture
def tags(template, publish) -> str:
    """Publish two versions by the caller's key and return the path of the tags."""
    for n in range(2):
        publish(f"<d n='{n}'/>")
    return f"/v2/templates/{template}/tags"


@pytest.fixture
def key_of(caller, app):
    def key_of(*scopes: Scope):
        made = caller.post("/v2/keys", json={"scopes": [each.value for each in scopes]})
        client = app.test_client()
        client.environ_base["HTTP_X_API_KEY"] = made.json["key"]
        client.key_id = made.json["id"]
        return client

    return key_of


def test_a_guarded_tag_moves_once_another_key_approved(caller, key_of, tags, template):
    second = key_of(Scope.TEMPLATES)
    assert caller.put(f"{tags}/live-1", json={"version": 1}).status_code == 200
    assert "guarded" not in caller.get(f"{tags}/live-1").json
    # To guard a tag where it is moves nothing.
    assert caller.put(f"{tags}/live-1", json={"version": 1, "guarded": True}).status_code == 200
    guarded = caller.get(f"{tags}/live-1")
    assert guarded.json["guarded"]
    for client in (caller, second):
        refused = client.put(f"{tags}/live-1", json={"version": 2})
        assert (refused.status_code, "approve" in refused.json["message"]) == (409, True)
        assert client.delete(f"{tags}/live-1").status_code == 409
    path = f"/v2/templates/{template}/versions/2"
    before = caller.get(path)
    assert "approvals" not in before.json
    assert caller.put(f"{path}/approval").status_code == 409  # it published the version
    assert caller.get(f"{tags}/live-1").headers["ETag"] == guarded.headers["ETag"]
    approved = second.put(f"{path}/approval")
    assert approved.status_code == 200
    [entry] = approved.json["approvals"]
    assert (entry["key_id"], entry.keys()) == (
        second.key_id,
        {"key_id", "approved_at", "approved_by"},
    )
    assert second.put(f"{path}/approval").json == approved.json
    after = caller.get(path, headers={"If-None-Match": before.headers["ETag"]})
    assert after.json["approvals"] == [entry]
    assert caller.put(f"{tags}/live-1", json={"version": 2}).status_code == 200
    events = caller.get(f"{tags}/live-1/history").json["events"]
    assert [each["action"] for each in events] == ["moved", "created"]
    # Back to one that nobody approved.
    assert caller.put(f"{tags}/live-1", json={"version": 1}).status_code == 409
    log = caller.get("/v2/audit").json["entries"]
    told = [(each["action"], each["actor"]) for each in log if each["action"] != "tag.set"]
    assert told[0] == ("version.approved", second.key_id)
    assert sum(action == "version.approved" for action, _ in told) == 1
    assert {"tag": "live-1", "version": 1, "guarded": True} in [each["details"] for each in log]


def test_a_new_tag_that_is_guarded_needs_an_approval_too(caller, key_of, tags, template):
    asked = {"version": 1, "guarded": True}
    assert caller.put(f"{tags}/released", json=asked).status_code == 409
    assert caller.get(f"{tags}/released").status_code == 404
    second = key_of(Scope.TEMPLATES)
    second.put(f"/v2/templates/{template}/versions/1/approval")
    assert caller.put(f"{tags}/released", json=asked).status_code == 200


def test_only_a_key_of_the_account_takes_a_guard_away(caller, key_of, tags):
    caller.put(f"{tags}/released", json={"version": 1})
    publisher = key_of(Scope.TEMPLATES)
    # What is not guarded is not freed.
    free = {"version": 1, "guarded": False}
    assert publisher.put(f"{tags}/released", json=free).status_code == 200
    publisher.put(f"{tags}/released", json={"version": 1, "guarded": True})
    for body in (free, {"version": 2, "guarded": False}):
        assert publisher.put(f"{tags}/released", json=body).status_code == 403
    assert publisher.put(f"{tags}/released", json={"version": 2}).status_code == 409
    assert caller.put(f"{tags}/released", json={"version": 2, "guarded": False}).status_code == 200
    assert publisher.delete(f"{tags}/released").status_code == 200


def test_the_slug_of_a_guarded_tag_does_not_move_to_another_template(caller, tags, template):
    slug = {"slug": "letter", "template": template}
    assert caller.post("/v2/slugs", json=slug).status_code == 201
    for guard in ({}, {"guarded": True}):
        assert caller.put(f"{tags}/released", json={"version": 1, **guard}).status_code == 200
    assert caller.delete("/v2/slugs/letter").status_code == 409
    refused = caller.post("/v2/slugs", json={**slug, "slug": "other"})
    assert (refused.status_code, "'released' is guarded" in refused.json["message"]) == (409, True)
    assert caller.post("/v2/slugs", json=slug).status_code == 200
    caller.put(f"{tags}/released", json={"version": 1, "guarded": False})
    assert caller.delete("/v2/slugs/letter").status_code == 204


@pytest.mark.parametrize("guarded", [None, 1, "true", []])
def test_a_guard_is_true_or_false(caller, tags, guarded):
    asked = {"version": 1, "guarded": guarded}
    assert caller.put(f"{tags}/released", json=asked).status_code == 400


def test_approval_needs_the_scope_of_templates_and_a_version(caller, key_of, tags, template):
    path = f"/v2/templates/{template}/versions"
    for scope in (Scope.READ, Scope.RENDER, Scope.ACCOUNT):
        assert key_of(scope).put(f"{path}/1/approval").status_code == 403
    second = key_of(Scope.TEMPLATES)
    assert second.put(f"{path}/3/approval").status_code == 404
    assert second.put(f"{path}/x/approval").status_code == 400
