"""GET /, GET /docs/ and its files: the pages of the documentation, which a page of the Studio's build shows with one search.

The pages are Markdown, as in the repository; their list is that of `make docs`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from json import dumps
from typing import Any, Final

from flask import Response, current_app, request

from api.http import write_json
from api.operations.model import OperationResponse, Parameter, Routes, get, json_content, string
from api.static_files import StaticFile, make_file, write_file
from api.studio.routes import HEADERS, PAGE, describe_file, write_studio_file
from api.translation import SOURCE, find_language, read_texts, translate_description
from shared.errors import ServiceError

DESCRIBE: Final = "describe"  # the extension of an app that describes its routes
_LIST: Final = "deploy/docs/zensical.toml"
# What is read by those who work on Pressroom itself, with its repository.
_LEFT_OUT: Final = ("README.md", "tests/", "deploy/decisions/", "workers/engine/decisions/")
_FOLDERS: Final = (
    "deploy/docs",
    "deploy/docs/charts",
    "deploy/docs/typography",
    "deploy/editors",
    "workers/engine",
    "workers/engine/pictures",
)


class DocumentationRoutes(Routes):
    """The views. Those of single pages are not described: `/docs/{page}` would be `/docs/openapi.json` as well."""

    tag = "Operation"

    @get("/", {200: OperationResponse("The start.", {**json_content("Start"), **PAGE.content})})
    def read_start(self) -> Response:
        """Start page.

        The documentation if Accept contains text/html, else links to /docs as JSON.
        """
        if "text/html" in request.headers.get("Accept", ""):
            response = write_studio_file("site.html")
        else:
            response = write_json(
                {"name": "Pressroom", "docs": "/docs", "openapi": "/docs/openapi.json"}
            )
        response.vary.add("Accept")
        response.headers.add("Link", '</docs>; rel="service-doc"')
        response.headers.add("Link", '</docs/openapi.json>; rel="service-desc"')
        return response

    @get("/docs/", {200: PAGE}, is_strict=True, is_described=False)
    def open_documentation(self) -> Response:
        """Open the documentation.

        Tutorials, pages for authors and operators, and reference, with one search over all, this API included.
        """
        return write_studio_file("site.html")

    @get("/docs/openapi.json", {200: describe_file("application/json")})
    def describe(self) -> Response:
        """OpenAPI description.

        OpenAPI 3.1. With `Accept-Language: de` its texts are German.
        """
        return write_json(_describe(find_language()))

    @get("/docs/{page}", {200: PAGE}, is_described=False)
    def read_documentation(self, page: str) -> Response:
        """Read a page of the documentation.

        Such as `first-invoice`, `settings`, or `language` for the reference of the document language.
        """
        if page not in {each["name"] for each in _list_pages()}:
            message = f"The documentation has no page {page[:100]!r}. See /docs/ for its pages."
            raise ServiceError(404, message)
        return write_studio_file("site.html")

    @get("/docs/language/{name}", {200: PAGE}, is_described=False)
    def read_language(self, name: str) -> Response:  # the page reads it from its address
        """Read a page of the document language.

        A chapter or an element, such as `td`; an attribute, such as `td.rowspan`, opens at its place.
        """
        return write_studio_file("site.html")

    @get("/docs/pages.json", {200: describe_file("application/json")}, name="listDocumentation")
    def list_documentation(self) -> Response:
        """Read all pages of the documentation.

        In Markdown, each with its name, title, section, language and path in the repository. With
        `Accept-Language: de` those that there are in German are German.
        """
        response = write_file(_write_pages(find_language()), HEADERS)
        response.vary.add("Accept-Language")
        return response

    @get(
        "/docs/files/{name}",
        {200: describe_file("image/png", "application/json", "application/xml")},
        path_parameters=(Parameter("name", string("Its name.", examples=["td.png"]), "A file."),),
        errors={404: ()},
        name="readDocumentationFile",
    )
    def read_file(self, name: str) -> Response:
        """Read a file of the documentation.

        A picture, or the RELAX NG schema of the document language.
        """
        if name not in _find_files():
            message = f"The documentation has no file {name[:100]!r}."
            raise ServiceError(404, message)
        return write_file(_load_file(name), HEADERS)


@lru_cache  # every app has the same routes
def _describe(language: str) -> Mapping[str, Any]:
    described = dict(current_app.extensions[DESCRIBE]())
    if language == SOURCE:
        return described
    return dict(translate_description(described, read_texts(f"reference.{language}.po")[None]))


def _open(path: str) -> Traversable:
    package, _, rest = path.partition("/")
    return files(package).joinpath(rest)


@lru_cache(maxsize=1)
def _list_pages() -> tuple[Mapping[str, str], ...]:
    nav = tomllib.loads(_open(_LIST).read_text("utf-8"))["project"]["nav"]
    return tuple(_find_pages(nav, ""))


def _find_pages(nav: list[Mapping[str, Any]], section: str) -> Iterator[Mapping[str, str]]:
    for entry in nav:
        for title, target in entry.items():
            if isinstance(target, list):
                yield from _find_pages(target, title)
            elif not target.startswith(_LEFT_OUT):
                *_, folder, file = target.split("/")
                name = folder if file == "README.md" else file.removesuffix(".md").lower()
                yield {"name": name, "title": title, "section": section, "path": target}


@lru_cache
def _write_pages(language: str) -> StaticFile:
    pages = [_read_page(page, language) for page in _list_pages()]
    return make_file("pages.json", dumps({"pages": pages}, ensure_ascii=False).encode())


def _read_page(page: Mapping[str, str], language: str) -> Mapping[str, str]:
    """Return a page with its text, from `studio.de.md` beside `studio.md` if there is such a file."""
    file = _open(page["path"].replace(".md", f".{language}.md"))
    if not file.is_file():
        return {**page, "language": SOURCE, "text": _open(page["path"]).read_text("utf-8")}
    text = file.read_text("utf-8")
    return {**page, "language": language, "text": text, "title": text[2 : text.index("\n")]}


@lru_cache(maxsize=1)
def _find_files() -> Mapping[str, Traversable]:
    """The pictures and tables by name; those of a folder of the pages have its name before theirs."""
    return {
        f"{folder.rpartition('/')[2]}-{file.name}" if "docs/" in folder else file.name: file
        for folder in _FOLDERS
        for file in _open(folder).iterdir()
        if file.name.endswith((".png", ".json", ".rng"))
    }


@cache  # as many as there are files: 2 MB
def _load_file(name: str) -> StaticFile:
    return make_file(name, _find_files()[name].read_bytes())
