"""Versions, promise by promise."""

from __future__ import annotations

import itertools
import re
import threading
from hashlib import sha256
from xml.etree.ElementTree import fromstring

import pytest

from api.app import create_app
from shared.auth.accounts import create_account

VERSION = {"version", "sha256", "message", "created_at", "created_by"}
HEADER = re.compile(
    r"<!-- Service template version (\d+)\nsha256 ([0-9a-f]{64})\n"
    r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z) by (.+) <(.+)> -->"
)


def test_publishing_is_201_with_the_record(caller, template):
    answer = caller.post(f"/v2/templates/{template}/versions", json={"message": "First"})
    assert answer.status_code == 201
    assert set(answer.json) == {*VERSION, "findings"}
    assert answer.json["version"] == 1
    assert answer.json["sha256"] == sha256(b"<d/>").hexdigest()
    assert answer.json["message"] == "First"
    assert set(answer.json["created_by"]) == {"id", "name", "email"}


def test_the_message_is_optional(caller, template):
    assert caller.post(f"/v2/templates/{template}/versions", json={}).json["message"] == ""
    caller.put(f"/v2/templates/{template}", data="<e/>", content_type="text/xml")
    answer = caller.post(f"/v2/templates/{template}/versions")
    assert (answer.status_code, answer.json["version"]) == (201, 2)


def test_unchanged_content_is_200_with_the_old_message(caller, template, publish):
    first = publish("<a/>", message="First")
    again = caller.post(f"/v2/templates/{template}/versions", json={"message": "Discarded"})
    assert again.status_code == 200
    assert again.json == {**first, "findings": None}
    assert caller.get(f"/v2/templates/{template}").json["versions"] == 1


def test_content_that_returns_to_an_older_version_is_a_new_version(publish):
    assert [publish(text)["version"] for text in ("<a/>", "<b/>", "<a/>")] == [1, 2, 3]


def test_a_version_read_adds_the_content_with_its_header(caller, template, publish, account):
    record = publish("<a><b/></a>\n", message="Why")
    answer = caller.get(f"/v2/templates/{template}/versions/1")
    assert answer.status_code == 200
    read = answer.json
    content = read.pop("content")
    assert read == record
    header = HEADER.match(content)
    assert header.groups() == (
        "1",
        record["sha256"],
        record["created_at"],
        account.user.name,
        account.user.email,
    )
    assert fromstring(content).tag == "a"


def test_the_digest_is_that_of_all_below_the_header(caller, template, publish):
    for text in ("<a/>", "\n<a/>", "<!-- mine --><a/>", "<a>é🖨</a>"):
        version = publish(text)
        content = caller.get(f"/v2/templates/{template}/versions/{version['version']}").json[
            "content"
        ]
        below = HEADER.sub("", content, count=1)
        assert below == text
        assert sha256(below.encode()).hexdigest() == version["sha256"]


def test_hyphens_in_a_publishers_name_do_not_end_the_header(ports, database):
    with database.session() as session:
        made = create_account(session, email="a--b@example.org", name="A --- B -->")
    client = create_app(ports).test_client()
    client.environ_base["HTTP_X_API_KEY"] = made.api_key
    template = client.post("/v2/templates?name=T", data="<d/>", content_type="text/xml").json["id"]
    client.post(f"/v2/templates/{template}/versions")
    content = client.get(f"/v2/templates/{template}/versions/1").json["content"]
    assert "by A - - - B - -> <a- -b@example.org> -->" in content
    assert fromstring(content).tag == "d"


@pytest.mark.parametrize(("count", "has_more"), [(50, False), (51, True)])
def test_has_more_of_versions_is_exact(caller, template, publish, count, has_more):
    for n in range(count):
        publish(f"<d n='{n}'/>")
    answer = caller.get(f"/v2/templates/{template}/versions").json
    assert answer["has_more"] is has_more
    assert [version["version"] for version in answer["versions"]] == list(
        range(count, count - 50, -1)
    )
    assert caller.get(f"/v2/templates/{template}/versions/1").status_code == 200


def test_an_empty_template_cannot_be_published(caller):
    template = caller.post("/v2/templates?name=E").json["id"]
    answer = caller.post(f"/v2/templates/{template}/versions")
    assert answer.status_code == 400
    assert answer.json["data"]["code"] == "ERR_TEMPLATE_EMPTY"


@pytest.mark.parametrize("version", ["0", "01", "-1", "1.0", "latest", "x", "1" * 17, "²"])
def test_a_malformed_version_is_a_400(caller, template, version):
    answer = caller.get(f"/v2/templates/{template}/versions/{version}")
    assert answer.status_code == 400
    assert version[:40] in answer.json["message"]


@pytest.mark.parametrize("version", ["2", "9" * 16])
def test_a_missing_version_is_a_404_without_a_code(caller, template, publish, version):
    publish("<a/>")
    answer = caller.get(f"/v2/templates/{template}/versions/{version}")
    assert answer.status_code == 404
    assert "data" not in answer.json
    assert version in answer.json["message"]


@pytest.mark.parametrize(
    ("body", "media", "status"),
    [
        (b'{"message": 1}', "application/json", 400),
        (b'{"message": null}', "application/json", 400),
        (b'{"massage": "x"}', "application/json", 400),
        (b"[]", "application/json", 400),
        (b"{", "application/json", 400),
        (b'{"message": "\\u0000"}', "application/json", 400),
        (b'{"message": "\\ud800"}', "application/json", 400),
        (b'{"message": "' + b"x" * 2001 + b'"}', "application/json", 400),
        (b'{"message": "' + b"x" * 1024 * 1024 + b'"}', "application/json", 413),
        (b"{}", "text/plain", 415),
        (b"{}", None, 415),
    ],
    ids=lambda value: str(value)[:24],
)
def test_an_invalid_publish_body_is_rejected(caller, template, body, media, status):
    answer = caller.post(f"/v2/templates/{template}/versions", data=body, content_type=media)
    assert answer.status_code == status
    assert caller.get(f"/v2/templates/{template}").json["versions"] == 0


@pytest.mark.parametrize("selector", ["1", "latest", "stable"])
def test_a_version_is_rendered_by_number_tag_and_latest(
    caller, worker, template, publish, save, selector
):
    record = publish("<a/>")
    caller.put(f"/v2/templates/{template}/tags/stable", json={"version": 1})
    save("<b/>")
    answer = caller.post(f"/v2/pdf?template={template}@{selector}", json={})
    assert answer.status_code == 200
    (job,) = worker.jobs
    assert (job.template.version, job.template.sha256) == (1, record["sha256"])
    assert caller.get(f"/v2/templates/{template}@{selector}").json["content"] == "<a/>"


@pytest.mark.parametrize("selector", ["", "@live"])
def test_live_content_is_rendered_without_a_version(
    caller, worker, template, publish, save, selector
):
    publish("<a/>")
    save("<b/>")
    caller.post(f"/v2/pdf?template={template}{selector}", json={})
    assert worker.jobs[0].template.version is None
    assert worker.jobs[0].template.sha256 == sha256(b"<b/>").hexdigest()


@pytest.mark.parametrize(
    ("selector", "named"), [("@7", "7"), ("@stable", "stable"), ("@latest", "published")]
)
def test_an_unknown_selector_is_a_404_without_a_code(caller, template, selector, named):
    for answer in (
        caller.post(f"/v2/pdf?template={template}{selector}", json={}),
        caller.get(f"/v2/templates/{template}{selector}"),
    ):
        assert answer.status_code == 404
        assert "data" not in answer.json
        assert named in answer.json["message"]


def test_versions_outlive_their_template(caller, worker, template, publish):
    publish("<a/>")
    caller.put(f"/v2/templates/{template}/tags/stable", json={"version": 1})
    assert caller.delete(f"/v2/templates/{template}").status_code == 204
    for live in ("", "@live"):
        answer = caller.get(f"/v2/templates/{template}{live}")
        assert answer.status_code == 404
        assert answer.json["data"]["code"] == "ERR_TEMPLATE_NOT_FOUND"
        assert caller.post(f"/v2/pdf?template={template}{live}", json={}).status_code == 404
    for selector in ("1", "stable", "latest"):
        assert caller.get(f"/v2/templates/{template}@{selector}").json["content"] == "<a/>"
        assert caller.post(f"/v2/pdf?template={template}@{selector}", json={}).status_code == 200
    assert len(caller.get(f"/v2/templates/{template}/versions").json["versions"]) == 1
    assert caller.get(f"/v2/templates/{template}/versions/1").status_code == 200
    assert caller.get(f"/v2/templates/{template}/tags/stable").json["version"] == 1
    assert caller.post(f"/v2/templates/{template}/versions").status_code == 404
    assert caller.get("/v2/templates").json == {"templates": []}


def test_concurrent_publishes_neither_skip_nor_repeat_a_number(ports, account, template):
    """Eight writers save and publish texts of their own at once."""
    app = create_app(ports)
    numbers: list[int] = []

    def write(writer: int) -> None:
        client = app.test_client()
        client.environ_base["HTTP_X_API_KEY"] = account.api_key
        for turn in range(5):
            text = f"<d by='{writer}' turn='{turn}'/>"
            client.put(f"/v2/templates/{template}", data=text, content_type="text/xml")
            answer = client.post(f"/v2/templates/{template}/versions")
            assert answer.status_code in (200, 201)
            if answer.status_code == 201:
                numbers.append(answer.json["version"])

    threads = [threading.Thread(target=write, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(numbers) == list(range(1, len(numbers) + 1))
    client = app.test_client()
    client.environ_base["HTTP_X_API_KEY"] = account.api_key
    assert client.get(f"/v2/templates/{template}").json["versions"] == len(numbers)
    digests = [
        client.get(f"/v2/templates/{template}/versions/{n}").json["sha256"] for n in sorted(numbers)
    ]
    assert all(one != next_ for one, next_ in itertools.pairwise(digests))
