"""The documentation at /docs/: its pages, and the files that they show."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from deploy.tools.language.elements import write_example
from workers.engine.syntax.vocabulary import ELEMENTS

ROOT = Path(__file__).parents[2]


def test_each_page_of_the_list_is_served_with_its_text(stranger: FlaskClient) -> None:
    pages = stranger.get("/docs/pages.json").json["pages"]
    names = [page["name"] for page in pages]
    assert len(names) == len(set(names))
    assert {"first-invoice", "settings", "language", "api", "helm"} <= set(names)
    for page in pages:
        assert page["text"] == (ROOT / page["path"]).read_text()
        assert stranger.get(f"/docs/{page['name']}").status_code == 200


def test_each_picture_of_a_page_is_served(stranger: FlaskClient) -> None:
    for page in stranger.get("/docs/pages.json").json["pages"]:
        for picture in re.findall(r'(?:src="|\]\()([^")#]+\.png)', page["text"]):
            path = (Path("/", page["path"]).parent / picture).as_posix()
            name = (
                path.removeprefix("/deploy/docs/") if "/deploy/docs/" in path else Path(path).name
            )
            response = stranger.get(f"/docs/files/{name.replace('/', '-')}")
            assert response.data == (ROOT / path[1:]).read_bytes(), picture
    assert stranger.get("/docs/files/pressroom.rng").content_type == "application/xml"


@pytest.mark.parametrize("path", ["nothing", "files/nothing.png", "files/..%2fapi.md", "readme"])
def test_what_does_not_exist_is_404(stranger: FlaskClient, path: str) -> None:
    assert stranger.get(f"/docs/{path}").status_code == 404


def test_the_documentation_stands_beside_the_description(stranger: FlaskClient) -> None:
    assert "Pressroom documentation" in stranger.get("/docs/").text
    assert "Pressroom API" in stranger.get("/docs").text


def test_each_example_of_an_attribute_is_accepted() -> None:
    for name in {name for spec in ELEMENTS.values() for name in spec.attributes}:
        tag, *attributes = re.findall(r'<([a-z0-9-]+)|([a-z-]+)="([^"]*)"', write_example(name))
        assert name in {found for _, found, _ in attributes}
        for _, found, value in attributes:
            spec = ELEMENTS[tag[0]].attributes[found]
            if not spec.is_expression and "{{" not in value:
                spec.value_type.parse(value)
