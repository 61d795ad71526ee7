"""`pressroom sign --timestamp-url` has the time of a signature attested by a time-stamp authority."""

from __future__ import annotations

import asyncio
import io
import socket
from collections.abc import Callable, Iterator
from datetime import timedelta

import pytest
from asn1crypto import tsp
from pyhanko.pdf_utils.reader import PdfFileReader
from pyhanko.sign.timestamps import DummyTimeStamper
from pyhanko.sign.validation import validate_pdf_signature
from pyhanko_certvalidator import ValidationContext

from shared import clock
from tests.deploy.test_signing import ARCHIVE, TWO, sign
from tests.deploy.test_verifying import Authority
from tests.engine.finish.archive_rules import find_violations as find_archive_violations
from tests.engine.paint.test_form_fields import made
from tests.servers import Answer, Server
from workers.signer.signing import MAX_RESPONSE_BYTES

__all__ = ["sign"]  # a fixture

HEAD = b"HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %d\r\nConnection: close\r\n\r\n"
REPLY = b"application/timestamp-reply"


@pytest.fixture(scope="module")
def authority(tmp_path_factory) -> Iterator[DummyTimeStamper]:
    """Yield what answers requests as an authority of the library's own tests does."""
    made = Authority(tmp_path_factory.mktemp("authority"))
    with made.server:
        yield made.stamper


def answering(stamp: Callable[[tsp.TimeStampReq], bytes]) -> Answer:
    def answer(connection: socket.socket, request: bytes) -> None:
        body = stamp(tsp.TimeStampReq.load(request.partition(b"\r\n\r\n")[2]))
        connection.sendall(HEAD % (b"200 OK", REPLY, len(body)) + body)

    return answer


def stamp(authority: DummyTimeStamper, request: tsp.TimeStampReq) -> bytes:
    return asyncio.run(authority.async_request_tsa_response(request)).dump()


def test_a_time_stamp_is_part_of_the_signature_and_valid(sign, authority):
    with Server(answering(lambda request: stamp(authority, request))) as server:
        signed = sign(made("<p>a</p>"), "--timestamp-url", server.url("/tsa"))
    assert all(one.startswith(b"POST /tsa ") for one in server.requests)
    assert b"application/timestamp-query" in server.requests[0]
    (one,) = PdfFileReader(io.BytesIO(signed)).embedded_signatures
    roots = [one.signer_cert, authority.tsa_cert]
    status = validate_pdf_signature(one, ValidationContext(trust_roots=roots, allow_fetching=False))
    assert status.bottom_line
    assert status.timestamp_validity.valid
    assert status.timestamp_validity.trusted
    assert abs(status.timestamp_validity.timestamp - clock.now()) < timedelta(minutes=5)


def test_an_archive_file_with_a_time_stamp_stays_one(sign, authority):
    pdf = made(f"<h1>T</h1>{TWO}", ARCHIVE)
    with Server(answering(lambda request: stamp(authority, request))) as server:
        signed = sign(pdf, "--field", "buyer", "--timestamp-url", server.url())
    assert find_archive_violations(signed, 3, signatures=1) == []


def of_another_request(authority: DummyTimeStamper, request: tsp.TimeStampReq) -> bytes:
    imprint = {"hash_algorithm": {"algorithm": "sha256"}, "hashed_message": b"x" * 32}
    changed = {"version": 1, "message_imprint": imprint, "cert_req": True}
    return stamp(authority, tsp.TimeStampReq(changed | {"nonce": request["nonce"]}))


def without_nonce(authority: DummyTimeStamper, request: tsp.TimeStampReq) -> bytes:
    kept = {name: request[name] for name in ("version", "message_imprint", "cert_req")}
    return stamp(authority, tsp.TimeStampReq(kept))


def without_token(status: int) -> bytes:
    """Return a response of a status alone, in DER: granted is 0, rejection 2."""
    return bytes([0x30, 5, 0x30, 3, 2, 1, status])


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (of_another_request, "the time stamp is for another request"),
        (without_nonce, "the time stamp is for another request"),
        (lambda *_: without_token(2), "refused the request (rejection)"),
        (lambda *_: b"", "the answer of the time-stamp server is damaged"),
        (lambda *_: b"0" * 500, "the answer of the time-stamp server is damaged"),
        (lambda *_: b"0" * (MAX_RESPONSE_BYTES + 1), "more than 262,144 bytes"),
        (lambda *_: without_token(0), "is damaged"),
    ],
    ids=["other", "no nonce", "refusal", "empty", "garbage", "large", "no token"],
)
def test_a_bad_time_stamp_is_an_error_and_nothing_is_written(
    sign, authority, tmp_path, answer, message
):
    with Server(answering(lambda request: answer(authority, request))) as server:
        printed = sign(made("<p>a</p>"), "--timestamp-url", server.url())
    assert message in printed
    assert "was not signed" in printed
    assert not (tmp_path / "a-signed.pdf").exists()


@pytest.mark.parametrize(
    ("head", "message"),
    [
        (HEAD % (b"500 Internal Server Error", REPLY, 0), "answered 500"),
        (HEAD % (b"200 OK", b"text/html", 0), "with text/html, not 200"),
        (
            b"HTTP/1.1 302 Found\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n",
            "answered 302",
        ),
        (b"nothing of HTTP", "cannot be reached"),
    ],
    ids=["error", "page", "redirect", "other protocol"],
)
def test_a_server_that_gives_no_time_stamp_is_an_error(sign, head, message):
    with Server(head) as server:
        printed = sign(made("<p>a</p>"), "--timestamp-url", server.url())
    assert message in printed
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("ftp://example.org/", "must begin with http:// or https://"),
        ("file:///etc/passwd", "must begin with http:// or https://"),
        ("example.org/tsa", "must begin with http:// or https://"),
        ("http://", "must begin with http:// or https://"),
        ("http://[::1", "must begin with http:// or https://"),
        ("https://me:secret@example.org/", "must have no name or password"),
    ],
)
def test_other_urls_are_refused(sign, url, message):
    assert message in sign(made("<p>a</p>"), "--timestamp-url", url)
