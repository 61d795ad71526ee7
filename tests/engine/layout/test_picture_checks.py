"""Validation finds the images that a render stops for, before anything is laid out."""

from __future__ import annotations

import base64
import io

import pytest
from PIL import Image

from tests.golden.case import OPTIONS
from workers.engine.diagnostics import AuthoringError, Diagnostic
from workers.engine.pipeline import prepare_template, render, validate
from workers.engine.ports import Payload, PayloadKind, Resources


class Workspace(Resources):
    """A workspace with one image."""

    def __init__(self) -> None:
        stored = io.BytesIO()
        Image.new("RGB", (4, 4), "navy").save(stored, "PNG")
        self.images = {"logo": stored.getvalue(), "broken": stored.getvalue()[:40]}
        self.addresses: list[str] = []

    def find_image(self, name: str) -> bytes | None:
        return self.images.get(name)

    def find_remote_image(self, address: str) -> bytes | None:
        self.addresses.append(address)
        return None


def found(document: str, payload: str | None = None) -> tuple[Diagnostic, ...]:
    """Validate a document; a render says the same, with errors where validation has errors."""
    template = prepare_template(document.encode())
    given = None if payload is None else Payload(PayloadKind.JSON, payload.encode())
    findings = validate(template, given, options=OPTIONS, resources=Workspace())
    try:
        reported = render(template, given, options=OPTIONS, resources=Workspace()).warnings
    except AuthoringError as error:
        reported = error.diagnostics
        assert findings.errors, [each.text for each in reported]
    else:
        assert not findings.errors, [each.text for each in findings.errors]
    assert {each.code for each in reported} <= {each.code for each in findings}
    return tuple(findings)


def document(flow: str, around: str = "") -> str:
    return f"<document>{around}<flow>{flow}</flow></document>"


NOT_AN_IMAGE = base64.b64encode(b"no image at all").decode()


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        (document('<img src="lgoo" alt="a"/>'), "image-missing", 'no image named "lgoo"'),
        (document('<p>a <img src="lgoo" alt="a" height="4mm"/></p>'), "image-missing", '"lgoo"'),
        (document('<img src="broken" alt="a"/>'), "image-data", "damaged"),
        (
            document(f'<img src="data:image/png;base64,{NOT_AN_IMAGE}" alt="a"/>'),
            "image-data",
            "neither PNG, JPEG, WebP, AVIF, GIF, BMP, TIFF, SVG nor PDF",
        ),
        (document('<div><row><img src="lgoo" alt="a"/></row></div>'), "image-missing", '"lgoo"'),
        (
            document('<table><col/><tr><td><img src="lgoo" alt="a"/></td></tr></table>'),
            "image-missing",
            '"lgoo"',
        ),
        (
            document(
                '<table><col/><thead><tr><td><img src="lgoo" alt="a"/></td></tr></thead>'
                "<tr><td>a</td></tr></table>"
            ),
            "image-missing",
            '"lgoo"',
        ),
        (document('<ul><li><img src="lgoo" alt="a"/></li></ul>'), "image-missing", '"lgoo"'),
        (
            document('<box background-image="lgoo"><p>a</p></box>'),
            "image-missing",
            "background of `box`",
        ),
        (
            document("<p>a</p>", '<page background-image="lgoo"/>'),
            "image-missing",
            "background of the page",
        ),
        (document("<p>a</p>", '<watermark src="lgoo"/>'), "image-missing", "the watermark"),
        (
            document("<p>a</p>", '<page><header><img src="lgoo" alt="a" height="5mm"/></header></page>'),
            "image-missing",
            '"lgoo"',
        ),
    ],
)  # fmt: skip
def test_an_image_that_a_render_stops_for_is_an_error(text: str, code: str, words: str):
    [error] = found(text)
    assert (error.code, error.severity) == (code, "error")
    assert words in error.message
    assert error.location is not None


@pytest.mark.parametrize(
    "text",
    [
        document('<img src="logo" alt="a" height="5mm"/>'),
        document('<img src="lgoo" alt="a" if="false"/><p>a</p>'),
        document('<img for="n in []" src="{{ n }}" alt="a"/><p>a</p>'),
    ],
)
def test_an_image_that_is_there_or_not_drawn_is_no_finding(text: str):
    assert found(text) == ()


def test_an_optional_image_is_a_warning():
    [warning] = found(document('<img src="lgoo" alt="a" optional="true"/><p>a</p>'))
    assert (warning.code, warning.severity) == ("image-missing", "warning")


def test_the_background_of_an_image_is_looked_for_where_the_image_is_drawn():
    text = '<img background-image="paper" src="%s" alt="a" height="5mm" optional="true"/><p>a</p>'
    [warning] = found(document(text % "lgoo"))
    assert ('"lgoo"' in warning.message, warning.severity) == (True, "warning")
    [error] = found(document(text % "logo"))
    assert ('"paper"' in error.message, error.severity) == (True, "error")


def test_an_image_that_only_some_pages_have_is_a_warning_until_a_render_needs_it():
    [warning] = found(
        document("<p>a</p>", '<page name="other"><header><img src="lgoo" alt="a"/></header></page>')
    )
    assert (warning.code, warning.severity) == ("image-missing", "warning")
    assert "some pages only" in warning.message


def test_a_name_that_the_payload_brings_is_checked_for_each_payload():
    text = document(
        '<img src="{{ logo }}" alt="a" height="5mm"/>', '<data><json>{"logo": "logo"}</json></data>'
    )
    assert found(text) == found(text, "{}") == ()
    [error] = found(text, '{"logo": "lgoo"}')
    assert '"lgoo"' in error.message


def test_an_image_is_checked_by_every_validation_of_a_template():
    template = prepare_template(document('<img src="lgoo" alt="a"/>').encode())
    for _ in range(2):
        [error] = validate(template, None, options=OPTIONS, resources=Workspace())
        assert error.code == "image-missing"


def test_images_at_addresses_are_not_fetched():
    workspace = Workspace()
    text = document('<img src="https://a.example/b.png" alt="a"/>')
    template = prepare_template(text.encode())
    assert not validate(template, None, options=OPTIONS, resources=workspace).errors
    assert workspace.addresses == []


def test_without_resources_stored_images_are_not_looked_for():
    template = prepare_template(document('<img src="lgoo" alt="a"/>').encode())
    assert not validate(template, None, options=OPTIONS).errors
