"""Migration of a database to the tables of this release, safe to run in several processes at once (decision 0527)."""

from __future__ import annotations

from typing import Final

from sqlalchemy import inspect, select, text, update
from sqlalchemy.schema import CreateColumn

from shared.clock import now
from shared.db.revision import NEWEST, OLDEST, is_of_release, read_revision, write_revision
from shared.db.session import Session, open_database
from shared.db.tables import metadata, webhook_deliveries, webhooks
from shared.templates.public import publish_public_templates

_LOCK_KEY: Final = 0x7072657373  # of PostgreSQL's advisory lock for migrations
_LOCK_SECONDS: Final = 60


class UnknownRevision(Exception):
    """The database is of a release that is too old, or of one whose tables this release cannot use."""


def upgrade(database_url: str) -> None:
    """Bring the database to the newest revision, and publish this release's public templates.

    A database that a later release has only added to stays as it is, so that a farm can go back.
    Concurrent calls run one after another; only the first has work to do.

    Raises:
        UnknownRevision: this release does not upgrade its revision.
        Unavailable: the database does not answer.
    """
    database = open_database(database_url, lock_seconds=_LOCK_SECONDS)
    try:
        # SQLite: the unit of work is the lock. PostgreSQL: an advisory lock until its end.
        with database.session() as session:
            if session.dialect.name == "postgresql":
                session.execute(text(f"SET LOCAL lock_timeout = '{_LOCK_SECONDS}s'"))
                session.execute(text("SET LOCAL statement_timeout = 0"))
                session.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK_KEY})
            found = read_revision(session)
            if not is_of_release(found):
                if found is not None:
                    _check_revision(found)
                metadata.create_all(session)
                if found is not None:
                    _extend_tables(session)
                write_revision(session)
            publish_public_templates(session, at=now())
    finally:
        database.close()


def _extend_tables(session: Session) -> None:
    """Add the columns and indexes that the tables of an earlier release lack."""
    found = inspect(session)
    for table in metadata.sorted_tables:
        there = {column["name"] for column in found.get_columns(table.name)}
        for column in table.columns:
            if column.name not in there:
                described = CreateColumn(column).compile(dialect=session.dialect)
                session.exec_driver_sql(f"ALTER TABLE {table.name} ADD COLUMN {described}")
        for index in table.indexes:
            index.create(session, checkfirst=True)
    # Release 1.0.0 has no account with a delivery.
    account_id = select(webhooks.c.account_id).where(
        webhooks.c.id == webhook_deliveries.c.webhook_id
    )
    without = update(webhook_deliveries).where(webhook_deliveries.c.account_id.is_(None))
    session.execute(without.values(account_id=account_id.scalar_subquery()))


def _check_revision(found: str) -> None:
    if not OLDEST <= found <= NEWEST:
        raise UnknownRevision(
            f"the database is at revision {found}; this release upgrades from {OLDEST} to {NEWEST}. "
            f"If it is older, run `pressroom migrate` of release 1.0.0 first; if it is newer, use the "
            "release that it was migrated to, or restore a backup."
        )
