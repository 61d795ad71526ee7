"""File names in headers: RFC 6266, safe for any document."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from werkzeug.http import parse_options_header

from api.pdf_headers import write_content_disposition
from tests.batches import accept, numbered, numbers, slices  # noqa: F401 - fixtures


@pytest.mark.parametrize(
    ("filename", "header"),
    [
        ("invoice-7.pdf", 'inline; filename="invoice-7.pdf"'),
        ("invoice 7", 'inline; filename="invoice 7.pdf"'),
        (
            "Überweisung.pdf",
            "inline; filename=\"Uberweisung.pdf\"; filename*=UTF-8''%C3%9Cberweisung.pdf",
        ),
        (
            "請求書.pdf",
            "inline; filename=\"example.pdf\"; filename*=UTF-8''%E8%AB%8B%E6%B1%82%E6%9B%B8.pdf",
        ),
        ("../../etc/passwd", 'inline; filename="_.._etc_passwd.pdf"'),
        ('a"; evil="1', 'inline; filename="a_; evil=_1.pdf"'),
        ("a\r\nSet-Cookie: x", 'inline; filename="a__Set-Cookie_ x.pdf"'),
        ("", 'inline; filename="example.pdf"'),
        (".pdf", 'inline; filename="example.pdf"'),
    ],
)
def test_a_name_is_written_safely(filename, header):
    assert write_content_disposition(filename) == header


@pytest.mark.long
@given(st.text(max_size=300))
def test_any_name_results_in_one_parsable_header(filename):
    header = write_content_disposition(filename)
    header.encode("ascii")
    assert header.isprintable()
    kind, options = parse_options_header(header)
    assert kind == "inline"
    assert options["filename"].endswith(".pdf")
    assert not set(options["filename"]) & set('/\\"')


# --- a name that a client gives -------------------------------------------------------------------


def disposition(answer) -> str:
    assert answer.status_code == 200, answer.json
    return str(answer.headers["Content-Disposition"])


def test_a_response_has_the_filename_of_the_request(caller, worker):
    worker.answer = lambda job: worker.succeed(job, filename="own.pdf")
    for name, told in (
        ("invoice 7", 'inline; filename="invoice 7.pdf"'),
        ("invoice.pdf", 'inline; filename="invoice.pdf"'),
        ("Größe", "inline; filename=\"Groe.pdf\"; filename*=UTF-8''Gr%C3%B6%C3%9Fe.pdf"),
    ):
        answer = caller.post(
            "/v2/pdf", query_string={"filename": name}, data=b"<d/>", content_type="text/xml"
        )
        assert parse_options_header(disposition(answer)) == parse_options_header(told)
    answer = caller.post("/v2/pdf", data=b"<d/>", content_type="text/xml")
    assert disposition(answer) == 'inline; filename="own.pdf"'


def test_the_pdf_of_a_job_has_the_filename_of_the_request(caller, worker):
    headers = {"Idempotency-Key": "one", "Content-Type": "text/xml"}
    answer = caller.post("/v2/pdf?filename=first", data=b"<d/>", headers=headers)
    assert disposition(answer) == 'inline; filename="first.pdf"'
    path = f"/v2/jobs/{answer.headers['X-Job-Id']}/pdf"
    assert disposition(caller.get(f"{path}?filename=second")) == 'inline; filename="second.pdf"'
    assert disposition(caller.get(path)) == 'inline; filename="example.pdf"'


@pytest.mark.parametrize("output", ["zip", "merged"])
def test_the_result_of_a_batch_has_the_filename_of_the_request(caller, numbered, slices, output):  # noqa: F811
    batch_id = accept(caller, numbered, numbers(2), output=output)
    slices.work_off()
    path = f"/v2/batches/{batch_id}/result"
    kind, extension = {"zip": ("attachment", "zip"), "merged": ("inline", "pdf")}[output]
    assert disposition(caller.get(path)) == f'{kind}; filename="{batch_id}.{extension}"'
    named = disposition(caller.get(f"{path}?filename=run 7"))
    assert named == f'{kind}; filename="run 7.{extension}"'
    japanese = disposition(caller.get(path, query_string={"filename": "請求書"}))
    assert f'filename="{batch_id if output == "zip" else "example"}.{extension}"' in japanese
    if output == "zip":
        item = f"/v2/jobs/job_{batch_id.removeprefix('batch_')}-0/pdf?filename=one"
        assert disposition(caller.get(item)) == 'inline; filename="one.pdf"'


@pytest.mark.parametrize(
    "name",
    [
        "", "a" * 201, "a/b", "a\\b", 'a"b', "a\r\nSet-Cookie: x", "a\0b", "..", ".pdf", " a",
        "a.", "a\u202eb",
    ],
)  # fmt: skip
def test_an_unsafe_filename_is_rejected(caller, name):
    for answer in (
        caller.post("/v2/pdf", query_string={"filename": name}, data=b"<d/>"),
        caller.get(f"/v2/jobs/job_{'a' * 24}/pdf", query_string={"filename": name}),
        caller.get(f"/v2/batches/batch_{'a' * 24}/result", query_string={"filename": name}),
    ):
        assert answer.status_code == 400
        assert "filename" in answer.json["message"]
