"""Image records of a workspace, and the room its uploads reserve (hazards.md 4 and 9)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import RowMapping, Select, delete, insert, select, update

from shared.db import people
from shared.db.people import UserRef
from shared.db.session import Session
from shared.db.shelves import (
    Reservation,
    Shelf,
    WorkspaceUsage,
    lock_workspace,
)
from shared.db.tables import image_reservations, images
from shared.limits import MAX_WORKSPACE_BYTES, MAX_WORKSPACE_IMAGES

SHELF: Final = Shelf(images, image_reservations, MAX_WORKSPACE_BYTES, MAX_WORKSPACE_IMAGES)


@dataclass(frozen=True, slots=True)
class ImageFacts:
    """What the bytes of an image say about themselves."""

    content_type: str
    bytes: int
    width: int
    height: int
    sha256: str


@dataclass(frozen=True, slots=True)
class ImageRecord:
    """A stored image; its bytes lie in the blob store under its workspace and `facts.sha256`."""

    name: str
    facts: ImageFacts
    created_at: datetime
    created_by: UserRef
    updated_at: datetime
    updated_by: UserRef


@dataclass(frozen=True, slots=True)
class Stored:
    """A recorded upload. `replaced_sha256` names the bytes the name held before, None when it was free."""

    image: ImageRecord
    replaced_sha256: str | None


def reserve_room(
    session: Session, workspace_id: str, *, name: str, facts: ImageFacts, at: datetime
) -> Reservation:
    """Hold room for an upload, counting only what it adds to the image it replaces.

    Raises:
        WorkspaceFullError: bytes or names would pass their limit.
    """
    return SHELF.reserve(session, workspace_id, name, size=facts.bytes, sha256=facts.sha256, at=at)


def release_room(session: Session, reservation: Reservation) -> None:
    """Give up the room of an upload that failed."""
    SHELF.release(session, reservation)


def record_image(
    session: Session, reservation: Reservation, *, facts: ImageFacts, user: UserRef, at: datetime
) -> Stored:
    """Point the name at bytes that lie in the store, in place of their reservation.

    Raises:
        WorkspaceFullError: the reservation had lapsed and its room is gone.
    """
    SHELF.take(session, reservation, size=facts.bytes)
    before = find_image(session, reservation.workspace_id, reservation.name)
    _write(session, reservation, facts=facts, user=user, at=at, is_new=before is None)
    after = find_image(session, reservation.workspace_id, reservation.name)
    assert after is not None
    return Stored(after, before.facts.sha256 if before else None)


def find_image(session: Session, workspace_id: str, name: str) -> ImageRecord | None:
    """Give the image of a name, None when the workspace has none."""
    row = session.execute(_records(workspace_id).where(images.c.name == name)).mappings().first()
    return _record(row) if row else None


def find_facts(session: Session, workspace_id: str, sha256: str) -> ImageFacts | None:
    """Return the facts of bytes that a workspace holds under any name, None when it holds none."""
    columns = images.c
    query = (
        select(columns.content_type, columns.bytes, columns.width, columns.height, columns.sha256)
        .where(columns.workspace_id == workspace_id, columns.sha256 == sha256)
        .limit(1)
    )
    row = session.execute(query).first()
    return None if row is None else ImageFacts(*row)


def list_images(
    session: Session, workspace_id: str, *, limit: int, start_after: str | None
) -> Sequence[ImageRecord]:
    """Give up to `limit` images with names past `start_after`, by name."""
    query = _records(workspace_id).order_by(images.c.name).limit(limit)
    if start_after is not None:
        query = query.where(images.c.name > start_after)
    # All rows at once: one by one the driver takes as long again as the database.
    return [_record(row) for row in session.execute(query).mappings().all()]


def delete_image(session: Session, workspace_id: str, name: str) -> str | None:
    """Remove the record of a name and give the SHA-256 it pointed at, None when there was none."""
    lock_workspace(session, workspace_id)
    image = find_image(session, workspace_id, name)
    if image is None:
        return None
    session.execute(
        delete(images).where(images.c.workspace_id == workspace_id, images.c.name == name)
    )
    return image.facts.sha256


def measure_workspace(session: Session, workspace_id: str) -> WorkspaceUsage:
    """Tell what a workspace holds."""
    return SHELF.measure(session, workspace_id)


def is_referenced(session: Session, workspace_id: str, sha256: str) -> bool:
    """Tell whether an image or an upload under way needs these bytes.

    The answer holds until the unit of work ends when the workspace was locked in it before.
    """
    return SHELF.is_referenced(session, workspace_id, sha256)


def blob_key(workspace_id: str, sha256: str) -> str:
    """Name the place of an image's bytes in the blob store."""
    return f"images/{workspace_id}/{sha256}"


def _write(
    session: Session,
    reservation: Reservation,
    *,
    facts: ImageFacts,
    user: UserRef,
    at: datetime,
    is_new: bool,
) -> None:
    values: dict[str, Any] = {
        "content_type": facts.content_type,
        "bytes": facts.bytes,
        "width": facts.width,
        "height": facts.height,
        "sha256": facts.sha256,
        "updated_at": at,
        "updated_by": user.id,
    }
    key = {"workspace_id": reservation.workspace_id, "name": reservation.name}
    if is_new:
        created = {"created_at": at, "created_by": user.id}
        session.execute(insert(images).values(**key, **values, **created))
        return
    session.execute(update(images).filter_by(**key).values(**values))


def _records(workspace_id: str) -> Select[Any]:
    joined, columns = people.join_authors(images)
    return select(images, *columns).select_from(joined).where(images.c.workspace_id == workspace_id)


def _record(row: RowMapping) -> ImageRecord:
    return ImageRecord(
        name=row["name"],
        facts=ImageFacts(
            row["content_type"], row["bytes"], row["width"], row["height"], row["sha256"]
        ),
        created_at=row["created_at"],
        created_by=people.read_creator(row),
        updated_at=row["updated_at"],
        updated_by=people.read_updater(row),
    )
