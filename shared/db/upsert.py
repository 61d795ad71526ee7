"""The one insert whose wording differs between the two databases."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Insert, Table
from sqlalchemy.dialects import postgresql, sqlite

from shared.db.session import Session


def insert_or_ignore(session: Session, table: Table, row: Mapping[str, Any]) -> Insert:
    """Insert a row, or nothing where its key is held; ask for `returning` to be told which."""
    if session.dialect.name == "postgresql":
        return postgresql.insert(table).values(row).on_conflict_do_nothing()
    return sqlite.insert(table).values(row).on_conflict_do_nothing()
