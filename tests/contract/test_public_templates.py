"""Public templates: those that ship with the product."""

from __future__ import annotations

from hashlib import sha256
from itertools import product

import pytest

from shared.clock import now
from shared.templates import public
from shared.templates.public import FOLDER, publish_public_templates
from workers.engine.local_files import LinkedFiles
from workers.engine.pipeline import prepare_template, validate
from workers.engine.ports import RenderOptions

SHIPPED = sorted(file.stem for file in FOLDER.glob("*.xml"))


@pytest.mark.parametrize("template", SHIPPED)
def test_a_shipped_template_is_valid_as_it_stands(template):
    text = (FOLDER / f"{template}.xml").read_bytes()
    options = RenderOptions(now(), with_sample=True)
    found = validate(prepare_template(text, LinkedFiles(FOLDER)), None, options=options)
    # A template that others extend has words that only they use.
    allowed = {"unused-message"} if template == "service-brand-parts" else set()
    assert {each.code for each in found} <= allowed
    assert not text.startswith(b"<?xml")


def test_every_account_reads_and_renders_each_by_every_selector(other, homeless, worker):
    for template in SHIPPED:
        text = (FOLDER / f"{template}.xml").read_text()
        for client, selector in product((other, homeless), ("", "@live", "@latest", "@1")):
            assert client.get(f"/v2/templates/{template}{selector}").json["content"] == text
            answer = client.post(f"/v2/pdf?template={template}{selector}", json={})
            assert answer.status_code == 200
            assert worker.jobs[-1].template.sha256 == sha256(text.encode()).hexdigest()


def test_it_has_a_published_version(other):
    listed = other.get("/v2/templates/service-letter/versions").json
    assert [version["version"] for version in listed["versions"]] == [1]
    read = other.get("/v2/templates/service-letter/versions/1").json
    assert read["content"].startswith("<!-- Service template version 1\n")
    assert other.get("/v2/templates/service-letter/tags").json == {"tags": [], "has_more": False}


def test_a_write_to_it_is_a_404(caller):
    path = "/v2/templates/service-letter"
    for answer in (
        caller.put(path, data="<d/>", content_type="text/xml"),
        caller.delete(path),
        caller.post(f"{path}/versions"),
        caller.put(f"{path}/tags/stable", json={"version": 1}),
        caller.delete(f"{path}/tags/stable"),
        caller.post("/v2/slugs", json={"slug": "letter", "template": "service-letter"}),
    ):
        assert answer.status_code == 404
        assert answer.json["data"]["code"] == "ERR_TEMPLATE_NOT_FOUND"
        assert "public templates are read-only" in answer.json["message"]


def test_it_is_not_in_the_list_of_any_account(caller):
    assert caller.get("/v2/templates").json == {"templates": []}


def test_one_that_is_not_shipped_is_a_404(caller):
    answer = caller.get("/v2/templates/service-nothing")
    assert answer.status_code == 404
    assert answer.json["data"]["code"] == "ERR_TEMPLATE_NOT_FOUND"


def test_a_release_with_another_text_publishes_it_and_keeps_the_old(
    caller, database, tmp_path, monkeypatch
):
    old = caller.get("/v2/templates/service-letter@1").json["content"]
    (tmp_path / "service-letter.xml").write_text("<document/>")
    monkeypatch.setattr(public, "FOLDER", tmp_path)
    for _ in range(2):
        with database.session() as session:
            publish_public_templates(session, at=now())
    assert caller.get("/v2/templates/service-letter").json["content"] == "<document/>"
    assert caller.get("/v2/templates/service-letter").json["versions"] == 2
    assert caller.get("/v2/templates/service-letter@1").json["content"] == old
