"""POST /v2/pdf against the real queue, with a scripted worker behind it."""

from __future__ import annotations

import pytest

from api.app import create_app
from shared.errors import ErrorBody, ErrorCode, ErrorKind
from shared.jobs.records import Allowance, BodyKind, RenderJob, RenderOutput
from shared.limits import MB
from shared.queue.commits import failed_outcome
from tests.conftest import with_settings

XML = {"Content-Type": "application/xml"}


@pytest.fixture
def template(caller) -> str:
    answer = caller.post("/v2/templates?name=Letter", data=b"<document/>", headers=XML)
    template_id: str = answer.json["id"]
    return template_id


def test_a_complete_document_is_rendered(caller, worker):
    answer = caller.post("/v2/pdf", data=b"<document/>", headers=XML)
    assert answer.status_code == 200
    assert answer.data == worker.pdf
    assert answer.headers["Content-Type"] == "application/pdf"
    assert answer.headers["Content-Disposition"] == 'inline; filename="example.pdf"'
    assert answer.headers["X-Page-Count"] == "1"
    assert answer.headers["X-Job-Id"] == worker.jobs[0].id
    assert answer.headers["Server-Timing"] == (
        "queue;dur=1.0, merge;dur=2.0, layout;dur=3.2, finish;dur=4.0"
    )
    assert worker.bodies == [b"<document/>"]


@pytest.mark.parametrize(
    ("media", "kind"),
    [
        ("application/xml", BodyKind.XML),
        ("text/xml; charset=ISO-8859-1", BodyKind.XML),
        ("text/plain", BodyKind.XML),
        ("application/json", BodyKind.JSON),
        ("TEXT/CSV;charset=windows-1252", BodyKind.CSV),
        ("text/markdown", BodyKind.MARKDOWN),
    ],
)
def test_the_content_type_determines_the_kind_of_body(caller, worker, template, media, kind):
    answer = caller.post(f"/v2/pdf?template={template}", data=b"x", content_type=media)
    assert answer.status_code == 200
    (job,) = worker.jobs
    assert job.body_kind is kind
    assert job.template.template_id == template


def test_the_job_contains_all_that_the_worker_needs(caller, worker, template, account, ports):
    caller.post(
        f"/v2/pdf?template_id={template}@live&flow=intro&draft=true",
        data="# Héllo".encode("latin-1"),
        content_type="text/markdown; charset=latin1",
    )
    (job,) = worker.jobs
    assert job.workspace_id == account.workspace_id
    assert job.meter.account_id == account.account_id
    assert job.meter.allowance is Allowance.DRAFT
    assert job.meter.cap == 10
    assert (job.flow, job.charset) == ("intro", "iso8859-1")
    assert job.deadline - job.admitted_at == ports.settings.render_budget


def test_markdown_replaces_the_body_flow_by_default(caller, worker, template):
    caller.post(f"/v2/pdf?template={template}", data="# Hi", content_type="text/markdown")
    assert worker.jobs[0].flow == "body"


@pytest.mark.parametrize("draft", ["false", "True", "1", "", "TRUE", "true "])
def test_only_the_exact_value_true_renders_a_draft(caller, worker, draft):
    caller.post("/v2/pdf", query_string={"draft": draft}, data=b"<document/>", headers=XML)
    assert worker.jobs[0].meter.allowance is Allowance.PRODUCTION


@pytest.mark.parametrize(
    ("query", "media", "words"),
    [
        ("template=a&template_id=b", "application/json", ["template", "template_id", "'a'", "'b'"]),
        ("flow=body", "application/json", ["flow", "text/markdown", "application/json"]),
        ("flow=body", "image/png", ["flow", "text/markdown"]),
        ("template=abc&flow=", "text/markdown", ["flow"]),
        ("template=", "application/json", ["template", "''"]),
        ("template=a@", "application/json", ["a@"]),
        ("template=a@0", "application/json", ["a@0", "@<number>"]),
        ("template=__x__", "application/json", ["__x__"]),
        ("template=a%2Fb", "application/json", ["a/b"]),
        ("template=a&template=a", "application/json", ["template", "twice"]),
        ("tempalte=a", "application/json", ["tempalte", "template, template_id, flow, draft"]),
        ("", "application/json", ["template query parameter is required", "JSON"]),
        ("", "text/csv", ["template query parameter is required", "CSV"]),
        ("", "text/markdown", ["template query parameter is required", "Markdown"]),
    ],
)
def test_an_invalid_parameter_is_named(caller, query, media, words):
    answer = caller.post(f"/v2/pdf?{query}", data=b"x", content_type=media)
    assert answer.status_code == 400
    for word in words:
        assert word in answer.json["message"]


@pytest.mark.parametrize(
    "media",
    [
        "application/pdf", "multipart/form-data; boundary=x", "application/x-www-form-urlencoded",
        "text/html", "text/xml; charset=utf-7", "text/xml; charset=utf-32",
        "text/xml; charset=rot13",
    ],
)  # fmt: skip
def test_another_type_is_rejected_and_the_accepted_are_named(caller, media):
    answer = caller.post("/v2/pdf", data=b"<document/>", content_type=media)
    assert answer.status_code == 415
    assert "accepted are" in answer.json["message"]


@pytest.mark.parametrize("coding", ["br", "deflate", "zstd", "gzip, gzip", "x" * 4000])
def test_an_encoding_other_than_gzip_is_rejected(caller, coding):
    answer = caller.post("/v2/pdf", data=b"x", headers=XML | {"Content-Encoding": coding})
    assert (answer.status_code, answer.headers["Accept-Encoding"]) == (415, "gzip")
    assert "accepted is gzip" in answer.json["message"]


def test_an_empty_body_is_rejected(caller):
    assert caller.post("/v2/pdf", data=b"", headers=XML).status_code == 400


def test_the_largest_body_is_what_the_operator_sets(caller, set_limits, worker):
    set_limits(body_mb=1)
    answer = caller.post("/v2/pdf", data=b" " * (MB + 1), headers=XML)
    assert (answer.status_code, "1 MB" in answer.json["message"]) == (413, True)


@pytest.mark.long
def test_a_slow_render_ends_at_its_budget_and_is_not_metered(caller, worker, ports, account):
    # The worker takes the job within the budget, however busy the machine is: else it is a 503.
    hasty = create_app(with_settings(ports, render_budget=5.0)).test_client()
    worker.answer = lambda job: None
    answer = hasty.post(
        "/v2/pdf", data=b"<document/>", headers=XML | {"x-api-key": account.api_key}
    )
    assert answer.status_code == 504
    assert answer.json["data"] == {"code": "ERR_RENDER_TIMEOUT"}
    assert caller.get("/v2/account/usage").json["apiCalls"] == 0


def test_an_authoring_error_of_the_worker_reaches_the_client(caller, worker):
    place = {"tagName": "p", "lineStart": 1, "lineEnd": 1, "columnStart": 2, "columnEnd": 9}
    worker.answer = lambda job: failed_outcome(
        job, ErrorBody(400, "Unknown element", ErrorKind.AUTHORING, stack_trace=(place,))
    )
    answer = caller.post("/v2/pdf", data=b"<document/>", headers=XML)
    assert answer.status_code == 400
    assert answer.json["message"] == "Unknown element"
    assert answer.json["stackTrace"] == [place]


def test_an_allowance_used_up_while_rendering_is_a_402(caller, worker):
    worker.answer = lambda job: failed_outcome(
        job,
        ErrorBody(
            402, "used up", ErrorKind.QUOTA, ErrorCode.QUOTA_EXCEEDED, {"cap": 100, "usage": 100}
        ),
    )
    answer = caller.post("/v2/pdf", data=b"<document/>", headers=XML)
    assert answer.status_code == 402
    assert answer.json["data"] == {"code": "ERR_QUOTA_EXCEEDED", "cap": 100, "usage": 100}


def test_a_used_up_allowance_is_rejected_before_queueing(caller, worker):
    worker.answer = lambda job: worker.succeed(job, pages=100)
    assert caller.post("/v2/pdf", data=b"<document/>", headers=XML).status_code == 200
    answer = caller.post("/v2/pdf", data=b"<document/>", headers=XML)
    assert answer.status_code == 402
    assert answer.json["data"] == {"code": "ERR_QUOTA_EXCEEDED", "cap": 100, "usage": 100}
    assert caller.post("/v2/pdf?draft=true", data=b"<d/>", headers=XML).status_code == 200
    assert len(worker.jobs) == 2


BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"


@pytest.mark.parametrize(
    ("accept", "output"),
    [
        ("application/xml", RenderOutput.INVOICE),
        ("Application/XML", RenderOutput.INVOICE),
        ("text/xml;q=0.5, application/json", RenderOutput.INVOICE),
        ("application/xml, application/pdf;q=0", RenderOutput.INVOICE),
        ("application/xml;q=0", RenderOutput.PDF),
        ("application/xml, application/pdf;q=0.1", RenderOutput.PDF),
        (BROWSER, RenderOutput.PDF),
        ("application/*", RenderOutput.PDF),
        ("application/json", RenderOutput.PDF),
        ("", RenderOutput.PDF),
    ],
)
def test_accept_asks_for_the_xml_of_the_invoice(caller, worker, accept, output):
    headers = {**XML, "Accept": accept}
    answer = caller.post("/v2/pdf?filename=bill.pdf", data=b"<document/>", headers=headers)
    assert answer.status_code == 200
    assert worker.jobs[0].output is output
    assert RenderJob.decode(worker.jobs[0].encode()).output is output
    assert "Accept" in answer.headers["Vary"]
    kind, disposition = {
        RenderOutput.PDF: ("application/pdf", 'inline; filename="bill.pdf"'),
        RenderOutput.INVOICE: ("application/xml", 'attachment; filename="bill.xml"'),
    }[output]
    assert answer.headers["Content-Type"] == kind
    assert answer.headers["Content-Disposition"] == disposition


@pytest.mark.parametrize(
    ("query", "headers"),
    [
        ("?draft=true", {}),
        ("", {"Prefer": "respond-async"}),
        ("", {"Idempotency-Key": "a-key-of-the-client"}),
    ],
)
def test_the_xml_is_refused_where_it_would_be_a_draft_or_stored(caller, worker, query, headers):
    asked = {**XML, **headers, "Accept": "application/xml"}
    answer = caller.post(f"/v2/pdf{query}", data=b"<document/>", headers=asked)
    assert answer.status_code == 400
    assert "application/pdf" in answer.json["message"]
    assert not worker.jobs
