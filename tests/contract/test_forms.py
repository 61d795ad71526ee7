"""POST /v2/forms/extract with a real worker behind the queue."""

from __future__ import annotations

from io import BytesIO

import pikepdf
import pytest

from tests.engine.paint.test_form_fields import FIELDS, made
from tests.engine.pdf_pages.test_form_fields import crowded

pytestmark = pytest.mark.usefixtures("upload_worker")


def extract(caller, content: bytes, media: str = "application/pdf"):
    return caller.post("/v2/forms/extract", data=content, content_type=media)


def flat(**options) -> bytes:
    pdf = pikepdf.new()
    pdf.add_blank_page()
    out = BytesIO()
    pdf.save(out, **options)
    return out.getvalue()


def test_the_fields_of_a_form_are_returned(caller):
    answer = extract(caller, made(FIELDS))
    assert answer.status_code == 200
    assert not answer.json["xfa"]
    fields = {each["name"]: each for each in answer.json["fields"]}
    assert len(fields) == 8
    assert fields["who"] == {
        "name": "who",
        "type": "text",
        "value": "Ada",
        "required": False,
        "read_only": False,
        "label": "Who",
        "page": 1,
    }
    assert fields["land"]["options"] == [{"value": "DE", "label": "Germany"}]


@pytest.mark.long
def test_a_form_of_the_most_fields_is_returned_whole(caller):
    answer = extract(caller, crowded(10_000, 10_000))
    assert answer.status_code == 200
    assert len(answer.json["fields"]) == 10_000


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"<a/>", "not a PDF"),
        (b"%PDF-1.7 nothing", "damaged"),
        (flat(), "no form fields"),
        (flat(encryption=pikepdf.Encryption(owner="o", user="u")), "encrypted"),
        (b"", "empty"),
    ],
    ids=["other file", "damaged", "flat", "locked", "empty"],
)
def test_what_is_no_form_is_a_400_with_the_reason(caller, content, reason):
    answer = extract(caller, content)
    assert answer.status_code == 400
    assert reason in answer.json["message"]


def test_another_type_a_large_body_and_a_parameter_are_rejected(caller):
    assert extract(caller, b"{}", "application/json").status_code == 415
    assert extract(caller, b" " * (20 * 1024 * 1024 + 1)).status_code == 413
    assert caller.post("/v2/forms/extract?a=b", data=b"%PDF-").status_code == 400
