"""Heads of requests and of answers that have nothing to do with what is asked for."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    "host", ["localhost", "pdf.example.org:8443", "[::1]:80", "", "_x.internal"]
)
def test_any_host_is_answered(stranger, host):
    assert stranger.get("/healthz", headers={"Host": host}).json == {"status": "alive"}


def test_a_head_has_the_length_of_its_body_and_no_cookie(stranger):
    answer = stranger.head("/healthz")
    assert (answer.data, answer.headers["Content-Length"]) == (b"", "18")
    assert "Set-Cookie" not in answer.headers
