"""Forms are filled in with Chromium's viewer, pdf.js, pdfium and poppler, and read back by each."""

from __future__ import annotations

import io
import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pikepdf
import pypdfium2
import pytest

from tests.engine.paint.pdfium_forms import fill_by_pdfium, read_by_pdfium
from tests.engine.paint.test_form_fields import FIELDS, made
from tests.system.services.chromium_viewer import Viewer
from workers.engine.pdf_pages.form_fields import read_form

LIBRARY = Path(__file__).with_name("pdfjs")
POPPLER = Path(__file__).with_name("poppler_forms.py")
PYTHON = "/usr/bin/python3"  # of the distribution, which has poppler's bindings
WRITERS = ("chromium", "pdfjs", "pdfium", "poppler")
EMPTY = {"who": "Ada", "yes": "", "kind": "a", "land": "", "note": "one\ntwo"}
TYPED = {"who": "Grace Höpper", "yes": "1", "kind": "b & c", "land": "DE", "note": "three\nfour"}

Fill = Callable[[bytes], bytes]


@pytest.fixture
def by_pdfjs(chromium, pdfjs):
    """Provide a function that types values into a form with pdf.js: its fields before, and the file."""
    page = chromium.new_page()
    yield lambda form, values: _fill_by_pdfjs(page, pdfjs, form, values)
    page.close()


def _fill_by_pdfjs(page, pdfjs, form, values):
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


@pytest.fixture
def by_poppler(tmp_path):
    """Provide a function that fills in a form with poppler: its fields after, and the file."""

    def run(form: bytes, values: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
        source, target = tmp_path / "in.pdf", tmp_path / "out.pdf"
        source.write_bytes(form)
        command = [PYTHON, str(POPPLER), str(source), str(target)]
        done = subprocess.run(
            command, input=json.dumps(values), capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{done.stderr}; run: apt-get install gir1.2-poppler-0.18"
        return json.loads(done.stdout), target.read_bytes() if values else form

    return run


@pytest.fixture
def by_chromium(viewing_chromium):
    """Return a function that fills in a form by mouse and keyboard in Chromium's own viewer."""

    def fill(form: bytes) -> bytes:
        viewer = Viewer(viewing_chromium, form)
        before = viewer.picture()
        viewer.fill(TYPED)
        assert viewer.picture() != before
        saved = viewer.save()
        viewer.close()
        return saved

    return fill


@pytest.fixture
def fill_in(request, by_chromium, by_pdfjs, by_poppler) -> Fill:
    """Return the function that fills in a form with the program of the test's parameter."""
    poppler = TYPED | {"yes": [True], "kind": [False, True], "land": "Germany"}
    return {
        "chromium": by_chromium,
        "pdfjs": lambda form: by_pdfjs(form, TYPED)[1],
        "pdfium": lambda form: fill_by_pdfium(form, TYPED | {"land": "Germany"}),
        "poppler": lambda form: by_poppler(form, poppler)[1],
    }[request.param]


@pytest.mark.parametrize("fill_in", WRITERS, indirect=True)
def test_a_form_filled_in_with_any_program_is_read_back_by_all(fill_in, by_pdfjs, by_poppler):
    filled = fill_in(made(FIELDS))
    assert read_by_all(filled, by_pdfjs, by_poppler) == dict.fromkeys(
        ("ours", "pikepdf", "pdfium", "pdfjs", "poppler"), TYPED
    )


def test_the_values_of_a_form_are_read_by_all(by_pdfjs, by_poppler):
    found = read_by_all(made(FIELDS), by_pdfjs, by_poppler)
    assert found == dict.fromkeys(found, EMPTY)


def read_by_all(form: bytes, by_pdfjs: Any, by_poppler: Any) -> dict[str, dict[str, str]]:
    """Return the values as each program reads them, in the same words."""
    read = {
        "ours": {each.name: each.value or "" for each in read_form(form).fields},
        "pikepdf": _read_by_pikepdf(form),
        "pdfium": read_by_pdfium(form),
        "pdfjs": _read_by_pdfjs(by_pdfjs(form, {})[0]),
        "poppler": _read_by_poppler(by_poppler(form, {})[0]),
    }
    return {
        program: {name: values[name].replace("\r\n", "\n").replace("\r", "\n") for name in TYPED}
        for program, values in read.items()
    }


def _read_by_pikepdf(form: bytes) -> dict[str, str]:
    with pikepdf.open(io.BytesIO(form)) as opened:
        values = {str(one.T): one.get("/V", "") for one in opened.Root.AcroForm.Fields}
    return {name: str(value).removeprefix("/").replace("Off", "") for name, value in values.items()}


def _read_by_pdfjs(found: dict[str, Any]) -> dict[str, str]:
    """Return the values of widgets; those of buttons are the value of the group, or Off."""
    values = {}
    for name, widgets in found.items():
        value = widgets[0][1] if widgets else ""
        values[name] = "" if value in (None, "Off") else "".join(value)
    return values


def _read_by_poppler(found: dict[str, Any]) -> dict[str, str]:
    pressed = {"yes": ["1"], "kind": ["a", "b & c"], "land": {"": "", "Germany": "DE"}}
    values = dict(found)
    for name in ("yes", "kind"):
        chosen = [own for own, state in zip(pressed[name], found[name], strict=True) if state]
        values[name] = "".join(chosen)
    values["land"] = pressed["land"][found["land"]]
    return values


def test_what_is_typed_is_drawn_by_poppler(by_pdfjs):
    _, filled = by_pdfjs(made(FIELDS), TYPED)
    drawn = subprocess.run(
        ["pdftotext", "-", "-"], input=filled, capture_output=True, check=True
    ).stdout.decode()
    assert "Grace Höpper" in drawn
    assert "Germany" in drawn


def test_what_pdf_js_leaves_alone_stays(by_pdfjs):
    _, filled = by_pdfjs(made(FIELDS), {"to": "Bob"})
    read = {field["name"]: field["value"] for field in read_form(filled).to_report()["fields"]}
    assert (read["who"], read["to"], read["kind"]) == ("Ada", "Bob", "a")


def test_a_printed_form_has_its_values_and_no_field_for_any_program(by_pdfjs, by_poppler):
    flat = made(
        FIELDS.replace("<input", '<input interactive="false"')
        .replace("<select", '<select value="DE" interactive="false"')
        .replace("<textarea", '<textarea interactive="false"')
        .replace("<signature", '<signature interactive="false"')
    )
    assert by_pdfjs(flat, {})[0] == {}
    assert by_poppler(flat, {})[0] == {}
    assert read_by_pdfium(flat) == {}
    with pikepdf.open(io.BytesIO(flat)) as opened:
        assert "/AcroForm" not in opened.Root
    with pypdfium2.PdfDocument(flat) as document:
        shown = document[0].get_textpage().get_text_range()
    assert all(text in shown for text in ("Ada", "Germany", "one\r\ntwo"))
