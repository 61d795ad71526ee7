"""Cases are stored with a template, are those of its next version, and pass before it is approved."""

from __future__ import annotations

from hashlib import sha256
from io import BytesIO
from zipfile import ZipFile

import pytest
from sqlalchemy import func, select

from shared.auth.scopes import Scope
from shared.db.tables import template_cases
from tests.contract.test_guarded_tags import key_of

__all__ = ["key_of"]
ZIP = {"content_type": "application/zip"}


def pack(text: str) -> bytes:
    buffer = BytesIO()
    with ZipFile(buffer, "w") as archive:
        archive.writestr("one.case.json", text)
    return buffer.getvalue()


def digest_of(archive: bytes) -> str:
    return sha256(archive).hexdigest()


@pytest.fixture
def cases(template) -> str:
    return f"/v2/templates/{template}/cases"


def test_a_version_has_the_cases_it_was_published_with(caller, cases, publish, template, database):
    first, second = pack("1"), pack("2")
    assert publish("<d/>")["version"] == 1
    for archive in (pack("0"), first, first):
        stored = caller.put(cases, data=archive, **ZIP)
        assert stored.json == {"bytes": len(archive), "sha256": digest_of(archive)}
    assert publish("<d/>")["version"] == 2  # of other cases
    assert publish("<d/>")["version"] == 2
    caller.put(cases, data=second, **ZIP)
    live = caller.get(cases)
    assert (live.data, live.content_type) == (second, "application/zip")
    assert live.headers["ETag"] == f'"{digest_of(second)}"'
    assert caller.get(f"{cases}?version=2").data == first
    path = f"/v2/templates/{template}/versions"
    assert caller.get(f"{path}/2").json["cases_sha256"] == digest_of(first)
    assert "cases_sha256" not in caller.get(f"{path}/1").json
    assert caller.put(cases).json == {"bytes": 0}
    for query in ("", "?version=1", "?version=9"):
        assert caller.get(cases + query).status_code == 404
    assert caller.get(f"{cases}?version=2").data == first
    with database.snapshot() as session:
        assert session.scalar(select(func.count()).select_from(template_cases)) == 1


def test_what_is_no_zip_or_too_large_is_refused(caller, cases, other):
    for body, media, status in (
        (b"PK\x05\x06" + bytes(18), "application/zip", 400),
        (b"{}", "application/zip", 400),
        (pack("1"), "application/json", 415),
        (pack("1") + bytes(9_000_000), "application/zip", 413),
    ):
        assert caller.put(cases, data=body, content_type=media).status_code == status
    assert caller.get(f"{cases}?version=x").status_code == 400
    caller.put(cases, data=pack("1"), **ZIP)
    assert other.get(cases).status_code == 404
    assert other.put(cases, data=pack("2"), **ZIP).status_code == 404


def test_an_approval_needs_the_report_that_the_cases_passed(
    caller, cases, key_of, publish, template
):
    archive = pack("1")
    caller.put(cases, data=archive, **ZIP)
    assert publish("<d/>")["version"] == 1
    path = f"/v2/templates/{template}/versions/1"
    second = key_of(Scope.TEMPLATES)
    good = {"sha256": digest_of(archive), "passed": 3, "failed": 0}
    for report, told in (
        (None, "has stored cases: run them"),
        (good | {"sha256": digest_of(b"other")}, "not of the cases of version 1"),
        (good | {"failed": 1}, "failed: 1 of 4"),
        (good | {"passed": 0}, "failed: 0 of 0"),
    ):
        refused = second.put(f"{path}/approval", json={"cases": report} if report else {})
        assert (refused.status_code, told in refused.json["message"]) == (409, True), refused.json
    assert second.put(f"{path}/approval", json={"cases": {"passed": 3}}).status_code == 400
    tag = f"/v2/templates/{template}/tags/released"
    guarded = {"version": 1, "guarded": True}
    assert caller.put(tag, json=guarded).status_code == 409
    [entry] = second.put(f"{path}/approval", json={"cases": good}).json["approvals"]
    assert entry["cases_passed"] == 3
    assert caller.get(path).json["approvals"] == [entry]
    assert caller.put(tag, json=guarded).status_code == 200
    log = caller.get("/v2/audit").json["entries"]
    told = {each["action"]: each["details"] for each in log}
    assert told["version.approved"] == {"version": 1, "cases_passed": 3}
    assert told["cases.stored"] == {"sha256": digest_of(archive), "bytes": len(archive)}


def test_a_version_without_cases_takes_no_report(key_of, publish, template):
    assert publish("<d/>")["version"] == 1
    report = {"sha256": digest_of(b""), "passed": 1, "failed": 0}
    path = f"/v2/templates/{template}/versions/1/approval"
    second = key_of(Scope.TEMPLATES)
    assert second.put(path, json={"cases": report}).status_code == 409
    assert "cases_passed" not in second.put(path).json["approvals"][0]
