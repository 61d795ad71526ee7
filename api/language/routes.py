"""GET /docs/language: the reference of the document language, a page for each chapter and element."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, lru_cache
from importlib.resources import files
from typing import Final

from flask import Response

from api.language.pages import PATH, Reference
from api.operations.model import OperationResponse, Routes, get
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


_PAGE: Final = OperationResponse("The page.", {"text/html": {"type": "string"}})


class LanguageRoutes(Routes):
    """The views."""

    tag = "Operation"

    @get(PATH, {200: _PAGE}, name="openLanguage")
    def read_start(self) -> Response:
        """Open the reference of the document language.

        The introduction, with a search and links to every chapter and element.
        """
        return write_file(_make_page(next(iter(_read_reference().pages))), _HEADERS)

    @get(
        f"{PATH}/{{name}}",
        {
            200: _PAGE,
            302: OperationResponse(
                "To the attribute.", headers={"Location": "The page with the attribute."}
            ),
        },
        errors={404: ()},
        name="readLanguage",
    )
    def read_page(self, name: str) -> Response:
        """Read a page of the document language.

        A chapter or an element, such as `td`; an attribute, such as `td.rowspan`, redirects to its place.
        """
        reference = _read_reference()
        if name in reference.pages:
            return write_file(_make_page(name), _HEADERS)
        if address := reference.find_address(name):
            return Response(status=302, headers={**_HEADERS, "Location": address})
        message = f"The language has no chapter, element or attribute {name[:100]!r}."
        raise ServiceError(404, message, kind=ErrorKind.NOT_FOUND)

    @get(
        f"{PATH}/files/{{name}}",
        {
            200: OperationResponse(
                "The file.",
                {
                    media: {"type": "string"}
                    for media in (
                        "image/png",
                        "text/css",
                        "text/javascript",
                        "application/json",
                        "application/xml",
                    )
                },
            )
        },
        errors={404: ()},
        name="readLanguageFile",
    )
    def read_file(self, name: str) -> Response:
        """Read a file of the document language.

        A picture, the style sheet, the search with its index, or the RELAX NG schema.
        """
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
