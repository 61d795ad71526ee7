"""Temporary errors are retried with the requested delay; others are raised at once."""

from __future__ import annotations

import io
import time
import typing

import pytest

from pressroom_client import ApiError, Document, ErrorKind, FarmUnreachable, Pressroom
from pressroom_client.client import find_batch_type
from pressroom_client.transport import Transport

LIMITED = (
    b"HTTP/1.1 429 Too Many Requests\r\nRetry-After: 1\r\nContent-Length: 2\r\n"
    b"Connection: close\r\n\r\n{}"
)
AWAY = (
    b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Length: 2\r\n"
    b"Connection: close\r\n\r\n{}"
)
UNDER_WAY = LIMITED.replace(b"429 Too Many Requests", b"409 Conflict")
_TAKEN = b'{"statusCode":409,"message":"taken","data":{"code":"ERR_SLUG_TAKEN"}}'
TAKEN = (
    b"HTTP/1.1 409 Conflict\r\nContent-Length: %d\r\nConnection: close\r\n\r\n" % len(_TAKEN)
    + _TAKEN
)
PDF = (
    b"HTTP/1.1 200 OK\r\nContent-Type: application/pdf\r\nContent-Length: 4\r\nX-Page-Count: 3\r\n"
    b"X-Job-Id: job_1\r\nServer-Timing: queue;dur=1.5, layout;dur=20.0\r\n"
    b"X-Warning-Count: 4\r\nX-Warning-Codes: unknown-member, missing-glyph\r\n"
    b"Content-Disposition: inline; filename=\"Rechnung.pdf\"; filename*=UTF-8''%C3%9Cber.pdf\r\n"
    b"Connection: close\r\n\r\n%PDF"
)


def script(serve, *answers: bytes):
    """Serve the answers one after the other; an empty one breaks the connection off."""
    left = iter(answers)
    return serve(lambda connection, _: connection.sendall(next(left)))


@pytest.mark.long
@pytest.mark.parametrize(
    "refusal", [LIMITED, AWAY, UNDER_WAY, b"", PDF[:-1]], ids=["429", "503", "409", "cut", "short"]
)
def test_a_temporary_error_is_retried(serve, refusal) -> None:
    server = script(serve, refusal, PDF)
    begun_at = time.monotonic()
    rendered = Pressroom(server.url(""), "pr_1").render(data={"n": 1}, template="t")
    assert rendered.pdf == b"%PDF"
    assert rendered.pages == 3
    assert rendered.filename == "Über.pdf"
    assert rendered.timings == {"queue": 1.5, "layout": 20.0}
    assert rendered.warning_count == 4
    assert rendered.warning_codes == ("unknown-member", "missing-glyph")
    assert time.monotonic() - begun_at >= (1 if b"Retry-After" in refusal else 0)
    keys = [
        line
        for request in server.requests
        for line in request.lower().split(b"\r\n")
        if line.startswith(b"idempotency-key: ")
    ]
    assert len(keys) == 2
    assert keys[0] == keys[1]


@pytest.mark.parametrize("refusal", [b"", AWAY], ids=["cut", "503"])
def test_a_call_without_a_key_is_not_done_twice(serve, refusal) -> None:
    """A reprint, or the XML of an invoice, is metered each time; one that is refused was not done."""
    server = script(serve, refusal, PDF)
    with Pressroom(server.url(""), "pr_1") as farm:
        if refusal:
            assert farm.render_invoice("<document/>") == b"%PDF"
            return
        with pytest.raises(FarmUnreachable):
            farm.reprint("batch_1", first=0, last=9)
    assert len(server.requests) == 1


def test_a_permanent_error_is_raised_at_once(serve) -> None:
    server = script(serve, TAKEN)
    with pytest.raises(ApiError, match="taken") as refused:
        Pressroom(server.url(""), "pr_1").check()
    assert (refused.value.status, refused.value.code) == (409, "ERR_SLUG_TAKEN")
    assert len(server.requests) == 1


@pytest.mark.long
def test_the_error_of_the_last_attempt_is_raised(serve) -> None:
    server = script(serve, LIMITED, LIMITED)
    with pytest.raises(ApiError) as refused:
        Pressroom(server.url(""), "pr_1", attempts=2).check()
    assert refused.value.status == 429


@pytest.mark.long
def test_an_unreachable_farm_is_reported() -> None:
    with pytest.raises(FarmUnreachable, match="cannot be reached"):
        Pressroom("http://127.0.0.1:9", "pr_1", attempts=2).check()


def test_an_error_response_that_is_not_json_is_still_an_api_error(serve) -> None:
    page = b"<html>Bad gateway</html>"
    head = b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: %d\r\nConnection: close\r\n\r\n"
    server = script(serve, head % len(page) + page)
    with pytest.raises(ApiError, match="502"):
        Pressroom(server.url(""), "pr_1").check()


def test_a_redirect_is_an_error_that_tells_the_address(serve) -> None:
    moved = (
        b"HTTP/1.1 301 Moved\r\nLocation: https://farm.example/v2/pdf\r\nContent-Length: 0\r\n\r\n"
    )
    farm = Pressroom(script(serve, moved).url(""), "pr_1")
    with pytest.raises(ApiError, match="redirected to https://farm"):
        farm.render("<document/>")


def test_a_key_may_end_with_the_line_break_of_its_file(serve) -> None:
    server = script(serve, PDF)
    transport = Transport(server.url(""), "pr_1\n", attempts=1, timeout_seconds=5)
    transport.request("GET", "/v2/x")
    assert b"authorization: bearer pr_1\r\n" in server.requests[0].lower()


@pytest.mark.long
def test_a_file_is_sent_again_from_its_start(serve) -> None:
    server = script(serve, AWAY, PDF)
    transport = Transport(server.url(""), "pr_1", attempts=2, timeout_seconds=5)
    transport.request("POST", "/v2/x", body=io.BytesIO(b"0123456789"))
    assert len(server.requests) == 2


def test_a_truncated_response_is_an_error(serve, tmp_path) -> None:
    cut = PDF.replace(b"Content-Length: 4", b"Content-Length: 40")
    server = script(serve, cut)
    with pytest.raises(FarmUnreachable):
        Pressroom(server.url(""), "pr_1").save_result("batch_1", tmp_path / "out.pdf")
    assert not (tmp_path / "out.pdf").exists()


def test_a_document_is_typed_by_its_suffix(tmp_path) -> None:
    for name, content_type in (("a.xml", "application/xml"), ("b.CSV", "text/csv")):
        (tmp_path / name).write_bytes(b"x")
        assert Document.read(tmp_path / name) == Document(b"x", content_type)
    with pytest.raises(ValueError, match=r"\.json"):
        Document.read(tmp_path / "c.yaml")
    with pytest.raises(ValueError, match=r"\.ndjson"):
        find_batch_type(tmp_path / "c.json")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"drat": True}, "unknown option 'drat'; did you mean 'draft'?"),
        ({"dta": {}}, "unknown option 'dta'; did you mean 'data'?"),
        ({"colour": 1}, "unknown option 'colour'; accepted are data, template, flow, "),
    ],
)
@pytest.mark.parametrize("call", ["render", "render_invoice", "validate", "submit"])
def test_an_option_that_does_not_exist_is_never_sent(call, options, message) -> None:
    with Pressroom("http://127.0.0.1:9", "pr_1") as farm, pytest.raises(TypeError) as refused:
        getattr(farm, call)("<document/>", template="t", **options)
    assert str(refused.value).startswith(message)


def test_a_preview_option_that_does_not_exist_is_never_sent() -> None:
    with pytest.raises(TypeError, match="did you mean 'payload'"):
        Pressroom("http://127.0.0.1:9", "pr_1").preview("t", paylod={})


def test_the_members_of_one_payload_are_no_batch() -> None:
    with pytest.raises(TypeError, match="got 'number'; accepted are payloads"):
        Pressroom("http://127.0.0.1:9", "pr_1").submit_batch("t", {"number": 1})


def test_a_document_and_data_exclude_each_other() -> None:
    farm = Pressroom("http://127.0.0.1:9", "pr_1")
    with pytest.raises(ValueError, match="neither a document nor data"):
        farm.render(template="t")
    with pytest.raises(ValueError, match="both a document and data"):
        farm.render("<document/>", data={})


@pytest.mark.parametrize(
    ("document", "content_type", "body"),
    [
        (" <document>é</document>", b"application/xml; charset=utf-8", "é".encode()),
        (b"<document>\xe9</document>", b"application/xml\r\n", b"\xe9"),
        (Document("a;b\né;1", "text/csv"), b"text/csv\r\n", "é".encode()),
    ],
)
def test_a_document_may_be_text_or_bytes(serve, document, content_type, body) -> None:
    server = script(serve, PDF)
    Pressroom(server.url(""), "pr_1").render(document)
    assert b"Content-Type: " + content_type in server.requests[0]
    assert body in server.requests[0]


@pytest.mark.parametrize("document", ["invoice.xml", "# Title", b"PK", 7])
def test_what_is_no_document_is_a_type_error_that_says_what_is(document) -> None:
    with pytest.raises(
        TypeError, match=r"accepted are the text of an XML document, Document\.read"
    ):
        Pressroom("http://127.0.0.1:9", "pr_1").render(document)


def test_every_error_has_a_kind() -> None:
    kinds = {status: ApiError(status, {}).kind for status in range(400, 600)}
    assert {kind for status, kind in kinds.items() if status in (400, 415, 422, 428)} == {
        "invalid_request"
    }
    assert [kinds[status] for status in (401, 402, 403, 404, 409, 413, 429)] == [
        "authentication", "quota", "forbidden", "not_found", "conflict", "too_large", "rate_limited"
    ]  # fmt: skip
    assert [kinds[status] for status in (500, 503, 504)] == ["internal", "unavailable", "timeout"]
    assert ApiError(400, {"stackTrace": [{"tagName": "p"}]}).kind == "authoring"
    assert set(kinds.values()) | {"authoring"} == set(typing.get_args(ErrorKind))


def test_a_client_closes_its_connections_and_opens_new_ones(serve) -> None:
    server = script(serve, PDF, PDF)
    with Pressroom(server.url(""), "pr_1") as farm:
        farm.render("<document/>")
    assert farm.render("<document/>").pages == 3
