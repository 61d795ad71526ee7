"""A reference is resolved in one read that walks indexes, whatever its form."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from sqlalchemy import event

from shared.auth.accounts import create_account
from shared.templates.names import assign_slug, set_tag
from shared.templates.pinning import Reader, get_pinned
from shared.templates.references import parse_reference
from shared.templates.repository import create_template
from shared.templates.versions import publish_version

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


@pytest.fixture
def held(database) -> tuple[Reader, str]:
    """Return the reader of a template with a version, a tag and the slug `letter`, and its id."""
    with database.session() as session:
        made = create_account(session, email="ada@example.org")
        author = {"user": made.user, "at": NOON}
        account = made.account_id
        template = create_template(session, account, name="T", content="<a/>", **author).id
        publish_version(session, Reader(account, None), template, message="", **author)
        set_tag(session, template, "stable", version=1, **author)
        assign_slug(session, account, made.workspace_id, slug="letter", template_id=template)
    return Reader(account, made.workspace_id), template


@pytest.fixture
def statements(database):
    """Record the statements sent to the database, with their parameters."""
    seen: list[tuple[str, object]] = []

    def note(_connection, _cursor, statement, parameters, *_):
        if statement.startswith("SELECT"):
            seen.append((statement, parameters))

    with database.snapshot() as connection:
        engine = connection.engine
    event.listen(engine, "before_cursor_execute", note)
    return seen


@pytest.mark.parametrize("selector", ["", "@live", "@latest", "@1", "@stable"])
@pytest.mark.parametrize("by_slug", [False, True])
def test_one_statement_resolves_it(database, held, statements, selector, by_slug):
    reader, template = held
    reference = parse_reference(("letter" if by_slug else template) + selector, field="template")
    with database.snapshot() as session:
        assert get_pinned(session, reader, reference).template_id == template
        ((statement, parameters),) = statements
        if session.dialect.name == "sqlite":
            plan = session.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters)
            assert not [row.detail for row in plan if row.detail.startswith("SCAN")]
