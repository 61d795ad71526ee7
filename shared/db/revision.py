"""The revision of a database, read without Alembic, which takes longer to import than most commands run."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from sqlalchemy import inspect, text

from shared.db.session import Database, Session

_VERSIONS: Final = Path(__file__).parent / "migrations/versions"
_NUMBER_LENGTH: Final = 4
_SERIES_LENGTH: Final = 2


def list_revisions() -> list[str]:
    """Return the revisions of the migrations, the newest last; their files are numbered in order."""
    return sorted(file.name[:_NUMBER_LENGTH] for file in _VERSIONS.glob("[0-9]*.py"))


def read_revision(session: Session) -> str | None:
    """Return the revision of a database; None without tables."""
    if not inspect(session).has_table("alembic_version"):
        return None
    found: str | None = session.scalar(text("SELECT version_num FROM alembic_version"))
    return found


def is_expanded(found: str) -> bool:
    """Return whether a later release has only added to the tables of this one, which works on them as they are.

    The first two digits of a revision are its series. Within one, migrations add tables, indexes and
    columns with defaults; what a running release needs goes in the first revision of the next series.
    """
    newest = list_revisions()[-1]
    return found > newest and found[:_SERIES_LENGTH] == newest[:_SERIES_LENGTH]


def is_current(database: Database) -> bool:
    """Return whether a database needs no migration of this release.

    Raises:
        Unavailable: it does not answer.
    """
    with database.snapshot() as session:
        found = read_revision(session)
    return found == list_revisions()[-1] or (found is not None and is_expanded(found))
