"""Font records of a workspace; their room is that of shelves.py."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import RowMapping, Select, delete, insert, select, update

from shared.db import people
from shared.db.people import UserRef
from shared.db.session import Session
from shared.db.shelves import Reservation, Shelf, lock_workspace
from shared.db.tables import font_reservations, fonts
from shared.limits import MAX_WORKSPACE_FONT_BYTES, MAX_WORKSPACE_FONTS

SHELF: Final = Shelf(fonts, font_reservations, MAX_WORKSPACE_FONT_BYTES, MAX_WORKSPACE_FONTS)


@dataclass(frozen=True, slots=True)
class FontFacts:
    """What a worker found of a font file; `faces` are JSON values as the interface writes them."""

    format: str
    bytes: int
    sha256: str
    faces: Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class FontRecord:
    """A stored font; its bytes lie in the blob store under its workspace and `facts.sha256`."""

    name: str
    facts: FontFacts
    created_at: datetime
    created_by: UserRef
    updated_at: datetime
    updated_by: UserRef


def record_font(
    session: Session, reservation: Reservation, *, facts: FontFacts, user: UserRef, at: datetime
) -> tuple[FontRecord, str | None]:
    """Point the name at bytes that lie in the store, in place of their reservation.

    Returns the record, and the SHA-256 of the bytes that the name held before, None if it was free.

    Raises:
        WorkspaceFullError: the reservation had lapsed and its room is gone.
    """
    SHELF.take(session, reservation, size=facts.bytes)
    before = find_font(session, reservation.workspace_id, reservation.name)
    values: dict[str, Any] = {
        "format": facts.format,
        "bytes": facts.bytes,
        "sha256": facts.sha256,
        "faces": list(facts.faces),
        "updated_at": at,
        "updated_by": user.id,
    }
    key = {"workspace_id": reservation.workspace_id, "name": reservation.name}
    if before is None:
        created = {"created_at": at, "created_by": user.id}
        session.execute(insert(fonts).values(**key, **values, **created))
    else:
        session.execute(update(fonts).filter_by(**key).values(**values))
    after = find_font(session, reservation.workspace_id, reservation.name)
    assert after is not None
    return after, before.facts.sha256 if before else None


def find_font(session: Session, workspace_id: str, name: str) -> FontRecord | None:
    """Return the font of a name, None when the workspace has none."""
    row = session.execute(_records(workspace_id).where(fonts.c.name == name)).mappings().first()
    return _record(row) if row else None


def find_facts(session: Session, workspace_id: str, sha256: str) -> FontFacts | None:
    """Return the facts of bytes that a workspace holds under any name, None when it holds none."""
    query = _records(workspace_id).where(fonts.c.sha256 == sha256).limit(1)
    row = session.execute(query).mappings().first()
    return _record(row).facts if row else None


def list_fonts(
    session: Session, workspace_id: str, *, limit: int, start_after: str | None
) -> Sequence[FontRecord]:
    """Return up to `limit` fonts with names past `start_after`, by name."""
    query = _records(workspace_id).order_by(fonts.c.name).limit(limit)
    if start_after is not None:
        query = query.where(fonts.c.name > start_after)
    return [_record(row) for row in session.execute(query).mappings().all()]


def list_names(session: Session, workspace_id: str) -> Sequence[str]:
    """Return the names of all fonts of a workspace, in order."""
    query = select(fonts.c.name).where(fonts.c.workspace_id == workspace_id).order_by(fonts.c.name)
    return session.execute(query).scalars().all()


def delete_font(session: Session, workspace_id: str, name: str) -> str | None:
    """Remove the record of a name and return the SHA-256 it pointed at, None when there was none."""
    lock_workspace(session, workspace_id)
    font = find_font(session, workspace_id, name)
    if font is None:
        return None
    session.execute(delete(fonts).where(fonts.c.workspace_id == workspace_id, fonts.c.name == name))
    return font.facts.sha256


def blob_key(workspace_id: str, sha256: str) -> str:
    """Name the place of a font's bytes in the blob store."""
    return f"fonts/{workspace_id}/{sha256}"


def _records(workspace_id: str) -> Select[Any]:
    joined, columns = people.join_authors(fonts)
    return select(fonts, *columns).select_from(joined).where(fonts.c.workspace_id == workspace_id)


def _record(row: RowMapping) -> FontRecord:
    return FontRecord(
        name=row["name"],
        facts=FontFacts(row["format"], row["bytes"], row["sha256"], row["faces"]),
        created_at=row["created_at"],
        created_by=people.read_creator(row),
        updated_at=row["updated_at"],
        updated_by=people.read_updater(row),
    )
