"""The revision of a database: which release its tables are of."""

from __future__ import annotations

from typing import Final

from sqlalchemy import Column, MetaData, String, Table, delete, insert, inspect, select

from shared.db.session import Database, Session

OLDEST: Final = "0011"  # of release 1.0.0, the oldest that is upgraded
NEWEST: Final = "0028"  # of these tables: another one with each change of them
_SERIES_LENGTH: Final = 2
# Of no other metadata: it belongs to no account. Its name is that of releases with migrations by Alembic.
_REVISIONS: Final = Table(
    "alembic_version", MetaData(), Column("version_num", String(32), primary_key=True)
)


def read_revision(session: Session) -> str | None:
    """Return the revision of a database; None without tables."""
    if not inspect(session).has_table(_REVISIONS.name):
        return None
    found: str | None = session.scalar(select(_REVISIONS))
    return found


def write_revision(session: Session) -> None:
    """Record that a database has the tables of this release."""
    _REVISIONS.create(session, checkfirst=True)
    session.execute(delete(_REVISIONS))
    session.execute(insert(_REVISIONS).values(version_num=NEWEST))


def is_of_release(found: str | None) -> bool:
    """Return whether the tables of a revision are those of this release, or those that a later one has only added to.

    The first two digits of a revision are its series. Within one, tables, indexes and columns with
    defaults are added; what a running release needs goes in the first revision of the next series.
    """
    return (
        found is not None and found >= NEWEST and found[:_SERIES_LENGTH] == NEWEST[:_SERIES_LENGTH]
    )


def is_current(database: Database) -> bool:
    """Return whether a database needs no migration of this release.

    Raises:
        Unavailable: it does not answer.
    """
    with database.snapshot() as session:
        return is_of_release(read_revision(session))
