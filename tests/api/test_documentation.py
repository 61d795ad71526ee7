"""The documentation at /docs/: its pages, and the files that they show."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from flask.testing import FlaskClient

import api.studio
from deploy.tools.language.elements import write_example
from workers.engine.syntax.vocabulary import ELEMENTS

ROOT = Path(__file__).parents[2]
MESSAGES = Path(api.studio.__file__).parent / "source/messages"
GERMAN = {"Accept-Language": "de-AT, en;q=0.5"}


def test_each_page_of_the_list_is_served_with_its_text(stranger: FlaskClient) -> None:
    pages = stranger.get("/docs/pages.json").json["pages"]
    names = [page["name"] for page in pages]
    assert len(names) == len(set(names))
    assert {"first-invoice", "settings", "language", "api", "helm"} <= set(names)
    for page in pages:
        assert page["text"] == (ROOT / page["path"]).read_text()
        assert stranger.get(f"/docs/{page['name']}").status_code == 200


def test_the_description_is_german_for_who_asks_for_it(stranger: FlaskClient) -> None:
    english = stranger.get("/docs/openapi.json")
    german = stranger.get("/docs/openapi.json", headers=GERMAN)
    assert english.json["paths"]["/v2/pdf"]["post"]["summary"] == "Render a PDF"
    assert german.json["paths"]["/v2/pdf"]["post"]["summary"] == "Ein PDF rendern"
    assert "Content-Language" not in english.headers
    assert german.headers["Content-Language"] == "de"
    assert "Accept-Language" in english.headers["Vary"]
    assert list(german.json["paths"]) == list(english.json["paths"])
    assert list(german.json["components"]["schemas"]) == list(english.json["components"]["schemas"])


def test_pages_that_there_are_in_german_are_served_in_german(stranger: FlaskClient) -> None:
    english = stranger.get("/docs/pages.json")
    german = stranger.get("/docs/pages.json", headers=GERMAN)
    assert "Accept-Language" in german.headers["Vary"]
    assert {page["language"] for page in english.json["pages"]} == {"en"}
    names = "".join((MESSAGES / f"{name}.ts").read_text() for name in ("de", "names"))
    written = sorted((ROOT / "deploy/docs").glob("*.de.md"))
    for page, one in zip(german.json["pages"], english.json["pages"], strict=True):
        own = ROOT / page["path"].replace(".md", ".de.md")
        if own not in written:
            assert page == one
            continue
        written.remove(own)
        assert page["language"] == "de"
        assert page["text"] == own.read_text()
        assert page["text"].startswith(f"# {page['title']}\n")
        # The same code, links and numbers, and the names of buttons as the German Studio has them.
        for same in (r"```.*?```", r"`[^`\n]+`", r"\]\([^)]+\)", r"\d+"):
            of_both = [re.findall(same, each["text"], re.DOTALL) for each in (page, one)]
            assert sorted(of_both[0]) == sorted(of_both[1]), same
        for button in re.findall(r"(?<!\*)\*([^*\n]+)\*", page["text"]):
            assert f': "{button}",\n' in names
    assert written == []


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
