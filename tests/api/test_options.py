"""OPTIONS, cross-origin requests, trailing slashes, and the start page."""

from __future__ import annotations

from dataclasses import replace

import pytest

from api.app import create_app
from api.wiring import wire
from shared.settings import WrongSetting, load_settings

PAGE = "https://app.example.com"
PREFLIGHT = {"Origin": PAGE, "Access-Control-Request-Method": "POST"}


@pytest.fixture
def open_client(settings, account):
    """Yield a client of a front that allows the page's origin."""
    ports = wire(replace(settings, cors_origins=f"{PAGE} http://localhost:3000"))
    yield create_app(ports).test_client()
    ports.database.close()


@pytest.mark.parametrize(
    ("path", "methods"),
    [
        ("/v2/pdf", "OPTIONS, POST"),
        ("/v2/templates/x", "DELETE, GET, HEAD, OPTIONS, PATCH, PUT"),
        ("/v2/jobs", "GET, HEAD, OPTIONS"),
        ("/docs", "GET, HEAD, OPTIONS"),
    ],
)
def test_options_lists_the_methods_of_a_path(stranger, path, methods):
    answer = stranger.options(path)
    assert (answer.status_code, answer.headers["Allow"]) == (204, methods)
    assert "Content-Type" not in answer.headers
    assert not [name for name, _ in answer.headers if name.startswith("Access-Control")]


def test_options_of_an_unknown_path_is_404(stranger):
    answer = stranger.options("/v2/nothing")
    assert (answer.status_code, answer.json["statusCode"]) == (404, 404)


def test_other_origins_get_no_cors_headers_unless_allowed(caller):
    for answer in (
        caller.get("/v2/authcheck", headers={"Origin": PAGE}),
        caller.options("/v2/pdf", headers=PREFLIGHT),
    ):
        assert not [name for name, _ in answer.headers if name.startswith("Access-Control")]
        assert "Origin" not in answer.headers.get("Vary", "")


def test_a_preflight_of_an_allowed_origin_needs_no_key(open_client):
    answer = open_client.options("/v2/pdf", headers=PREFLIGHT)
    assert answer.status_code == 204
    assert answer.headers["Access-Control-Allow-Origin"] == PAGE
    assert answer.headers["Access-Control-Allow-Methods"] == "OPTIONS, POST"
    for name in ("Authorization", "x-api-key", "Idempotency-Key", "If-Match", "Prefer"):
        assert name in answer.headers["Access-Control-Allow-Headers"]
    assert "Origin" in answer.headers["Vary"]


def test_an_allowed_origin_can_read_responses_and_errors(open_client, account):
    for headers, status in (({"x-api-key": account.api_key}, 200), ({}, 401)):
        answer = open_client.get("/v2/authcheck", headers={"Origin": PAGE, **headers})
        assert answer.status_code == status
        assert answer.headers["Access-Control-Allow-Origin"] == PAGE
        for name in ("X-Page-Count", "Content-Disposition", "ETag", "Retry-After", "Location"):
            assert name in answer.headers["Access-Control-Expose-Headers"]
        assert "Access-Control-Allow-Credentials" not in answer.headers


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "https://app.example.com.evil.example", "null", "", "*"]
)
def test_a_preflight_of_another_origin_is_not_allowed(open_client, origin):
    for answer in (
        open_client.options("/v2/pdf", headers=PREFLIGHT | {"Origin": origin}),
        open_client.get("/v2/authcheck", headers={"Origin": origin}),
    ):
        assert not [name for name, _ in answer.headers if name.startswith("Access-Control")]
        assert "Origin" in answer.headers["Vary"]


@pytest.mark.parametrize(
    "text",
    ["app.example.com", "https://a.example/", "https://a.example/x", "https://A.example", "**"],
)
def test_an_invalid_origin_is_rejected_at_startup(settings, text):
    given = {
        "PRESSROOM_DATABASE_URL": settings.database_url,
        "PRESSROOM_REDIS_URL": settings.redis_url,
        "PRESSROOM_BLOB_URL": settings.blob_url,
    }
    load_settings(given | {"PRESSROOM_CORS_ORIGINS": f"{PAGE} http://localhost:3000"})
    with pytest.raises(WrongSetting, match=r"PRESSROOM_CORS_ORIGINS.*accepted are https://host"):
        load_settings(given | {"PRESSROOM_CORS_ORIGINS": text})


def test_a_trailing_slash_names_the_same_resource(caller, worker):
    answer = caller.post("/v2/pdf/", data=b"<d/>", content_type="text/xml")
    assert (answer.status_code, answer.data) == (200, worker.pdf)
    made = caller.post("/v2/templates/?name=T", data=b"<d/>", content_type="text/xml").json
    assert caller.get(f"/v2/templates/{made['id']}/").json["content"] == "<d/>"
    assert caller.get("/v2/templates/").json["templates"][0]["id"] == made["id"]
    assert caller.get("/docs/").status_code == 200
    assert caller.get("/v2/templates//").status_code == 404
    answer = caller.get("/v2/nothing/")
    assert (answer.status_code, answer.is_json) == (404, True)


def test_the_start_page_links_to_the_description(stranger):
    told = stranger.get("/")
    assert told.json == {"name": "Pressroom", "docs": "/docs", "openapi": "/docs/openapi.json"}
    page = stranger.get("/", headers={"Accept": "text/html,*/*;q=0.8"})
    assert page.content_type.startswith("text/html")
    assert 'href="/docs"' in page.text
    assert "default-src 'none'" in page.headers["Content-Security-Policy"]
    for answer in (told, page):
        assert '</docs/openapi.json>; rel="service-desc"' in answer.headers.getlist("Link")
    assert stranger.head("/").status_code == 200
