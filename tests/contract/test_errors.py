"""Errors and limits: the body of every failure, and the identifiers that paths accept."""

from __future__ import annotations

import re

import pytest

from shared.errors import ErrorCode

TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\Z")
FAILURES = [
    ("POST", "/v2/pdf", 415),
    ("GET", "/v2/authcheck?surprise=1", 400),
    ("GET", "/v2/account/usage?date=never", 400),
    ("GET", "/v2/templates/abcdefghij0123456789", 404),
    ("GET", "/v2/templates/abcdefghij0123456789/versions", 404),
    ("GET", "/v2/templates/abcdefghij0123456789/tags/none/history", 404),
    ("DELETE", "/v2/slugs/missing", 404),
    ("GET", "/v2/slugs/service-x", 400),
    ("GET", "/v2/images/missing", 404),
    ("PUT", "/v2/images/logo", 415),
]


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [*FAILURES, ("GET", "/v2/nowhere", 404), ("POST", "/v2/authcheck", 405)],
)
def test_every_error_body_has_status_message_and_timestamp(caller, method, path, status):
    check_failure(caller.open(path, method=method), status)


@pytest.mark.parametrize(("method", "path"), [failure[:2] for failure in FAILURES])
def test_without_a_key_every_endpoint_answers_401_without_a_code(stranger, method, path):
    answer = stranger.open(path, method=method)
    check_failure(answer, 401)
    assert "data" not in answer.json


def check_failure(answer, status):
    assert answer.status_code == status
    assert answer.content_type.startswith("application/json")
    body = answer.json
    assert set(body) - {"data"} == {"statusCode", "message", "timestamp"}
    assert body["statusCode"] == status
    assert body["message"]
    assert TIMESTAMP.match(body["timestamp"])
    assert set(body.get("data", {})) <= {"code", "cap", "usage"}
    assert body.get("data", {}).get("code") in {None, *ErrorCode}


@pytest.mark.parametrize("rest", ["versions", "versions/1", "tags", "tags/a", "tags/a/history"])
def test_a_template_id_of_another_form_is_a_400(caller, rest):
    for template_id in ("a" * 129, "__a__", "____", "a.b", "a%20b", "ä"):
        answer = caller.get(f"/v2/templates/{template_id}/{rest}")
        assert answer.status_code == 400, template_id
        assert "template" in answer.json["message"].lower()


def test_a_template_id_of_1_to_128_characters_is_looked_up(caller):
    for template_id in ("a", "a" * 128, "A_b-9", "__a", "a__"):
        answer = caller.get(f"/v2/templates/{template_id}/versions")
        assert answer.status_code == 404, template_id
        assert answer.json["data"]["code"] == ErrorCode.TEMPLATE_NOT_FOUND
