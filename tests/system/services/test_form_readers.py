"""Forms are filled in with the readers of browsers, and what was typed is read back by others."""

from __future__ import annotations

import io
import shutil
import subprocess
from pathlib import Path

import pikepdf
import pypdfium2
import pytest

from tests.engine.paint.test_form_fields import FIELDS, made
from workers.engine.pdf_pages.form_fields import read_form

LIBRARY = Path(__file__).with_name("pdfjs")
TYPED = {
    "who": "Grace Hopper",
    "yes": "1",
    "kind": "b & c",
    "land": "DE",
    "note": "three\nfour",
}


@pytest.fixture(scope="module")
def pdfjs(tmp_path_factory) -> Path:
    """Install pdf.js, pinned by digest, and return the folder of its modules."""
    folder = tmp_path_factory.mktemp("pdfjs")
    for file in LIBRARY.iterdir():
        shutil.copy(file, folder)
    npm = [
        "npm",
        "ci",
        "--ignore-scripts",
        "--omit=optional",
        "--no-audit",
        "--no-fund",
        "--silent",
    ]
    subprocess.run(npm, cwd=folder, check=True, timeout=300)
    return folder / "node_modules" / "pdfjs-dist" / "legacy" / "build"


@pytest.fixture
def fill_in(chromium, pdfjs):
    """Provide a function that types values into a form with pdf.js: its fields before, and the file."""
    page = chromium.new_page()
    yield lambda form, values: _fill_in(page, pdfjs, form, values)
    page.close()


def _fill_in(page, pdfjs, form, values):
    def answer(route):
        name = route.request.url.rpartition("/")[2]
        if name == "form.pdf":
            route.fulfill(body=form, content_type="application/pdf")
        elif name.endswith(".mjs"):
            route.fulfill(body=(pdfjs / name).read_bytes(), content_type="text/javascript")
        else:
            route.fulfill(body="<!doctype html><title>Form</title>", content_type="text/html")

    page.route("**/*", answer)
    page.goto("http://localhost/")
    found, saved = page.evaluate((LIBRARY / "fill.js").read_text().partition("\n")[2], values)
    return found, bytes(saved)


def test_what_is_typed_in_pdf_js_is_read_back_by_every_other_reader(fill_in):
    found, filled = fill_in(made(FIELDS), TYPED)
    assert found["who"] == [["text", "Ada"]]
    assert {name for name, widgets in found.items() if widgets} >= {*TYPED, "to", "pin"}
    read = {field["name"]: field["value"] for field in read_form(filled).to_report()["fields"]}
    assert {name: read[name] for name in TYPED} == TYPED
    with pikepdf.open(io.BytesIO(filled)) as opened:
        values = {str(one.T): str(one.get("/V", "")) for one in opened.Root.AcroForm.Fields}
    assert (values["who"], values["kind"]) == ("Grace Hopper", "/b & c")
    with pypdfium2.PdfDocument(filled) as document:
        document.init_forms()
        assert len(document) == 1
    drawn = subprocess.run(
        ["pdftotext", "-", "-"], input=filled, capture_output=True, check=True
    ).stdout.decode()
    assert "Grace Hopper" in drawn
    assert "Germany" in drawn


def test_what_pdf_js_leaves_alone_stays(fill_in):
    _, filled = fill_in(made(FIELDS), {"to": "Bob"})
    read = {field["name"]: field["value"] for field in read_form(filled).to_report()["fields"]}
    assert (read["who"], read["to"], read["kind"]) == ("Ada", "Bob", "a")
