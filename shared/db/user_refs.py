"""The users who created and last changed a record."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Final

from sqlalchemy import ColumnElement, FromClause, RowMapping, Table
from sqlalchemy.sql.selectable import NamedFromClause

from shared.db.tables import users
from shared.records import ShownRecord, doc

_CREATOR: Final = users.alias("creator")
_UPDATER: Final = users.alias("updater")
_AUTHOR: Final = users.alias("author")


class UserRef(ShownRecord, frozen=True):
    """A reference to a user in a record: the user of the API key."""

    id: Annotated[str, doc("Id.")]
    name: Annotated[str, doc("Name.")]
    email: Annotated[str, doc("Address.")]


def join_authors(table: Table) -> tuple[FromClause, Sequence[ColumnElement[Any]]]:
    """Join a table's `created_by` and `updated_by` to users; return the join and its columns."""
    joined = table.join(_CREATOR, table.c.created_by == _CREATOR.c.id)
    joined = joined.join(_UPDATER, table.c.updated_by == _UPDATER.c.id)
    return joined, [*_name_columns(_CREATOR), *_name_columns(_UPDATER)]


def join_author(table: Table, *, by: str) -> tuple[FromClause, Sequence[ColumnElement[Any]]]:
    """Join the column `by` of a table to users; return the join and its columns."""
    return table.join(_AUTHOR, table.c[by] == _AUTHOR.c.id), _name_columns(_AUTHOR)


def read_user(row: RowMapping, role: str) -> UserRef:
    """Read the `creator` or `updater` of a row selected with `join_authors`, or its `author`, with `join_author`."""
    return UserRef(row[f"{role}_id"], row[f"{role}_name"], row[f"{role}_email"])


def _name_columns(person: NamedFromClause) -> list[ColumnElement[Any]]:
    return [person.c[field].label(f"{person.name}_{field}") for field in ("id", "name", "email")]
