"""GET /studio/ and its files, among them the page at /docs: the output of `npm run build` (decision 0362)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from flask import Response

from api.operations.model import OperationResponse, Routes, get
from api.static_files import StaticFile, load_folder, write_file
from shared.errors import ServiceError

INDEX: Final = "index.html"
# Only the page's own scripts, styles and API calls are allowed; blobs are images that the page fetched.
# The page never turns text into markup, so it may create no Trusted Types policy.
_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
HEADERS: Final[Mapping[str, str]] = {
    "Content-Security-Policy": _POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}


def describe_file(*media: str) -> OperationResponse:
    """Return the response of a static file of one of the media types."""
    return OperationResponse(
        "The file.", {each: {"type": "object" if "json" in each else "string"} for each in media}
    )


PAGE: Final = describe_file("text/html")


class StudioRoutes(Routes):
    """The views."""

    tag = "Operation"

    @get("/studio", {200: PAGE})
    def open_studio(self) -> Response:
        """Open the Studio.

        The web page for template authors, which uses this API.
        """
        return write_studio_file(INDEX)

    @get(
        "/studio/{file}",
        {
            200: describe_file(
                "text/html", "text/javascript", "text/css", "image/svg+xml", "text/plain"
            )
        },
        errors={404: ()},
    )
    def read_studio_file(self, file: str) -> Response:
        """Read a file of the Studio.

        File names contain a digest of the content.
        """
        return write_studio_file(file)

    @get("/docs", {200: PAGE}, is_strict=True)
    def read_description(self) -> Response:
        """API description as a page.

        With a search, samples of code, and a form to try each call; it loads nothing from elsewhere.
        """
        return write_studio_file("docs.html")


@lru_cache(maxsize=1)
def load_files() -> Mapping[str, StaticFile]:
    """Load the static files by name, once per process: a few hundred kilobytes."""
    return load_folder("api.studio", "static")


def write_studio_file(name: str) -> Response:
    """Return a file of the build.

    Raises:
        ServiceError: There is none of that name (404).
    """
    file = load_files().get(name)
    if file is None:
        message = f"The Studio has no file {name[:100]!r}."
        raise ServiceError(404, message)
    return write_file(file, HEADERS)
