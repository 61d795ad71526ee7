"""Named files of a workspace, of one kind: records, and the room that uploads reserve (hazards.md 4 and 9)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from typing import Any, Final, Generic, Protocol, TypeVar

from sqlalchemy import RowMapping, Select, Table, delete, func, insert, select, update

from shared.db import people
from shared.db.people import UserRef
from shared.db.session import Session
from shared.db.tables import workspaces
from shared.identifiers import new_id

# A crashed upload holds its room no longer than this; a live one takes seconds.
_RESERVATION_LIFE: Final = timedelta(minutes=10)


class Facts(Protocol):
    """What a worker found in an uploaded file: a dataclass whose fields are columns of its table."""

    @property
    def bytes(self) -> int:
        """Return the size in bytes."""

    @property
    def sha256(self) -> str:
        """Return the digest in hexadecimal."""


F = TypeVar("F", bound=Facts)


@dataclass(frozen=True, slots=True)
class FileRecord(Generic[F]):
    """A stored file; its bytes are in the blob store under its workspace and `facts.sha256`."""

    name: str
    facts: F
    created_at: datetime
    created_by: UserRef
    updated_at: datetime
    updated_by: UserRef


@dataclass(frozen=True, slots=True)
class WorkspaceUsage:
    """What a workspace holds of one kind of file."""

    total_bytes: int
    count: int


@dataclass(frozen=True, slots=True)
class Reservation:
    """Room for one upload, until it is recorded or released."""

    id: str
    workspace_id: str
    name: str


class WorkspaceFullError(Exception):
    """The workspace has no room for an upload; `usage` includes the uploads in progress."""

    def __init__(self, usage: WorkspaceUsage) -> None:
        super().__init__(f"{usage.total_bytes} bytes under {usage.count} names")
        self.usage: Final = usage


class StoredFiles(Generic[F]):
    """The records of one kind of file, their reservations, and how much a workspace may hold.

    Both tables have the columns `workspace_id`, `name`, `bytes` and `sha256`; the records have one
    for each field of `facts` beside.
    """

    def __init__(
        self,
        records: Table,
        reservations: Table,
        facts: type[F],
        *,
        folder: str,
        max_bytes: int,
        max_count: int,
    ) -> None:
        self._records = records
        self._reservations = reservations
        self._facts = facts
        self._columns: Final = tuple(field.name for field in fields(facts))  # type: ignore[arg-type]
        self.folder: Final = folder
        self.max_bytes = max_bytes
        self.max_count = max_count

    def blob_key(self, workspace_id: str, sha256: str) -> str:
        """Return the key of a file's bytes in the blob store."""
        return f"{self.folder}/{workspace_id}/{sha256}"

    def find(self, session: Session, workspace_id: str, name: str) -> FileRecord[F] | None:
        """Return the file of a name, None when the workspace has none."""
        query = self._select(workspace_id).where(self._records.c.name == name)
        row = session.execute(query).mappings().first()
        return self._read(row) if row else None

    def find_facts(self, session: Session, workspace_id: str, sha256: str) -> F | None:
        """Return the facts of bytes that a workspace holds under any name, None when it holds none."""
        query = self._select(workspace_id).where(self._records.c.sha256 == sha256).limit(1)
        row = session.execute(query).mappings().first()
        return self._read(row).facts if row else None

    def list(
        self, session: Session, workspace_id: str, *, limit: int, start_after: str | None
    ) -> Sequence[FileRecord[F]]:
        """Return up to `limit` files with names past `start_after`, by name."""
        query = self._select(workspace_id).order_by(self._records.c.name).limit(limit)
        if start_after is not None:
            query = query.where(self._records.c.name > start_after)
        # All rows at once: one by one the driver takes as long again as the database.
        return [self._read(row) for row in session.execute(query).mappings().all()]

    def list_names(self, session: Session, workspace_id: str) -> Sequence[str]:
        """Return the names of all files of a workspace, in order."""
        columns = self._records.c
        query = select(columns.name).where(columns.workspace_id == workspace_id)
        return session.execute(query.order_by(columns.name)).scalars().all()

    def measure(self, session: Session, workspace_id: str) -> WorkspaceUsage:
        """Return what a workspace holds."""
        row = session.execute(
            select(func.coalesce(func.sum(self._records.c.bytes), 0), func.count()).where(
                self._records.c.workspace_id == workspace_id
            )
        ).one()
        return WorkspaceUsage(int(row[0]), int(row[1]))

    def reserve(
        self, session: Session, workspace_id: str, name: str, *, facts: F, at: datetime
    ) -> Reservation:
        """Hold room for an upload, counting only what it adds to the file that it replaces.

        Raises:
            WorkspaceFullError: bytes or names would pass their limit.
        """
        lock_workspace(session, workspace_id)
        self._drop_stale(session, workspace_id, at=at)
        self._check_room(session, workspace_id, name, facts.bytes)
        reservation = Reservation(new_id("res"), workspace_id, name)
        session.execute(
            insert(self._reservations).values(
                id=reservation.id,
                workspace_id=workspace_id,
                name=name,
                bytes=facts.bytes,
                sha256=facts.sha256,
                reserved_at=at,
            )
        )
        return reservation

    def release(self, session: Session, reservation: Reservation) -> None:
        """Release the room of an upload that failed."""
        session.execute(delete(self._reservations).where(self._reservations.c.id == reservation.id))

    def record(
        self, session: Session, reservation: Reservation, *, facts: F, user: UserRef, at: datetime
    ) -> tuple[FileRecord[F], str | None]:
        """Point the name at bytes that are in the blob store, and end their reservation.

        Returns the record, and the SHA-256 of the bytes that the name held before, None if it was
        free.

        Raises:
            WorkspaceFullError: the reservation had lapsed and its room is taken.
        """
        workspace_id, name = reservation.workspace_id, reservation.name
        self._end(session, reservation, size=facts.bytes)
        before = self.find(session, workspace_id, name)
        values: dict[str, Any] = {column: getattr(facts, column) for column in self._columns}
        values |= {"updated_at": at, "updated_by": user.id}
        key = {"workspace_id": workspace_id, "name": name}
        if before is None:
            created = {"created_at": at, "created_by": user.id}
            session.execute(insert(self._records).values(**key, **values, **created))
        else:
            session.execute(update(self._records).filter_by(**key).values(**values))
        after = self.find(session, workspace_id, name)
        assert after is not None
        return after, before.facts.sha256 if before else None

    def delete(self, session: Session, workspace_id: str, name: str) -> str | None:
        """Delete the record of a name; returns the SHA-256 it pointed at, None when there was none."""
        lock_workspace(session, workspace_id)
        file = self.find(session, workspace_id, name)
        if file is None:
            return None
        columns = self._records.c
        session.execute(
            delete(self._records).where(columns.workspace_id == workspace_id, columns.name == name)
        )
        return file.facts.sha256

    def is_referenced(self, session: Session, workspace_id: str, sha256: str) -> bool:
        """Report whether a record or an upload in progress needs these bytes.

        The answer holds until the unit of work ends when the workspace was locked in it before.
        """
        return sha256 in self.find_needed(session, workspace_id)

    def find_needed(self, session: Session, workspace_id: str) -> frozenset[str]:
        """Return the SHA-256 of all bytes that records of a workspace or uploads in progress need."""
        return frozenset(
            digest
            for table in (self._records, self._reservations)
            for digest in session.execute(
                select(table.c.sha256).where(table.c.workspace_id == workspace_id)
            ).scalars()
        )

    def _end(self, session: Session, reservation: Reservation, *, size: int) -> None:
        lock_workspace(session, reservation.workspace_id)
        held = session.execute(
            delete(self._reservations).where(self._reservations.c.id == reservation.id)
        )
        if not held.rowcount:
            self._check_room(session, reservation.workspace_id, reservation.name, size)

    def _drop_stale(self, session: Session, workspace_id: str, *, at: datetime) -> None:
        columns = self._reservations.c
        session.execute(
            delete(self._reservations).where(
                columns.workspace_id == workspace_id,
                columns.reserved_at < at - _RESERVATION_LIFE,
            )
        )

    def _check_room(self, session: Session, workspace_id: str, name: str, size: int) -> None:
        stored = _sizes(session, self._records, workspace_id)
        coming = _sizes(session, self._reservations, workspace_id)
        held_names = {held for held, _ in stored + coming}
        held_bytes = sum(taken for _, taken in stored + coming)
        replaced_bytes = sum(taken for held, taken in stored if held == name)
        usage = WorkspaceUsage(held_bytes, len(held_names))
        if held_bytes - replaced_bytes + size > self.max_bytes:
            raise WorkspaceFullError(usage)
        if len(held_names | {name}) > self.max_count:
            raise WorkspaceFullError(usage)

    def _select(self, workspace_id: str) -> Select[Any]:
        joined, authors = people.join_authors(self._records)
        query = select(self._records, *authors).select_from(joined)
        return query.where(self._records.c.workspace_id == workspace_id)

    def _read(self, row: RowMapping) -> FileRecord[F]:
        return FileRecord(
            name=row["name"],
            facts=self._facts(**{column: row[column] for column in self._columns}),
            created_at=row["created_at"],
            created_by=people.read_creator(row),
            updated_at=row["updated_at"],
            updated_by=people.read_updater(row),
        )


def lock_workspace(session: Session, workspace_id: str) -> None:
    """Lock the workspace's uploads against every other change until the unit of work ends."""
    session.execute(
        select(workspaces.c.id).where(workspaces.c.id == workspace_id).with_for_update()
    )


def _sizes(session: Session, table: Table, workspace_id: str) -> list[tuple[str, int]]:
    query = select(table.c.name, table.c.bytes).where(table.c.workspace_id == workspace_id)
    return [(row.name, row.bytes) for row in session.execute(query)]
