"""Time stamps of signatures by a time-stamp authority (RFC 3161), by the optional library pyHanko (decision 395)."""

from __future__ import annotations

from http import HTTPStatus
from typing import Final
from urllib.parse import SplitResult, urlsplit

import aiohttp
from asn1crypto import core, tsp
from pyhanko.sign.timestamps import TimeStamper, TimestampRequestError

TIMEOUT_SECONDS: Final = 15
MAX_RESPONSE_BYTES: Final = 256 * 1024  # a token with a chain of certificates has some 10 KB
_REQUEST: Final = "application/timestamp-query"
_RESPONSE: Final = "application/timestamp-reply"


class InvalidTimestampUrlError(ValueError):
    """The URL cannot be used; the message has the reason."""


class HttpTimeStamper(TimeStamper):
    """Requests time stamps over HTTP (RFC 3161, 3.4), without redirects, up to a size and a time."""

    def __init__(self, url: str) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # the library's
        self._url = check_timestamp_url(url)

    async def async_request_tsa_response(self, req: tsp.TimeStampReq) -> tsp.TimeStampResp:
        """Return the response of the authority, which stamps what was sent.

        Raises:
            TimestampRequestError: the authority cannot be reached, or its answer is not for the request.
        """
        answer = await _post(self._url, req.dump())
        try:
            return _read_response(answer, req)
        except (ValueError, TypeError, LookupError, AttributeError) as error:
            raise TimestampRequestError("the answer of the time-stamp server is damaged") from error


def _read_response(content: bytes, req: tsp.TimeStampReq) -> tsp.TimeStampResp:
    # The library's response needs a token, which a refusal has not (RFC 3161, 2.4.2).
    status = tsp.PKIStatusInfo.load(core.Sequence.load(content)[0].dump())["status"].native
    if status != "granted":
        raise TimestampRequestError(f"the time-stamp server refused the request ({status})")
    response = tsp.TimeStampResp.load(content)
    info = response["time_stamp_token"]["content"]["encap_content_info"]["content"].parsed
    # The library compares the nonce alone.
    for member in ("message_imprint", "nonce"):
        if info[member].dump() != req[member].dump():
            raise TimestampRequestError("the time stamp is for another request")
    return response


def check_timestamp_url(url: str) -> str:
    """Return a URL that time stamps can be requested from.

    Raises:
        InvalidTimestampUrlError: it is no http or https URL, or has a password, which others who list
            the processes of the machine would see.
    """
    parts = _split(url)
    if parts is None or parts.scheme not in ("http", "https") or not parts.hostname:
        raise InvalidTimestampUrlError(
            f"the URL of the time-stamp server must begin with http:// or https://: {url[:200]!r}"
        )
    if parts.username is not None or parts.password is not None:
        raise InvalidTimestampUrlError(
            "the URL of the time-stamp server must have no name or password"
        )
    return url


def _split(url: str) -> SplitResult | None:
    try:
        return urlsplit(url)
    except ValueError:  # half an address of IPv6
        return None


async def _post(url: str, content: bytes) -> bytes:
    headers = {"Content-Type": _REQUEST, "Accept": _RESPONSE}
    timeout = aiohttp.ClientTimeout(total=TIMEOUT_SECONDS)
    try:
        async with (
            aiohttp.ClientSession(timeout=timeout, auto_decompress=False) as session,
            session.post(url, data=content, headers=headers, allow_redirects=False) as answer,
        ):
            media = answer.content_type
            if answer.status != HTTPStatus.OK or media != _RESPONSE:
                raise TimestampRequestError(
                    f"the time-stamp server answered {answer.status} with {media[:100]}, "
                    f"not 200 with {_RESPONSE}"
                )
            return await _read(answer)
    except (aiohttp.ClientError, TimeoutError) as error:
        raise TimestampRequestError(
            f"the time-stamp server cannot be reached: {type(error).__name__}"
        ) from error


async def _read(answer: aiohttp.ClientResponse) -> bytes:
    content = b""
    async for chunk in answer.content.iter_chunked(16 * 1024):
        content += chunk
        if len(content) > MAX_RESPONSE_BYTES:
            raise TimestampRequestError(
                f"the answer of the time-stamp server has more than {MAX_RESPONSE_BYTES:,} bytes"
            )
    return content
