"""Responses, call by call: status and shape of every response."""

from __future__ import annotations

import base64
import re
from io import BytesIO

import pytest
from msgspec.structs import replace
from PIL import Image

TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\Z")
USER = {"id", "name", "email"}
TEMPLATE = {
    *("id", "name", "versions", "sha256"),
    *("created_at", "created_by", "updated_at", "updated_by"),
}
IMAGE = {
    *("name", "content_type", "bytes", "width", "height", "sha256"),
    *("created_at", "created_by", "updated_at", "updated_by"),
}


def png() -> bytes:
    out = BytesIO()
    Image.new("RGB", (4, 3)).save(out, "PNG")
    return out.getvalue()


def check_record(record, fields):
    assert set(record) == fields
    for field in ("created_at", "updated_at"):
        assert TIMESTAMP.match(record[field])
    for field in ("created_by", "updated_by"):
        assert set(record[field]) == USER


@pytest.fixture
def template(caller) -> str:
    made = caller.post("/v2/templates?name=T", data=b"<d/>", content_type="text/xml")
    template_id: str = made.json["id"]
    return template_id


def test_authcheck_names_the_account(caller, account):
    answer = caller.get("/v2/authcheck")
    assert set(answer.json) == {"status"}
    assert account.account_id in answer.json["status"]


def test_usage_has_the_required_fields(caller):
    report = caller.get("/v2/account/usage").json
    assert set(report) >= {
        *("pagesGenerated", "apiCalls", "maxPagesGenerated", "startDate", "endDate"),
    }
    assert report["startDate"].endswith("T00:00:00.000Z")
    assert report["endDate"].endswith("T00:00:00.000Z")
    assert "draft" not in report
    assert "overagePages" not in report


def test_post_template_is_201_with_a_record(caller):
    answer = caller.post("/v2/templates?name=T", data=b"<d/>", content_type="text/xml")
    assert answer.status_code == 201
    check_record(answer.json, TEMPLATE | {"findings"})


def test_get_template_adds_the_content(caller, template):
    answer = caller.get(f"/v2/templates/{template}")
    assert answer.status_code == 200
    check_record(answer.json, TEMPLATE | {"content"})


def test_put_template_is_200_with_a_record(caller, template):
    answer = caller.put(f"/v2/templates/{template}", data=b"<e/>", content_type="text/xml")
    assert answer.status_code == 200
    check_record(answer.json, TEMPLATE | {"findings"})


def test_delete_template_is_204(caller, template):
    assert caller.delete(f"/v2/templates/{template}").status_code == 204


def test_the_default_page_of_templates_is_100(caller):
    for n in range(101):
        caller.post(f"/v2/templates?name=T{n}")
    answer = caller.get("/v2/templates").json
    assert set(answer) == {"templates", "next_cursor"}
    assert len(answer["templates"]) == 100


@pytest.mark.usefixtures("upload_worker")
def test_put_image_is_201_then_200(caller):
    for status in (201, 200):
        answer = caller.put("/v2/images/logo", data=png(), content_type="image/png")
        assert answer.status_code == status
        check_record(answer.json, IMAGE)


@pytest.mark.usefixtures("upload_worker")
def test_post_image_is_201_then_200(caller):
    fields = {"name": "logo", "data": base64.b64encode(png()).decode()}
    for status in (201, 200):
        answer = caller.post("/v2/images", json=fields)
        assert answer.status_code == status
        check_record(answer.json, IMAGE)


@pytest.mark.usefixtures("upload_worker")
def test_delete_image_is_204_and_empty(caller):
    caller.put("/v2/images/logo", data=png(), content_type="image/png")
    answer = caller.delete("/v2/images/logo")
    assert (answer.status_code, answer.data) == (204, b"")
    assert "Content-Type" not in answer.headers


def test_the_list_of_images_has_the_documented_shape(caller):
    assert caller.get("/v2/images").json == {"images": [], "usage": {"total_bytes": 0, "count": 0}}


def test_an_image_over_50_mb_is_413(caller):
    answer = caller.put(
        "/v2/images/logo",
        content_type="image/png",
        environ_overrides={"CONTENT_LENGTH": str(50 * 1024 * 1024 + 1)},
    )
    assert answer.status_code == 413


def test_both_sources_of_an_image_are_a_400_with_the_specified_message(caller):
    answer = caller.post("/v2/images", json={"name": "logo", "data": "", "source_url": ""})
    assert answer.status_code == 400
    assert "one or the other, not both" in answer.json["message"]


@pytest.mark.parametrize(
    ("media", "named"),
    [("application/json", "JSON"), ("text/csv", "CSV"), ("text/markdown", "Markdown")],
)
def test_data_without_a_template_is_a_400_with_the_specified_message(caller, media, named):
    answer = caller.post("/v2/pdf", data=b"x", content_type=media)
    assert answer.status_code == 400
    assert "template query parameter is required" in answer.json["message"]
    assert named in answer.json["message"]


def test_a_415_names_the_type_sent_and_the_accepted(caller):
    message = caller.post("/v2/pdf", data=b"x", content_type="image/png").json["message"]
    for media in (
        *("image/png", "text/xml", "application/xml", "text/plain"),
        *("application/json", "text/csv", "text/markdown"),
    ):
        assert media in message


def test_a_pdf_carries_the_number_of_its_warnings_and_their_codes(caller, worker):
    answer = caller.post("/v2/pdf", data=b"<d/>", content_type="text/xml")
    assert answer.headers["X-Warning-Count"] == "0"
    assert "X-Warning-Codes" not in answer.headers
    warnings = [
        {"code": "unknown-member", "message": "x", "count": 2},
        {"code": "more-warnings", "message": "x", "count": 40},
    ]
    worker.answer = lambda job: replace(worker.succeed(job), warnings=warnings)
    answer = caller.post("/v2/pdf", data=b"<d/>", content_type="text/xml")
    assert answer.headers["X-Warning-Count"] == "42"
    assert answer.headers["X-Warning-Codes"] == "unknown-member, more-warnings"


def test_a_pdf_has_the_headers_of_the_contract(caller, worker):
    worker.answer = lambda job: worker.succeed(job, pages=2, filename="Größe.pdf")
    answer = caller.post("/v2/pdf", data=b"<d/>", content_type="text/xml")
    assert answer.status_code == 200
    assert answer.headers["X-Page-Count"] == "2"
    assert answer.headers["X-Job-Id"].startswith("job_")
    assert re.fullmatch(
        r"queue;dur=[\d.]+, merge;dur=[\d.]+, layout;dur=[\d.]+, finish;dur=[\d.]+",
        answer.headers["Server-Timing"],
    )
    assert answer.headers["Content-Disposition"] == (
        "inline; filename=\"Groe.pdf\"; filename*=UTF-8''Gr%C3%B6%C3%9Fe.pdf"
    )
