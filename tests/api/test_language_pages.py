"""The pages of the language reference: an address for each name, links that lead somewhere, a search."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from api.language.routes import Reference
from deploy.tools.language.elements import SHARED, is_shared, write_example
from workers.engine.syntax.vocabulary import ELEMENTS

REFERENCE = Reference((Path(__file__).parents[2] / "workers/engine/LANGUAGE.md").read_text())


def test_each_link_of_the_reference_leads_to_an_anchor() -> None:
    links = {
        link
        for page in REFERENCE.pages.values()
        for part in page.sections
        for link in re.findall(r"\]\(#([^)]+)\)(?!`)", part.text)
    }
    assert [link for link in sorted(links) if REFERENCE.find_address(link) is None] == []


def test_each_element_and_attribute_has_an_address() -> None:
    names = [*ELEMENTS, *(f"property.{name}" for name in SHARED)]
    for element, spec in ELEMENTS.items():
        own = (name for name, attribute in spec.attributes.items() if not is_shared(attribute))
        names += [f"{element}.{name}" for name in own]
    assert [name for name in names if REFERENCE.find_address(name) is None] == []


def test_each_page_is_written_with_its_anchors(stranger: FlaskClient) -> None:
    for name, page in REFERENCE.pages.items():
        response = stranger.get(f"/docs/language/{name}")
        assert response.status_code == 200
        anchors = re.findall(r'id="([^"]+)"', response.text)
        assert {part.anchor for part in page.sections} <= set(anchors)
        assert len(anchors) == len(set(anchors)), name
        assert not re.search(r"(?m)^(#{1,3} |```|\| )", response.text), name


def test_pictures_and_files_of_a_page_are_served(stranger: FlaskClient) -> None:
    page = stranger.get("/docs/language/td").text
    files = re.findall(r'(?:src|href)="(/docs/language/files/[^"]+)"', page)
    assert "/docs/language/files/td.png" in files
    assert {stranger.get(file).status_code for file in files} == {200}


def test_an_attribute_leads_to_its_place(stranger: FlaskClient) -> None:
    response = stranger.get("/docs/language/td.rowspan")
    assert (response.status_code, response.location) == (302, "/docs/language/td#td.rowspan")


def test_the_search_knows_attributes_and_errors(stranger: FlaskClient) -> None:
    entries = json.loads(stranger.get("/docs/language/files/search.json").data)
    assert ["rowspan · td", "/docs/language/td#td.rowspan"] in [entry[:2] for entry in entries]
    assert any(
        title.startswith("rowspan ·") and "spans 1 row more" in text for title, _, text in entries
    )


@pytest.mark.parametrize("path", ["nothing", "files/nothing.js", "files/..%2fpages.py"])
def test_what_does_not_exist_is_404(stranger: FlaskClient, path: str) -> None:
    assert stranger.get(f"/docs/language/{path}").status_code == 404


def test_each_example_of_an_attribute_is_accepted() -> None:
    for name in {name for spec in ELEMENTS.values() for name in spec.attributes}:
        tag, *attributes = re.findall(r'<([a-z0-9-]+)|([a-z-]+)="([^"]*)"', write_example(name))
        assert name in {found for _, found, _ in attributes}
        for _, found, value in attributes:
            spec = ELEMENTS[tag[0]].attributes[found]
            if not spec.is_expression and "{{" not in value:
                spec.value_type.parse(value)
