"""A render costs the database no query that a cache could answer."""

from __future__ import annotations

from contextlib import contextmanager

import pytest
from redis import Redis
from sqlalchemy import event

from shared.auth.accounts import create_account
from shared.clock import now
from shared.jobs.records import PinnedTemplate
from shared.outbound import Fetcher
from shared.templates.repository import store_content
from tests.images import store_image
from workers.engine.pipeline import prepare_template
from workers.render.resources import Images, Templates

XML = {"Content-Type": "text/xml"}


@contextmanager
def counted(database):
    """Yield a list that receives the statements sent to the database within the block."""
    seen: list[str] = []

    def note(_connection, _cursor, statement, *_):
        seen.append(statement)

    with database.snapshot() as connection:
        engine = connection.engine
    event.listen(engine, "before_cursor_execute", note)
    yield seen
    event.remove(engine, "before_cursor_execute", note)


@pytest.fixture
def template(caller):
    made = caller.post("/v2/templates?name=T", data=b"<document/>", headers=XML)
    caller.post(f"/v2/templates/{made.json['id']}/versions", json={})
    return made.json["id"]


@pytest.mark.usefixtures("worker")
@pytest.mark.parametrize("selector", ["", "@live", "@latest", "@1"])
def test_a_known_key_and_template_need_no_database_query(
    ports, caller, redis_url, template, selector
):
    forget_changes(redis_url)
    path = f"/v2/pdf?template={template}{selector}"

    def render():
        return caller.post(path, data=b"{}", content_type="application/json").status_code

    assert render() == 200
    with counted(ports.database) as statements:
        assert render() == 200
    assert statements == []


def test_a_worker_reads_a_template_and_an_image_once(ports, database):
    data = b"bytes of an image"
    with database.session() as session:
        made = create_account(session, email="bo@example.org")
    store_image(database, ports.blobs, made, "logo", data)
    images = Images(
        database, ports.blobs, ports.cells.only.image_pins, fetcher=Fetcher("http://127.0.0.1:9")
    )
    templates = Templates(database, prepare_template)
    digest = keep(database, "<document><flow/></document>")

    def gather():
        templates.get(PinnedTemplate("t" * 20, None, digest))
        return images.of_account("acc_1", made.workspace_id).find_image("logo")

    with counted(database) as first:
        assert gather() == data
    with counted(database) as statements:
        assert gather() == data
    assert first != []
    assert statements == []


def asked(redis_url) -> int:
    """Return the number of fields that Redis was asked for."""
    with Redis.from_url(redis_url) as redis:
        return redis.info("commandstats").get("cmdstat_hget", {"calls": 0})["calls"]


def forget_changes(redis_url):
    """Age the last change of a template: nothing is cached right after one."""
    with Redis.from_url(redis_url) as redis:
        redis.delete(*redis.keys("pins:*"))


def keep(database, text):
    with database.session() as session:
        return store_content(session, text, at=now())
