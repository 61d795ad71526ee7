"""The revision of a database, read without Alembic, which takes longer to import than most commands run."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from sqlalchemy import inspect, text

from shared.db.session import Database, Session

_VERSIONS: Final = Path(__file__).parent / "migrations/versions"
_NUMBER_LENGTH: Final = 4


def list_revisions() -> list[str]:
    """Return the revisions of the migrations, the newest last; their files are numbered in order."""
    return sorted(file.name[:_NUMBER_LENGTH] for file in _VERSIONS.glob("[0-9]*.py"))


def read_revision(session: Session) -> str | None:
    """Return the revision of a database; None without tables."""
    if not inspect(session).has_table("alembic_version"):
        return None
    found: str | None = session.scalar(text("SELECT version_num FROM alembic_version"))
    return found


def is_current(database: Database) -> bool:
    """Return whether a database has the newest revision.

    Raises:
        Unavailable: it does not answer.
    """
    with database.snapshot() as session:
        return read_revision(session) == list_revisions()[-1]
