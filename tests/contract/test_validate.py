"""POST /v2/validate, with the real engine behind the queue."""

from __future__ import annotations

from io import BytesIO
from types import SimpleNamespace

import pytest
from PIL import Image

from api.app import create_app
from shared.auth.accounts import key_digests_of, set_account
from shared.jobs.records import Purpose
from tests.conftest import with_settings
from workers.engine.pipeline import prepare_template, render, validate
from workers.render.resources import Images, Templates
from workers.render.run import Engine, execute

GOOD = '<document version="1"><flow><p>Hello {{ name }}</p></flow></document>'
DATA = '<document version="1"><data><json>{"name": "x"}</json></data><flow><p>{{ name }}</p></flow></document>'


@pytest.fixture
def judge(ports, worker):
    """Make the real engine validate what the scripted worker takes from the queue."""
    cell = ports.cells.only
    farm = SimpleNamespace(
        templates=Templates(ports.database, prepare_template),
        images=Images(ports.database, ports.blobs, cell.image_pins, fetcher=ports.fetcher),
        claims=cell.claims,
        engine=Engine(prepare_template, render, validate),
        judge=None,
    )
    worker.answer = lambda job: execute(job, farm, farm.images.of_job(job, farm.claims))
    return worker


def ask(client, body, query="", media="text/xml"):
    return client.post(f"/v2/validate{query}", data=body, content_type=media)


def make(client, content=DATA) -> str:
    answer = client.post("/v2/templates?name=T", data=content, content_type="text/xml")
    template_id: str = answer.json["id"]
    return template_id


def test_a_good_document_is_valid_and_has_no_errors(caller, judge):
    answer = ask(caller, DATA)
    assert answer.status_code == 200
    assert answer.json == {"valid": True, "errors": [], "warnings": []}


@pytest.mark.parametrize("media", ["text/xml", "application/xml", "text/plain"])
def test_a_document_is_read_in_the_charset_of_its_content_type(caller, judge, media):
    body = "<document><flow><p>Größe</p></flow></document>".encode("latin-1")
    assert ask(caller, body, media=f"{media}; charset=iso-8859-1").json["valid"] is True
    assert "is not valid UTF-8" in ask(caller, body, media=media).json["errors"][0]["message"]
    made = caller.post(
        "/v2/templates?name=T", data=body, content_type=f"{media}; charset=iso-8859-1"
    )
    assert caller.get(f"/v2/templates/{made.json['id']}").json["content"] == body.decode("latin-1")


def test_the_number_of_omitted_findings_is_reported(caller, judge):
    skipped = "<h1>a</h1><h3>b</h3>" * 210
    wrong = "<p colour='red'>a</p>"
    answer = ask(caller, f"<document><flow>{skipped}{wrong}</flow></document>")
    assert answer.status_code == 200
    assert len(answer.json["warnings"]) == 200
    assert len(answer.json["errors"]) == 1
    assert answer.json["leftOut"] == {"errors": 0, "warnings": 10}


def test_a_validation_is_for_the_queue_of_its_own_and_meters_nothing(caller, judge):
    ask(caller, DATA)
    (job,) = judge.jobs
    assert job.purpose is Purpose.VALIDATE
    report = caller.get("/v2/account/usage").json
    assert (report["pagesGenerated"], report["apiCalls"]) == (0, 0)


def test_all_problems_are_found_in_one_call_with_exact_extents(caller, judge):
    body = (
        '<document version="1">\n  <flow>\n    <para>x</para>\n    <p colour="1">y</p>\n'
        "  </flow>\n</document>"
    )
    answer = ask(caller, body).json
    assert answer["valid"] is False
    sources = {finding["source"]["tagName"]: finding["source"] for finding in answer["errors"]}
    assert sources["para"] == {
        "tagName": "para",
        "lineStart": 3,
        "lineEnd": 3,
        "columnStart": 5,
        "columnEnd": 19,
    }
    assert sources["p"]["lineStart"] == 4


def test_warnings_do_not_make_a_document_invalid(caller, judge):
    unused = DATA.replace("<flow>", '<style name="unused" color="maroon"/><flow>')
    answer = ask(caller, unused).json
    assert answer["warnings"]
    assert (answer["valid"], answer["errors"]) == (True, [])


def test_origin_is_payload_for_a_finding_in_the_body(caller, judge):
    findings = ask(caller, DATA.replace("<p>", '<p colour="1">'), f"?template={make(caller)}").json
    assert {each["source"]["origin"] for each in findings["errors"]} == {"payload"}


def test_markdown_goes_into_a_flow_of_the_template(caller, judge):
    template = make(caller, '<document><flow name="body"/></document>')
    query = f"?template={template}"
    assert ask(caller, "# Hello", query, "text/markdown").json["valid"] is True
    answer = ask(caller, "# Hello", f"{query}&flow=nowhere", "text/markdown").json
    assert answer["valid"] is False
    assert "nowhere" in answer["errors"][0]["message"]


def test_the_former_name_of_template_is_honoured_and_may_repeat_it(caller, judge):
    template = make(caller)
    for query in (f"?template_id={template}", f"?template={template}&template_id={template}"):
        assert ask(caller, "{}", query, "application/json").json["valid"] is True


def test_a_body_over_32_mb_is_a_413(caller):
    length = {"CONTENT_LENGTH": str(32 * 1024 * 1024 + 1)}
    answer = caller.post("/v2/validate", content_type="text/xml", environ_overrides=length)
    assert answer.status_code == 413


def test_a_document_that_draws_a_stored_image_is_valid(caller, judge):
    drawn = BytesIO()
    Image.new("RGBA", (4, 3)).save(drawn, "WEBP")
    caller.put("/v2/images/logo", data=drawn.getvalue(), content_type="image/webp")
    shown = '<document><flow><img src="{}" alt=""/></flow></document>'
    assert ask(caller, shown.format("logo")).json["valid"] is True


def test_a_body_that_is_not_well_formed_is_a_finding(caller, judge):
    answer = ask(caller, "<document><flow></document>")
    assert answer.status_code == 200
    assert answer.json["valid"] is False
    assert "well-formed" in answer.json["errors"][0]["message"]


@pytest.mark.parametrize(
    ("media", "body"), [("application/json", "{"), ("application/json", '{"a": NaN}')]
)
def test_data_that_cannot_be_read_is_a_finding(caller, judge, media, body):
    answer = ask(caller, body, f"?template={make(caller)}", media)
    assert answer.status_code == 200
    assert answer.json["valid"] is False


def test_origin_is_present_exactly_when_a_template_is_named(caller, judge):
    broken = make(caller, DATA.replace("<p>", '<p colour="1">'))
    findings = ask(caller, "{}", f"?template={broken}", "application/json").json["errors"]
    assert {finding["source"]["origin"] for finding in findings} == {"template"}
    findings = ask(caller, DATA.replace("<p>", '<p colour="1">')).json["errors"]
    assert all("origin" not in finding["source"] for finding in findings)


def test_a_version_is_validated_as_it_was_published(caller, judge):
    template = make(caller)
    caller.post(f"/v2/templates/{template}/versions")
    caller.put(f"/v2/templates/{template}", data="<wrong/>", content_type="text/xml")
    ask_of = f"?template={template}"
    assert ask(caller, "{}", f"{ask_of}@1", "application/json").json["valid"] is True
    assert ask(caller, "{}", ask_of, "application/json").json["valid"] is False


def test_the_request_is_checked_as_a_renders_is(caller, homeless):
    for query, media, status in (
        ("?flow=a", "text/xml", 400),
        ("?template=a&template_id=b", "text/xml", 400),
        ("?template=a@@", "text/xml", 400),
        ("", "application/json", 400),
        ("", "image/png", 415),
        ("?template=abcdefghij0123456789", "application/json", 404),
    ):
        answer = ask(caller, "{}", query, media)
        assert answer.status_code == status, answer.json
        rendered = caller.post(f"/v2/pdf{query}", data="{}", content_type=media)
        assert rendered.json["message"] == answer.json["message"]
    assert ask(caller, "").status_code == 400
    empty = caller.post("/v2/templates?name=E").json["id"]
    answer = ask(caller, "{}", f"?template={empty}", "application/json")
    assert answer.json["data"]["code"] == "ERR_TEMPLATE_EMPTY"


def test_an_account_that_used_its_allowance_up_may_validate(
    caller, judge, ports, database, account
):
    with database.session() as session:
        set_account(session, account.account_id, max_pages=0)
        ports.admissions.drop(account.account_id, key_digests_of(session, account.account_id))
    assert ask(caller, DATA).status_code == 200
    assert caller.post("/v2/pdf", data=DATA, content_type="text/xml").status_code == 402


def test_a_validation_without_a_worker_is_a_503_at_its_budget(ports, account):
    impatient = create_app(with_settings(ports, render_budget=0.3)).test_client()
    impatient.environ_base["HTTP_X_API_KEY"] = account.api_key
    answer = ask(impatient, DATA)
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "10")
    assert "No worker was free to validate the document" in answer.json["message"]


@pytest.mark.parametrize(
    ("languages", "language", "text"),
    [
        (
            "de-AT, en;q=0.5",
            "de",
            "`p` hat kein Attribut `colour`; meinten Sie „color“? [unknown-attribute]",
        ),
        (
            "fr, de;q=0.5",
            "de",
            "`p` hat kein Attribut `colour`; meinten Sie „color“? [unknown-attribute]",
        ),
        (
            "en-GB, de",
            None,
            '`p` has no attribute `colour`; did you mean "color"? [unknown-attribute]',
        ),
        (
            "*, ;q=x",
            None,
            '`p` has no attribute `colour`; did you mean "color"? [unknown-attribute]',
        ),
    ],
)
def test_findings_are_in_the_language_asked_for(caller, judge, languages, language, text):
    wrong = GOOD.replace("<p>", '<p colour="red">')
    headers = {"Accept-Language": languages}
    response = caller.post("/v2/validate", data=wrong, content_type="text/xml", headers=headers)
    assert response.headers.get("Content-Language") == language
    assert "Accept-Language" in response.headers["Vary"]
    assert response.json["errors"][0]["message"] == text
