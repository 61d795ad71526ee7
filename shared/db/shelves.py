"""Room in a workspace for uploads of one kind: reserved, then taken by the record (hazards.md 9)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import Table, delete, func, insert, select

from shared.db.session import Session
from shared.db.tables import workspaces
from shared.identifiers import new_id

# An upload that crashed holds its room no longer than this; one that lives takes seconds.
_RESERVATION_LIFE: Final = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class WorkspaceUsage:
    """What a workspace holds."""

    total_bytes: int
    count: int


@dataclass(frozen=True, slots=True)
class Reservation:
    """Room for one upload, until it is recorded or released."""

    id: str
    workspace_id: str
    name: str


class WorkspaceFullError(Exception):
    """The workspace has no room for an upload; `usage` is what it holds, uploads under way included."""

    def __init__(self, usage: WorkspaceUsage) -> None:
        super().__init__(f"{usage.total_bytes} bytes under {usage.count} names")
        self.usage: Final = usage


@dataclass(frozen=True, slots=True)
class Shelf:
    """The records of one kind of upload, the reservations for them, and how much a workspace may hold.

    Both tables have the columns `workspace_id`, `name`, `bytes` and `sha256`.
    """

    records: Table
    reservations: Table
    max_bytes: int
    max_count: int

    def reserve(
        self,
        session: Session,
        workspace_id: str,
        name: str,
        *,
        size: int,
        sha256: str,
        at: datetime,
    ) -> Reservation:
        """Hold room for an upload, counting only what it adds to what it replaces.

        Raises:
            WorkspaceFullError: bytes or names would pass their limit.
        """
        lock_workspace(session, workspace_id)
        self._drop_stale(session, workspace_id, at=at)
        self._check_room(session, workspace_id, name, size)
        reservation = Reservation(new_id("res"), workspace_id, name)
        session.execute(
            insert(self.reservations).values(
                id=reservation.id,
                workspace_id=workspace_id,
                name=name,
                bytes=size,
                sha256=sha256,
                reserved_at=at,
            )
        )
        return reservation

    def release(self, session: Session, reservation: Reservation) -> None:
        """Give up the room of an upload that failed."""
        session.execute(delete(self.reservations).where(self.reservations.c.id == reservation.id))

    def take(self, session: Session, reservation: Reservation, *, size: int) -> None:
        """End a reservation for the record that is written in the same unit of work.

        Raises:
            WorkspaceFullError: the reservation had lapsed and its room is gone.
        """
        lock_workspace(session, reservation.workspace_id)
        held = session.execute(
            delete(self.reservations).where(self.reservations.c.id == reservation.id)
        )
        if not held.rowcount:
            self._check_room(session, reservation.workspace_id, reservation.name, size)

    def measure(self, session: Session, workspace_id: str) -> WorkspaceUsage:
        """Return what a workspace holds."""
        row = session.execute(
            select(func.coalesce(func.sum(self.records.c.bytes), 0), func.count()).where(
                self.records.c.workspace_id == workspace_id
            )
        ).one()
        return WorkspaceUsage(int(row[0]), int(row[1]))

    def is_referenced(self, session: Session, workspace_id: str, sha256: str) -> bool:
        """Report whether a record or an upload under way needs these bytes.

        The answer holds until the unit of work ends when the workspace was locked in it before.
        """
        return sha256 in self.find_needed(session, workspace_id)

    def find_needed(self, session: Session, workspace_id: str) -> frozenset[str]:
        """Return the bytes, by SHA-256, that records of a workspace or uploads under way need."""
        return frozenset(
            digest
            for table in (self.records, self.reservations)
            for digest in session.execute(
                select(table.c.sha256).where(table.c.workspace_id == workspace_id)
            ).scalars()
        )

    def _drop_stale(self, session: Session, workspace_id: str, *, at: datetime) -> None:
        columns = self.reservations.c
        session.execute(
            delete(self.reservations).where(
                columns.workspace_id == workspace_id,
                columns.reserved_at < at - _RESERVATION_LIFE,
            )
        )

    def _check_room(self, session: Session, workspace_id: str, name: str, size: int) -> None:
        stored = _sizes(session, self.records, workspace_id)
        coming = _sizes(session, self.reservations, workspace_id)
        held_names = {held for held, _ in stored + coming}
        held_bytes = sum(taken for _, taken in stored + coming)
        replaced_bytes = sum(taken for held, taken in stored if held == name)
        usage = WorkspaceUsage(held_bytes, len(held_names))
        if held_bytes - replaced_bytes + size > self.max_bytes:
            raise WorkspaceFullError(usage)
        if len(held_names | {name}) > self.max_count:
            raise WorkspaceFullError(usage)


def lock_workspace(session: Session, workspace_id: str) -> None:
    """Keep every other change of the workspace's uploads out until the unit of work ends."""
    session.execute(
        select(workspaces.c.id).where(workspaces.c.id == workspace_id).with_for_update()
    )


def _sizes(session: Session, table: Table, workspace_id: str) -> list[tuple[str, int]]:
    query = select(table.c.name, table.c.bytes).where(table.c.workspace_id == workspace_id)
    return [(row.name, row.bytes) for row in session.execute(query)]
