"""Migration of a database to the newest revision, safe to run in several processes at once."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from alembic import command
from alembic.config import Config
from sqlalchemy import text

from shared.clock import now
from shared.db.session import open_database
from shared.templates.public import publish_public_templates

_SCRIPTS: Final = Path(__file__).parent / "migrations"
_LOCK_KEY: Final = 0x7072657373  # of PostgreSQL's advisory lock for migrations


def upgrade(database_url: str) -> None:
    """Migrate the database to the newest revision, and publish this release's public templates.

    Concurrent calls run one after another; only the first has work to do.

    Raises:
        Unavailable: the database does not answer.
    """
    database = open_database(database_url)
    try:
        # SQLite: the unit of work is the lock. PostgreSQL: an advisory lock until its end.
        with database.session() as session:
            if session.dialect.name == "postgresql":
                session.execute(text("SET LOCAL lock_timeout = '60s'"))
                session.execute(text("SET LOCAL statement_timeout = 0"))
                session.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK_KEY})
            config = Config()
            config.set_main_option("script_location", str(_SCRIPTS).replace("%", "%%"))
            config.attributes["connection"] = session
            command.upgrade(config, "head")
            publish_public_templates(session, at=now())
    finally:
        database.close()
