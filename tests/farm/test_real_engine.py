"""The real worker with the real engine: templates by content, images by name, drafts."""

from __future__ import annotations

import io

import pikepdf
import pytest

from shared.auth.accounts import create_account
from shared.blobs.factory import open_store
from shared.clock import now
from shared.db.session import open_database
from shared.jobs.records import PinnedTemplate, Purpose
from shared.templates.repository import store_content
from tests.farm.conftest import real_worker
from tests.images import encode, plain, store_image

DOCUMENT = '<document version="1"><flow><h1>Hello</h1><p>One page.</p></flow></document>'
TEMPLATE = (
    '<document version="1"><data><json>{"name": "default"}</json></data>'
    '<flow><p>For {{ name }}</p><img src="logo" height="10mm" alt="Logo"/></flow></document>'
)


@pytest.fixture(scope="module", autouse=True)
def worker(real_environment, tmp_path_factory):
    with real_worker(real_environment, tmp_path_factory.mktemp("log")):
        yield


@pytest.fixture
def database(real_environment):
    database = open_database(real_environment["PRESSROOM_DATABASE_URL"])
    yield database
    database.close()


@pytest.fixture
def workspace(database, blob_url):
    """Return a workspace with an image named `logo`."""
    with database.session() as session:
        made = create_account(session, email="ada@example.org")
    store_image(database, open_store(blob_url), made, "logo", encode("PNG", plain()))
    return made.workspace_id


@pytest.fixture
def template(database):
    with database.session() as session:
        digest = store_content(session, TEMPLATE, at=now())
    return PinnedTemplate("tpl", None, digest)


def test_a_template_draws_the_images_of_its_workspace_only(front, template, workspace):
    outcome = front.render("{}", template=template, workspace=workspace, kind="json")
    assert pages(front, outcome) == 1
    stranger = front.render("{}", template=template, workspace="ws_other", kind="json")
    assert stranger.error.status == 400
    assert "logo" in stranger.error.message


def test_a_validation_finds_an_image_that_the_workspace_lacks(front, template, workspace):
    for known in (workspace, "ws_other"):
        outcome = front.render(
            "{}", template=template, workspace=known, kind="json", purpose=Purpose.VALIDATE
        )
        assert outcome.findings["valid"] is (known == workspace)


def test_a_render_returns_its_warnings(front, template, workspace):
    assert not front.render(DOCUMENT).warnings
    given = '{"nmae": "x"}'
    outcome = front.render(given, template=template, workspace=workspace, kind="json")
    [warning] = outcome.warnings
    assert (warning["code"], warning["count"]) == ("unknown-member", 1)
    assert 'did you mean "name"?' in warning["message"]


def pages(front, outcome) -> int:
    data = b"".join(front.replies.fetch_pdf(outcome.pdf))
    with pikepdf.open(io.BytesIO(data)) as pdf:
        return len(pdf.pages)
