"""The revision of a database, read without Alembic, which takes longer to import than most commands run."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from sqlalchemy import inspect, text

from shared.db.session import Database

_VERSIONS: Final = Path(__file__).parent / "migrations/versions"
_NUMBER_LENGTH: Final = 4


def find_newest_revision() -> str:
    """Return the newest revision; migration files are numbered in order."""
    return max(file.name[:_NUMBER_LENGTH] for file in _VERSIONS.glob("[0-9]*.py"))


def is_current(database: Database) -> bool:
    """Return whether a database has the newest revision.

    Raises:
        Unavailable: it does not answer.
    """
    with database.snapshot() as session:
        if not inspect(session).has_table("alembic_version"):
            return False
        found = session.scalars(text("SELECT version_num FROM alembic_version")).all()
    return found == [find_newest_revision()]
