"""/v2/templates: storage, validation and visibility."""

from __future__ import annotations

import re
from hashlib import sha256

import pytest

from api.app import create_app
from shared.jobs.records import BodyKind, Purpose
from tests.conftest import with_settings
from workers.render.inspection import INSPECTORS, inspect

XML = {"Content-Type": "application/xml"}


def make(caller, content=b"<document/>", name="Letter"):
    return caller.post("/v2/templates", query_string={"name": name}, data=content, headers=XML)


def test_a_template_is_created_and_read(caller, account):
    made = make(caller)
    assert made.status_code == 201
    record = made.json
    assert re.fullmatch(r"[a-z0-9]{20}", record["id"])
    assert made.headers["Location"] == f"/v2/templates/{record['id']}"
    user = {"id": account.user.id, "name": "Ada", "email": "ada@example.org"}
    assert record["name"] == "Letter"
    assert record["versions"] == 0
    assert record["sha256"] == sha256(b"<document/>").hexdigest()
    assert record["created_by"] == record["updated_by"] == user
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", record["created_at"])
    read = caller.get(f"/v2/templates/{record['id']}")
    assert read.status_code == 200
    assert record.pop("findings") is None  # no worker has reported
    assert read.json == record | {"content": "<document/>"}
    assert caller.get(f"/v2/templates/{record['id']}@live").json == read.json


def test_a_deleted_template_is_gone(caller):
    template_id = make(caller).json["id"]
    deleted = caller.delete(f"/v2/templates/{template_id}")
    assert (deleted.status_code, deleted.data) == (204, b"")
    for answer in (
        caller.get(f"/v2/templates/{template_id}"),
        caller.delete(f"/v2/templates/{template_id}"),
        caller.put(f"/v2/templates/{template_id}", data=b"<d/>", headers=XML),
    ):
        assert answer.status_code == 404
        assert answer.json["data"]["code"] == "ERR_TEMPLATE_NOT_FOUND"


def test_templates_are_listed_by_id_in_pages(caller):
    ids = sorted(make(caller, name=f"T{n}").json["id"] for n in range(5))
    first = caller.get("/v2/templates?limit=3").json
    assert [record["id"] for record in first["templates"]] == ids[:3]
    assert first["next_cursor"] == ids[2]
    rest = caller.get(f"/v2/templates?limit=2&start_after={first['next_cursor']}").json
    assert [record["id"] for record in rest["templates"]] == ids[3:]
    assert "next_cursor" not in rest


@pytest.mark.parametrize("reference", ["a.b", "__x__", "a@b@c", "x@00", "a" * 129, "a@live-"])
def test_a_malformed_reference_is_a_400(caller, reference):
    answer = caller.get(f"/v2/templates/{reference}")
    assert answer.status_code == 400
    assert reference[:100] in answer.json["message"]


@pytest.mark.parametrize("path", ["a@live", "a@1"])
def test_a_write_takes_no_selector(caller, path):
    assert caller.put(f"/v2/templates/{path}", data=b"<d/>", headers=XML).status_code == 400
    assert caller.delete(f"/v2/templates/{path}").status_code == 400


@pytest.mark.parametrize(
    ("query", "word"),
    [("limit=0", "limit"), ("limit=1001", "limit"), ("limit=ten", "limit"), ("limit=%C2%B2", "limit"),
     ("start_after=a.b", "start_after"), ("page=2", "page"), ("limit=1&limit=2", "limit")],
)  # fmt: skip
def test_an_invalid_list_parameter_is_named(caller, query, word):
    answer = caller.get(f"/v2/templates?{query}")
    assert answer.status_code == 400
    assert word in answer.json["message"]


@pytest.mark.parametrize("name", [None, "", "a\nb", "x" * 201])
def test_a_name_is_required_and_printable(caller, name):
    query = {} if name is None else {"name": name}
    answer = caller.post("/v2/templates", query_string=query, data=b"<d/>", headers=XML)
    assert answer.status_code == 400
    assert "name" in answer.json["message"]


@pytest.mark.parametrize(
    ("content", "kept"),
    [
        (b"<?xml version='1.0'?>\n<d/>", "<d/>"),
        (b"\xef\xbb\xbf<?xml version='1.0' encoding='UTF-8'?><d>\xc3\xa9</d>", "<d>é</d>"),
        ("<?xml version='1.0' encoding='ISO-8859-1'?><d>é</d>".encode("latin-1"), "<d>é</d>"),
        ("\ufeff<?xml version='1.0' encoding='UTF-16'?><d>é</d>".encode("utf-16-le"), "<d>é</d>"),
        ("<?xml version='1.0' encoding='utf-16'?><d>é</d>".encode("utf-16-be"), "<d>é</d>"),
        (b"<!-- c --><d/>\n", "<!-- c --><d/>\n"),
        ("<d>𝒳</d>".encode(), "<d>𝒳</d>"),
    ],
)
def test_content_in_any_encoding_is_stored_as_text_without_declaration(caller, content, kept):
    template_id = make(caller, content).json["id"]
    assert caller.get(f"/v2/templates/{template_id}").json["content"] == kept


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"<d>\n <e>\n</d>", ["line 3", "column"]),
        (b"   ", ["line 1", "column"]),
        (b"<d/><e/>", ["line 1, column 5"]),
        (b"<!DOCTYPE d><d/>", ["document type", "line 1"]),
        (b"<!DOCTYPE d [<!ENTITY a 'x'>]><d>&a;</d>", ["document type"]),
        (b"<!DOCTYPE d SYSTEM 'file:///etc/passwd'><d/>", ["document type"]),
        (b"<d>&nope;</d>", ["line 1"]),
        (b"<a>" * 20_000 + b"</a>" * 20_000, ["nested deeper than 10000", "line 1, column 30001"]),
        (b"<d>\x00</d>", ["line 1"]),
        (b"<d a='1' a='2'/>", ["duplicate attribute"]),
        (b"<d>\xff</d>", ["byte 4"]),
        (b"<?xml version='1.0' encoding='klingon'?><d/>", ["klingon", "accepted are UTF-8"]),
        (b"<?xml version='1.0' encoding='utf-32'?><d/>", ["utf-32", "accepted are UTF-8"]),
        ("<d/>".encode("utf-32"), ["utf-32", "accepted are UTF-8"]),
        (b"<?xml version='1.0' encoding='idna'?><d/>", ["idna"]),
    ],
    ids=lambda value: repr(value[:40]) if isinstance(value, bytes) else "",
)
def test_content_that_is_not_well_formed_is_rejected_with_its_position(caller, content, words):
    answer = make(caller, content)
    assert answer.status_code == 400
    for word in words:
        assert word in answer.json["message"]
    template_id = make(caller).json["id"]
    put = caller.put(f"/v2/templates/{template_id}", data=content, headers=XML)
    assert put.status_code == 400
    assert caller.get(f"/v2/templates/{template_id}").json["content"] == "<document/>"


def test_a_large_template_is_checked_by_a_worker(caller, worker):
    worker.answer = lambda job: inspect(job, worker.claims.load(job.body), INSPECTORS)
    large = b"<d>" + b"<p/>" * 60_000
    assert make(caller, large + b"</d>").status_code == 201
    refused = make(caller, large + b"</e>")
    assert refused.status_code == 400
    assert "mismatched tag, at line 1, column 240006" in refused.json["message"]
    kinds = [(job.purpose, job.body_kind) for job in worker.jobs]
    assert kinds == [(Purpose.INSPECT, BodyKind.TEMPLATE)] * 2


def test_a_large_template_without_a_worker_is_a_503(ports, account):
    client = create_app(with_settings(ports, render_budget=0.3)).test_client()
    client.environ_base["HTTP_X_API_KEY"] = account.api_key
    answer = make(client, b"<d>" + b"<p/>" * 60_000 + b"</d>")
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "10")
