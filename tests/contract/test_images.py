"""Images, call by call; what uploads withstand is in tests/api/test_images.py."""

from __future__ import annotations

import base64
from io import BytesIO

import pikepdf
import pytest
from PIL import Image

from tests.golden.case import FOLDER
from tests.images import encode

pytestmark = pytest.mark.usefixtures("upload_worker")

ACCEPTED = ("image/png", "image/jpeg", "image/webp", "image/svg+xml")


def draw(kind: str = "PNG", colour: str = "navy") -> bytes:
    if kind == "SVG+XML":
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 4 3" fill="{colour}"/>'.encode()
        )
    return encode(kind, Image.new("RGB", (4, 3), colour))


def put(client, name: str, data: bytes, media: str = "image/png"):
    return client.put(f"/v2/images/{name}", data=data, content_type=media)


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP", "SVG+XML"])
@pytest.mark.parametrize("declared", ACCEPTED)
def test_the_bytes_decide_and_a_disagreeing_declared_type_is_ignored(caller, kind, declared):
    answer = put(caller, "logo", draw(kind), declared)
    assert answer.status_code == 201
    assert answer.json["content_type"] == f"image/{kind.lower()}"
    assert (answer.json["width"], answer.json["height"]) == (4, 3)


@pytest.mark.parametrize("data", [draw("GIF"), b"hello"], ids=["gif", "text"])
def test_bytes_of_another_format_are_rejected_with_the_accepted_formats(caller, data):
    answer = put(caller, "logo", data)
    assert answer.status_code == 400
    assert "neither PNG, JPEG, WebP, SVG nor PDF" in answer.json["message"]


def test_the_icc_profile_of_a_printer_is_stored_and_one_of_a_screen_is_not(caller):
    press = (FOLDER / "images" / "press.icc").read_bytes()
    answer = put(caller, "press", press, "application/vnd.iccprofile")
    assert answer.status_code == 201
    assert answer.json["content_type"] == "application/vnd.iccprofile"
    assert (answer.json["width"], answer.json["height"]) == (0, 0)
    screen = press.replace(b"prtrCMYK", b"mntrRGB ")
    answer = put(caller, "screen", screen, "application/vnd.iccprofile")
    assert answer.status_code == 400
    assert "not an ICC profile of a CMYK printer" in answer.json["message"]


LETTERHEAD = (FOLDER / "images" / "letterhead.pdf").read_bytes()


@pytest.mark.parametrize("declared", ["application/pdf", "image/png"])
def test_a_pdf_is_stored_as_an_image_and_measured_by_its_first_page(caller, declared):
    answer = put(caller, "letterhead", LETTERHEAD, declared)
    assert answer.status_code == 201
    assert answer.json["content_type"] == "application/pdf"
    assert (answer.json["width"], answer.json["height"]) == (397, 559)  # A6 in CSS px
    assert caller.get("/v2/images").json["images"] == [answer.json]
    assert caller.get("/v2/images/letterhead").json == answer.json
    fetched = base64.b64encode(LETTERHEAD).decode()
    answer = caller.post("/v2/images", json={"name": "letterhead", "data": fetched})
    assert answer.status_code == 200


def test_a_pdf_that_cannot_be_drawn_is_refused_with_the_reason(caller):
    for data, words in (
        (b"%PDF-1.7 and nothing else", "The PDF is damaged"),
        (encrypted(LETTERHEAD), "The PDF is encrypted. Save it without a password"),
    ):
        answer = put(caller, "letterhead", data, "application/pdf")
        assert answer.status_code == 400
        assert words in answer.json["message"]
    assert caller.get("/v2/images/letterhead").status_code == 404


def encrypted(data: bytes) -> bytes:
    out = BytesIO()
    with pikepdf.open(BytesIO(data)) as pdf:
        pdf.save(out, encryption=pikepdf.Encryption(owner="owner", user=""))
    return out.getvalue()


def test_image_bytes_are_not_served_back(caller):
    put(caller, "logo", draw())
    answer = caller.get("/v2/images/logo", headers={"Accept": "image/png"})
    assert answer.content_type.startswith("application/json")


def test_a_full_last_page_has_no_cursor(caller):
    for name in ("aaa", "bbb"):
        put(caller, name, draw())
    assert "next_cursor" not in caller.get("/v2/images?limit=2").json


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ("limit=0", "limit"), ("limit=1001", "limit"), ("limit=x", "limit"), ("limit=", "limit"),
        ("start_after=ab", "'ab'"), (f"start_after={'a' * 65}", "64 characters"),
    ],
)  # fmt: skip
def test_an_invalid_list_parameter_is_a_400_that_names_it(caller, query, named):
    answer = caller.get(f"/v2/images?{query}")
    assert answer.status_code == 400
    assert named in answer.json["message"]
