"""Request and response headers that do not depend on the resource."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    "host", ["localhost", "pdf.example.org:8443", "[::1]:80", "", "_x.internal"]
)
def test_any_host_is_accepted(stranger, host):
    assert stranger.get("/healthz", headers={"Host": host}).json == {"status": "alive"}


def test_a_head_response_has_the_content_length_and_no_cookie(stranger):
    answer = stranger.head("/healthz")
    assert (answer.data, answer.headers["Content-Length"]) == (b"", "18")
    assert "Set-Cookie" not in answer.headers


@pytest.mark.parametrize(
    "path", ["/", "/docs", "/studio/", "/healthz", "/v2/authcheck", "/nowhere"]
)
def test_every_response_forbids_frames_and_keeps_to_tls(stranger, path):
    headers = stranger.get(path, headers={"Accept": "text/html"}).headers
    assert headers["X-Frame-Options"] == "DENY"
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
    assert headers["Strict-Transport-Security"] == "max-age=31536000"
