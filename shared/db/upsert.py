"""The inserts whose wording differs between the two databases."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Insert, Table
from sqlalchemy.dialects import postgresql, sqlite

from shared.db.session import Session


def insert_or_ignore(session: Session, table: Table, row: Mapping[str, Any]) -> Insert:
    """Insert a row, or nothing where its key is held; ask for `returning` to be told which."""
    return insert_new(session, table).values(row)


def insert_new(session: Session, table: Table) -> Insert:
    """Insert those rows whose keys are not held, of a list that is given when this is executed."""
    if session.dialect.name == "postgresql":
        return postgresql.insert(table).on_conflict_do_nothing()
    return sqlite.insert(table).on_conflict_do_nothing()


def insert_or_renew(
    session: Session, table: Table, row: Mapping[str, Any], *, renewed: tuple[str, ...]
) -> Insert:
    """Insert a row, or set some of its columns anew where its key is held, which locks the row."""
    key = list(table.primary_key)
    if session.dialect.name == "postgresql":
        given = postgresql.insert(table).values(row)
        return given.on_conflict_do_update(
            index_elements=key, set_={name: given.excluded[name] for name in renewed}
        )
    sent = sqlite.insert(table).values(row)
    return sent.on_conflict_do_update(
        index_elements=key, set_={name: sent.excluded[name] for name in renewed}
    )
