"""Slugs, promise by promise."""

from __future__ import annotations

import pytest


def assign(client, slug, template):
    return client.post("/v2/slugs", json={"slug": slug, "template": template})


def make(client) -> str:
    made = client.post("/v2/templates?name=U", data=b"<u/>", content_type="text/xml")
    template_id: str = made.json["id"]
    return template_id


def test_template_id_is_accepted_as_the_former_name(caller, template):
    answer = caller.post("/v2/slugs", json={"slug": "letter", "template_id": template})
    assert answer.status_code == 201
    both = {"slug": "letter", "template": template, "template_id": template}
    assert caller.post("/v2/slugs", json=both).status_code == 200
    both["template"] = make(caller)
    assert caller.post("/v2/slugs", json=both).status_code == 400


def test_another_slug_of_the_same_template_releases_the_earlier(caller, template):
    assign(caller, "old", template)
    assert assign(caller, "new", template).status_code == 201
    assert caller.get("/v2/slugs").json == {"slugs": [{"slug": "new", "template_id": template}]}
    assert caller.get("/v2/slugs/old").json["available"] is True


def test_a_slug_held_by_another_template_is_409(caller, template):
    assign(caller, "letter", template)
    answer = assign(caller, "letter", make(caller))
    assert answer.status_code == 409
    assert answer.json["data"]["code"] == "ERR_SLUG_TAKEN"
    assert "slug already in use" in answer.json["message"]


def test_a_slug_is_unique_within_its_workspace_alone(caller, other, template):
    assert assign(caller, "letter", template).status_code == 201
    assert other.get("/v2/slugs/letter").json == {"slug": "letter", "available": True}
    theirs = make(other)
    assert assign(other, "letter", theirs).status_code == 201
    assert other.get("/v2/templates/letter").json["id"] == theirs
    assert caller.get("/v2/templates/letter").json["id"] == template


@pytest.mark.parametrize(
    ("slug", "code"),
    [("service-letter", "ERR_SLUG_INVALID"), ("service-", "ERR_SLUG_INVALID"),
     ("abcdefghij0123456789", "ERR_SLUG_INVALID"), ("ab", None), ("a" * 65, None),
     ("Letter", None), ("my--letter", None), ("-letter", None), ("letter-", None),
     ("my_letter", None), ("my.letter", None), ("léttre", None)],
)  # fmt: skip
def test_a_slug_that_breaks_a_rule_is_a_400(caller, template, slug, code):
    for answer in (assign(caller, slug, template), caller.get(f"/v2/slugs/{slug}")):
        assert answer.status_code == 400
        assert answer.json.get("data", {}).get("code") == code
        assert f"Invalid slug '{slug}': " in answer.json["message"]


def test_a_slug_of_every_other_length_near_an_ids_is_good(caller, template):
    for slug in ("a" * 19, "a" * 21, "abcdefghij-123456789", "abc", "0" * 64, "123"):
        assert assign(caller, slug, template).status_code == 201


@pytest.mark.parametrize(
    "body", ["{}", '{"slug":"abc"}', '{"template":"abc"}', '{"slug":1,"template":"a"}',
             '{"slug":"abc","template":1}', '{"slug":"abc","template":"a@1"}',
             '{"slug":"abc","template":"__a__"}', '{"slug":"abc","template":"a","x":1}', "[]", ""],
)  # fmt: skip
def test_an_invalid_assignment_body_is_a_400(caller, body):
    answer = caller.post("/v2/slugs", data=body, content_type="application/json")
    assert answer.status_code == 400


def test_the_template_is_named_by_its_id_not_by_a_slug(caller, template):
    assign(caller, "letter", template)
    answer = assign(caller, "another", "letter")
    assert answer.status_code == 400
    assert "letter" in answer.json["message"]


@pytest.mark.parametrize("missing", ["abcdefghij0123456789", "service-letter", "nothing"])
def test_a_template_that_is_not_the_callers_is_a_404(caller, missing):
    answer = assign(caller, "letter", missing)
    assert answer.status_code == 404
    assert answer.json["data"]["code"] == "ERR_TEMPLATE_NOT_FOUND"


def test_slugs_are_listed_by_name(caller):
    held = {slug: make(caller) for slug in ("bbb", "aaa", "a-a")}
    for slug, template in held.items():
        assign(caller, slug, template)
    assert caller.get("/v2/slugs").json["slugs"] == [
        {"slug": slug, "template_id": held[slug]} for slug in ("a-a", "aaa", "bbb")
    ]


def test_availability_names_the_holder(caller, template):
    assert caller.get("/v2/slugs/letter").json == {"slug": "letter", "available": True}
    assign(caller, "letter", template)
    assert caller.get("/v2/slugs/letter").json == {
        "slug": "letter",
        "available": False,
        "template_id": template,
    }


def test_a_slug_is_accepted_wherever_a_template_is_rendered_or_read(
    caller, worker, template, publish
):
    publish("<a/>")
    caller.put(f"/v2/templates/{template}/tags/stable", json={"version": 1})
    assign(caller, "letter", template)
    for selector in ("", "@live", "@latest", "@1", "@stable"):
        read = caller.get(f"/v2/templates/letter{selector}").json
        assert (read["id"], read["slug"], read["content"]) == (template, "letter", "<a/>")
        for name in ("template", "template_id"):
            rendered = caller.post(f"/v2/pdf?{name}=letter{selector}", json={})
            assert rendered.status_code == 200
    assert {job.template.template_id for job in worker.jobs} == {template}


def test_where_the_id_form_is_required_a_slug_is_a_404(caller, template, publish):
    publish("<a/>")
    assign(caller, "letter", template)
    for path in ("versions", "versions/1", "tags"):
        answer = caller.get(f"/v2/templates/letter/{path}")
        assert answer.status_code == 404
        assert "slugs are not accepted here" in answer.json["message"]
        assert answer.json["data"]["code"] == "ERR_TEMPLATE_NOT_FOUND"


def test_releasing_frees_the_slug_and_leaves_the_template(caller, template, publish):
    publish("<a/>")
    assign(caller, "letter", template)
    answer = caller.delete("/v2/slugs/letter")
    assert (answer.status_code, answer.data) == (204, b"")
    assert caller.get("/v2/templates/letter").status_code == 404
    assert caller.post("/v2/pdf?template=letter@1", json={}).status_code == 404
    assert caller.get(f"/v2/templates/{template}@1").status_code == 200
    assert assign(caller, "letter", make(caller)).status_code == 201


def test_releasing_an_unassigned_slug_is_a_404(caller):
    answer = caller.delete("/v2/slugs/letter")
    assert answer.status_code == 404
    assert answer.json["data"]["code"] == "ERR_SLUG_NOT_ASSIGNED"
    assert answer.json["message"] == "Slug 'letter' is not assigned"


def test_a_slug_stays_assigned_when_its_template_is_gone(caller, worker, template, publish):
    publish("<a/>")
    assign(caller, "letter", template)
    caller.delete(f"/v2/templates/{template}")
    assert caller.get("/v2/slugs/letter").json["template_id"] == template
    assert caller.get("/v2/templates/letter").status_code == 404
    assert caller.post("/v2/pdf?template=letter@1", json={}).status_code == 200
    assert assign(caller, "letter", make(caller)).status_code == 409
    assert assign(caller, "letter", template).status_code == 404
    assert caller.delete("/v2/slugs/letter").status_code == 204
    assert caller.post("/v2/pdf?template=letter@1", json={}).status_code == 404


def test_an_account_without_a_workspace_has_no_slugs(homeless):
    template = make(homeless)
    for answer in (
        assign(homeless, "letter", template),
        homeless.get("/v2/slugs"),
        homeless.get("/v2/slugs/letter"),
        homeless.delete("/v2/slugs/letter"),
    ):
        assert answer.status_code == 409
        assert answer.json["data"]["code"] == "ERR_WORKSPACE_UNRESOLVED"
    assert homeless.get("/v2/templates/letter").status_code == 404
    assert homeless.get(f"/v2/templates/{template}").status_code == 200
