"""Templates that extend and import others (deploy/decisions/0386), with the real engine behind the queue."""

from __future__ import annotations

from hashlib import sha256

import pytest

from tests.contract.test_preview import ask as ask_preview
from tests.contract.test_preview import engine
from tests.contract.test_validate import ask, judge, make

__all__ = ["engine", "judge"]  # fixtures

XML = {"Content-Type": "text/xml"}
PARENT = """<document version="1"><style name="note" color="maroon"/><part name="sign"><p>Signed</p></part>
<flow final="true"><insert flow="text"/></flow><flow name="text"><p>Parent</p></flow></document>"""


def child_of(reference, flow="<flow name='text'><p class='note'>Child</p></flow>"):
    return f'<document version="1" extends="{reference}">{flow}</document>'


def publish(caller, template):
    return caller.post(f"/v2/templates/{template}/versions", json={}).json["version"]


def validate(caller, template):
    return ask(caller, "{}", f"?template={template}", media="application/json").json


def replace(caller, template, content):
    answer = caller.put(f"/v2/templates/{template}", data=content, headers=XML)
    assert answer.status_code == 200, answer.json


@pytest.fixture
def parent(caller):
    """Store a template with one published version."""
    template = make(caller, PARENT)
    publish(caller, template)
    return template


@pytest.mark.parametrize("selector", ["1", "latest", "live", "approved"])
def test_a_template_extends_a_version_the_newest_a_tag_or_the_live_content(
    caller, judge, parent, selector
):
    caller.put(f"/v2/templates/{parent}/tags/approved", json={"version": 1})
    child = make(caller, child_of(f"{parent}@{selector}"))
    found = validate(caller, child)
    assert (found["valid"], found["errors"]) == (True, [])
    moving = [each["message"] for each in found["warnings"]]
    assert [
        message.startswith(f'"{parent}@{selector}" names other content') for message in moving
    ] == ([] if selector == "1" else [True])


@pytest.mark.parametrize("selector", ["latest", "live", "approved"])
def test_a_version_keeps_what_its_links_named_when_it_was_published(
    caller, worker, parent, selector
):
    caller.put(f"/v2/templates/{parent}/tags/approved", json={"version": 1})
    reference = f"{parent}@{selector}"
    child = make(caller, child_of(reference))
    publish(caller, child)
    before = links_of(caller, worker, f"{child}@1")
    replace(caller, parent, PARENT.replace("maroon", "navy"))
    publish(caller, parent)
    caller.put(f"/v2/templates/{parent}/tags/approved", json={"version": 2})
    assert links_of(caller, worker, f"{child}@1") == before == {reference: digest(PARENT)}
    assert links_of(caller, worker, child) != before
    assert caller.get(f"/v2/templates/{child}/versions/1").json["links"] == before


def test_a_version_has_no_warning_of_links_that_move(caller, judge, parent):
    child = make(caller, child_of(f"{parent}@live"))
    publish(caller, child)
    assert validate(caller, f"{child}@1")["warnings"] == []


def test_a_template_whose_links_moved_is_published_again(caller, worker, parent):
    child = make(caller, child_of(f"{parent}@live"))
    assert [publish(caller, child), publish(caller, child)] == [1, 1]
    replace(caller, parent, PARENT.replace("maroon", "navy"))
    assert [publish(caller, child), publish(caller, child)] == [2, 2]
    assert links_of(caller, worker, f"{child}@1") != links_of(caller, worker, f"{child}@2")


def test_what_a_version_is_built_on_keeps_its_own_links(caller, worker, parent):
    middle = make(caller, child_of(f"{parent}@live"))
    publish(caller, middle)
    replace(caller, parent, PARENT.replace("maroon", "navy"))
    child = make(caller, child_of(f"{middle}@1", flow=""))
    assert links_of(caller, worker, child)[f"{parent}@live"] == digest(PARENT)


def test_a_link_that_named_nothing_names_nothing_in_its_version(caller, worker, parent):
    child = make(caller, child_of(f"{parent}@2"))
    publish(caller, child)
    replace(caller, parent, PARENT.replace("maroon", "navy"))
    publish(caller, parent)
    assert links_of(caller, worker, f"{child}@1") == {}
    assert links_of(caller, worker, child) != {}


def links_of(caller, worker, reference):
    caller.post(f"/v2/pdf?template={reference}", json={})
    return dict(worker.jobs[-1].template.links)


def digest(text):
    return sha256(text.encode()).hexdigest()


def test_a_version_shows_the_templates_that_it_was_built_on(caller, parent):
    text = f'<document extends="{parent}@1"><import template="parts@live" parts="sign"/></document>'
    child = make(caller, text)
    publish(caller, child)
    read = caller.get(f"/v2/templates/{child}/versions/1").json
    assert read["built_on"] == sorted([f"{parent}@1", "parts@live"])


def test_a_template_is_extended_by_its_slug(caller, judge, parent):
    caller.post("/v2/slugs", json={"slug": "letterhead", "template": parent})
    assert validate(caller, make(caller, child_of("letterhead@1")))["valid"]


def test_a_change_of_the_live_content_is_seen_at_once_and_a_version_stays(caller, judge, parent):
    live, pinned = (make(caller, child_of(f"{parent}@{at}")) for at in ("live", "1"))
    assert validate(caller, live)["valid"]
    replace(caller, parent, PARENT.replace("note", "remark"))
    assert "[unknown-style]" in str(validate(caller, live)["errors"])
    assert validate(caller, pinned)["valid"]


def test_a_mistake_in_the_parent_is_reported_at_the_link(caller, judge):
    parent = make(caller, "<document>\n<flow>\n<p colour='red'>a</p></flow></document>")
    child = make(caller, f'<document extends="{parent}@live"/>')
    [error] = validate(caller, child)["errors"]
    assert f'(in line 3 of the template "{parent}@live") [unknown-attribute]' in error["message"]
    assert error["source"]["tagName"] == "document"
    assert (error["source"]["origin"], error["source"]["lineStart"]) == ("template", 1)


@pytest.mark.parametrize("at", ["2", "none", "latest"])
def test_a_link_to_nothing_is_a_finding(caller, judge, at):
    parent = make(caller, PARENT)  # without a version
    [error] = validate(caller, make(caller, child_of(f"{parent}@{at}", flow="")))["errors"]
    assert error["message"].endswith("[unknown-template]")


def test_templates_of_another_account_cannot_be_extended(judge, parent, other):
    [error] = validate(other, make(other, child_of(f"{parent}@1", flow="")))["errors"]
    assert error["message"].endswith("[unknown-template]")


def test_public_templates_can_be_extended(caller, judge):
    child = make(
        caller,
        '<document extends="service-invoice@latest"><color name="accent" value="red"/></document>',
    )
    found = [each["message"] for each in validate(caller, child)["errors"]]
    assert found
    assert all(message.endswith("[required]") for message in found)
    assert any("/buyer/name" in message for message in found)


def test_templates_that_lead_back_to_each_other_are_a_finding(caller, judge):
    first = make(caller, "<document><flow/></document>")
    second = make(caller, f'<document extends="{first}@live"/>')
    replace(caller, first, f'<document extends="{second}@live"/>')
    [error] = validate(caller, first)["errors"]
    assert "lead back to each other" in error["message"]


def test_a_document_of_a_request_extends_nothing(caller, judge, parent):
    [error] = ask(caller, child_of(f"{parent}@1", flow="<flow/>")).json["errors"]
    assert error["message"].endswith("[misplaced-link]")


def test_a_preview_of_an_unsaved_template_has_its_parent(caller, engine, parent):
    drawn = ask_preview(caller, template=child_of(f"{parent}@1"))
    assert drawn["findings"]["errors"] == []
    assert drawn["pages"] == 1


def test_a_template_in_use_is_not_deleted(caller, parent):
    child = make(caller, child_of(f"{parent}@1"))
    answer = caller.delete(f"/v2/templates/{parent}")
    assert (answer.status_code, answer.json["data"]["code"]) == (409, "ERR_TEMPLATE_IN_USE")
    assert f"extended or imported by T ({child})" in answer.json["message"]
    assert answer.json["data"]["templates"] == [child]
    path = f"/v2/templates/{parent}/dependents"
    assert caller.get(path).json == {"templates": [{"id": child, "name": "T"}], "has_more": False}
    assert caller.get("/v2/templates/none-such/dependents").status_code == 404
    replace(caller, child, "<document><flow/></document>")
    assert caller.get(path).json["templates"] == []
    assert caller.delete(f"/v2/templates/{parent}").status_code == 204


def test_a_template_that_is_used_by_its_slug_is_not_deleted(caller, parent):
    caller.post("/v2/slugs", json={"slug": "letter-head", "template": parent})
    child = make(caller, '<document><import template="letter-head@live"/><flow/></document>')
    # Another text that has the name, but links to nothing.
    make(caller, "<document><flow><p>letter-head@live</p></flow></document>")
    answer = caller.delete(f"/v2/templates/{parent}")
    assert answer.status_code == 409
    assert answer.json["data"]["templates"] == [child]
    assert caller.delete(f"/v2/templates/{child}").status_code == 204
    assert caller.delete(f"/v2/templates/{parent}").status_code == 204
