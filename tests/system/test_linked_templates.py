"""A template that extends another is rendered in each way, also while its parent changes."""

from __future__ import annotations

import io
import json

import pikepdf
import pytest

from tests.system.conftest import open_account

XML = {"Content-Type": "text/xml"}
JSON = {"Content-Type": "application/json"}
PARENT = """<document title="{{ name }}"><data><json>{ "name": "Ada" }</json></data>
<page size="A6"><header><p>COLOUR</p></header></page><flow><p>Dear {{ name }}</p><insert flow="text"/></flow>
<flow name="text"/></document>"""


@pytest.fixture(scope="module")
def author(farm):
    return open_account(farm, plan="paid")


def create(account, text):
    answer = account.request("POST", "/v2/templates?name=T", text.encode(), headers=XML)
    assert answer.status == 201
    return answer.json["id"]


@pytest.fixture(scope="module")
def child(author):
    parent = create(author, PARENT.replace("COLOUR", "red"))
    author.request("POST", f"/v2/templates/{parent}/versions", b"{}", headers=JSON)
    author.request(
        "PUT", f"/v2/templates/{parent}", PARENT.replace("COLOUR", "blue").encode(), headers=XML
    )
    text = '<document extends="PARENT@1"><flow name="text"><p>One page</p></flow></document>'
    return {
        "parent": parent,
        "pinned": create(author, text.replace("PARENT", parent)),
        "live": create(author, text.replace("PARENT@1", f"{parent}@live")),
    }


def title_of(pdf):
    with pikepdf.open(io.BytesIO(pdf)) as opened:
        assert len(opened.pages) == 1
        return str(opened.docinfo["/Title"])


def find_provenance(pdf):
    """Return the templates that the document was built on, each with its SHA-256."""
    with pikepdf.open(io.BytesIO(pdf)) as opened, opened.open_metadata() as packet:
        return packet["{urn:pressroom:provenance:1}builtOn"]


@pytest.mark.parametrize("which", ["pinned", "live"])
def test_a_waited_render_is_the_same_each_time(author, child, which):
    path = f"/v2/pdf?template={child[which]}"
    first, again = (author.request("POST", path, b'{"name": "Bo"}', headers=JSON) for _ in range(2))
    assert (first.status, title_of(first.body)) == (200, "Bo")
    assert first.body == again.body
    [parent] = find_provenance(first.body)
    assert parent.startswith(child["parent"])


def test_documents_of_a_batch_extend_their_parent(author, child):
    lines = "\n".join(json.dumps({"name": f"N{number}"}) for number in range(20)).encode()
    path = f"/v2/batches?template={child['live']}&output=merged"
    made = author.request("POST", path, lines, headers={"Content-Type": "application/x-ndjson"})
    batch = author.request("GET", f"/v2/batches/{made.json['id']}?wait=40").json
    assert (batch["status"], batch["succeeded"], batch["failed"]) == ("finished", 20, 0)
