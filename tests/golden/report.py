"""The report of a failed golden run: each case's dump before and after, and its page as a picture."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator
from contextlib import suppress
from difflib import HtmlDiff

from tests.golden.case import FOLDER, Case
from tests.golden.pictures import draw, to_png
from workers.engine.diagnostics import AuthoringError

REPORT = FOLDER / "report.html"


def write_report(failed: dict[Case, str]) -> None:
    """Write a section for each case that is laid out otherwise than its reference says."""
    sections = "".join(part for case, pages in failed.items() for part in _section(case, pages))
    REPORT.write_text(f"<!doctype html><meta charset='utf-8'><title>Golden</title>{sections}")


def _section(case: Case, pages: str) -> Iterator[str]:
    before = case.reference.read_text() if case.reference.exists() else ""
    yield f"<h2>{case.name}</h2>"
    yield HtmlDiff(wrapcolumn=90).make_file(
        before.splitlines(), pages.splitlines(), "reference", "now", context=True
    )
    if case.picture.exists():
        yield _image(case.picture.read_bytes(), "reference")
    with suppress(AuthoringError):
        yield _image(to_png(draw(case)), "now")


def _image(png: bytes, name: str) -> str:
    address = b64encode(png).decode()
    return f"<figure style='display:inline-block'><img src='data:image/png;base64,{address}' style='border:1px solid'><figcaption>{name}</figcaption></figure>"
