"""Responses, call by call: status and shape of every response."""

from __future__ import annotations

from msgspec.structs import replace


def test_authcheck_names_the_account(caller, account):
    answer = caller.get("/v2/authcheck")
    assert set(answer.json) == {"status"}
    assert account.account_id in answer.json["status"]


def test_the_default_page_of_templates_is_100(caller):
    for n in range(101):
        caller.post(f"/v2/templates?name=T{n}")
    answer = caller.get("/v2/templates").json
    assert set(answer) == {"templates", "next_cursor"}
    assert len(answer["templates"]) == 100


def test_an_image_over_50_mb_is_413(caller):
    answer = caller.put(
        "/v2/images/logo",
        content_type="image/png",
        environ_overrides={"CONTENT_LENGTH": str(50 * 1024 * 1024 + 1)},
    )
    assert answer.status_code == 413


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
