"""Temporary errors are retried with the requested delay; others are raised at once."""

from __future__ import annotations

import io
import time

import pytest

from pressroom_client import ApiError, Document, FarmUnreachable, Pressroom
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
    "refusal", [LIMITED, AWAY, UNDER_WAY, b""], ids=["429", "503", "409", "cut"]
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
    assert time.monotonic() - begun_at >= (1 if refusal else 0.4)
    keys = [
        line
        for request in server.requests
        for line in request.lower().split(b"\r\n")
        if line.startswith(b"idempotency-key: ")
    ]
    assert len(keys) == 2
    assert keys[0] == keys[1]


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
