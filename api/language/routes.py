"""GET /docs/language: the reference of the document language, a page for each chapter and element."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, lru_cache
from importlib.resources import files
from typing import Final

from flask import Blueprint, Response

from api.language.pages import PATH, Reference
from api.ports import Ports
from api.static_files import StaticFile, load_folder, make_file, write_file
from shared.errors import ErrorKind, ServiceError

_HEADERS: Final[Mapping[str, str]] = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
        "require-trusted-types-for 'script'; trusted-types 'none'"
    ),
    "Referrer-Policy": "no-referrer",
}


class LanguageRoutes:
    """The views; they use none of the ports."""

    def __init__(self, ports: Ports) -> None:
        del ports

    def blueprint(self) -> Blueprint:
        """Return the views at their paths."""
        routes = Blueprint("language", __name__)
        routes.get(PATH)(self.read_start)
        routes.get(f"{PATH}/<name>")(self.read_page)
        routes.get(f"{PATH}/files/<name>")(self.read_file)
        return routes

    def read_start(self) -> Response:
        """Return the introduction."""
        return write_file(_make_page(next(iter(_read_reference().pages))), _HEADERS)

    def read_page(self, name: str) -> Response:
        """Return a chapter or element; redirect from the name of an attribute to its place."""
        reference = _read_reference()
        if name in reference.pages:
            return write_file(_make_page(name), _HEADERS)
        if address := reference.find_address(name):
            return Response(status=302, headers={**_HEADERS, "Location": address})
        message = f"The language has no chapter, element or attribute {name[:100]!r}."
        raise ServiceError(404, message, kind=ErrorKind.NOT_FOUND)

    def read_file(self, name: str) -> Response:
        """Return a picture, the style sheet, the index of the search or its script."""
        file = _load_files().get(name)
        if file is None:
            message = f"The pages of the language have no file {name[:100]!r}."
            raise ServiceError(404, message, kind=ErrorKind.NOT_FOUND)
        return write_file(file, _HEADERS)


@lru_cache(maxsize=1)
def _read_reference() -> Reference:
    return Reference(files("workers").joinpath("engine/LANGUAGE.md").read_text("utf-8"))


@cache  # as many as there are pages: 0.6 MB
def _make_page(name: str) -> StaticFile:
    return make_file("page.html", _read_reference().write_page(name).encode())


@lru_cache(maxsize=1)
def _load_files() -> Mapping[str, StaticFile]:
    return {
        **load_folder("api.language", "static"),
        **load_folder("workers", "engine/pictures"),
        "search.json": make_file("search.json", _read_reference().write_index().encode()),
        "pressroom.rng": make_file(
            "pressroom.rng", files("workers").joinpath("engine/pressroom.rng").read_bytes()
        ),
    }
