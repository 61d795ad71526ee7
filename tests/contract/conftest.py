"""Fixtures of the contract tests: a template with content, and another account."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from flask.testing import FlaskClient

from shared.auth.accounts import create_account
from tests.batches import numbered, slices  # noqa: F401 - fixtures
from tests.golden.case import FOLDER
from tests.images import packed, png

LOGO = png(1, 1, packed(b"\0\0"))


@pytest.fixture
def template(caller) -> str:
    """Make a template and return its id."""
    made = caller.post("/v2/templates?name=T", data=b"<d/>", content_type="text/xml")
    template_id: str = made.json["id"]
    return template_id


@pytest.fixture
def save(caller, template) -> Callable[[str], None]:
    """Return a function that replaces the template's live content."""

    def save(content: str) -> None:
        answer = caller.put(f"/v2/templates/{template}", data=content, content_type="text/xml")
        assert answer.status_code == 200

    return save


@pytest.fixture
def publish(caller, template, save) -> Callable[..., dict]:
    """Return a function that stores content, publishes it, and returns the record of the version."""

    def publish(content: str, **fields: str) -> dict:
        save(content)
        answer = caller.post(f"/v2/templates/{template}/versions", json=fields).json
        return {name: value for name, value in answer.items() if name != "findings"}

    return publish


@pytest.fixture
def other(app, database) -> FlaskClient:
    """Return a client with the key of another account."""
    return client_of(app, database, email="bo@example.org")


@pytest.fixture
def homeless(app, database) -> FlaskClient:
    """Return a client with the key of an account without a workspace."""
    return client_of(app, database, email="cy@example.org", with_workspace=False)


def client_of(app, database, **options) -> FlaskClient:
    with database.session() as session:
        made = create_account(session, **options)
    client = app.test_client()
    client.environ_base["HTTP_X_API_KEY"] = made.api_key
    return client


@pytest.fixture
def owned(caller, template, publish) -> dict[str, str]:
    """Create one of every kind of resource for the caller."""
    publish("<a/>")
    caller.put(f"/v2/templates/{template}/tags/stable", json={"version": 1})
    caller.post("/v2/slugs", json={"slug": "letter", "template": template})
    caller.put("/v2/images/logo", data=LOGO, content_type="image/png")
    font = (FOLDER / "fonts" / "brand-regular.ttf").read_bytes()
    assert caller.put("/v2/fonts/brand", data=font, content_type="font/ttf").status_code == 201
    webhook = caller.post("/v2/webhooks", json={"url": "https://93.184.216.34/"}).json["id"]
    path = f"/v2/batches?template={template}"
    batch = caller.post(path, data=b"{}\n", content_type="application/x-ndjson").json["id"]
    item = f"job_{batch.removeprefix('batch_')}-0"
    assert caller.put("/v2/plans/nightly", json={}).status_code == 201
    caller.put("/v2/plans/nightly/tags/stable", json={"version": 1})
    owned = {"id": template, "slug": "letter", "image": "logo", "font": "brand", "webhook": webhook}
    owned["plan"] = "nightly"
    destination = caller.post("/v2/destinations", json={"url": "https://93.184.216.34/"}).json["id"]
    owned["destination"] = destination
    owned["delivery"] = caller.post(f"/v2/destinations/{destination}/test").json["id"]
    key = caller.post("/v2/keys").json["id"]
    drawn = {"data": "<x/>", "content_type": "text/xml"}
    job = caller.post("/v2/pdf", headers={"Prefer": "respond-async"}, **drawn).json["id"]
    return owned | {"batch": batch, "item": item, "key": key, "job": job}
