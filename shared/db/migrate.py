"""Migration of a database to the newest revision, safe to run in several processes at once."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from alembic import command
from alembic.config import Config
from sqlalchemy import text

from shared.clock import now
from shared.db.revision import is_expanded, list_revisions, read_revision
from shared.db.session import open_database
from shared.db.tables import metadata
from shared.templates.public import publish_public_templates

_SCRIPTS: Final = Path(__file__).parent / "migrations"
_LOCK_KEY: Final = 0x7072657373  # of PostgreSQL's advisory lock for migrations
_LOCK_SECONDS: Final = 60


class UnknownRevision(Exception):
    """The database is of a release that is too old, or of one whose tables this release cannot use."""


def upgrade(database_url: str) -> None:
    """Bring the database to the newest revision, and publish this release's public templates.

    A new database is created from the models; one that a later release has only added to stays as it
    is, so that a farm can go back. Concurrent calls run one after another; only the first has work to do.

    Raises:
        UnknownRevision: this release has no migration from its revision.
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
            config = Config()
            config.set_main_option("script_location", str(_SCRIPTS).replace("%", "%%"))
            config.attributes["connection"] = session
            found = read_revision(session)
            if found is None:
                metadata.create_all(session)
                command.stamp(config, "head")
            elif not is_expanded(found):
                _check_revision(found)
                command.upgrade(config, "head")
            publish_public_templates(session, at=now())
    finally:
        database.close()


def _check_revision(found: str) -> None:
    known = list_revisions()
    if found not in known:
        raise UnknownRevision(
            f"the database is at revision {found}; this release upgrades from {known[0]} to {known[-1]}. "
            f"If it is older, run `pressroom migrate` of release 1.0.0 first; if it is newer, use the "
            "release that it was migrated to, or restore a backup."
        )
