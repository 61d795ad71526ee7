"""Named files of a workspace, of one kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Final

from sqlalchemy import RowMapping, Select, Table, delete, func, insert, select, update

from shared.db import user_refs
from shared.db.session import Session
from shared.db.tables import fonts, images, workspaces
from shared.db.user_refs import UserRef
from shared.limits import (
    MAX_WORKSPACE_BYTES,
    MAX_WORKSPACE_FONT_BYTES,
    MAX_WORKSPACE_FONTS,
    MAX_WORKSPACE_IMAGES,
)
from shared.records import SHA256, Record, ShownRecord, Timestamp, doc


class FileRequest(Record, frozen=True, forbid_unknown_fields=True):
    """A file to be stored: its bytes in base64, or where to fetch them."""

    name: str
    data: str | None = None
    source_url: str | None = None


class FileRecord(ShownRecord, frozen=True, kw_only=True):
    """A stored file; its blob key consists of its workspace and `sha256`."""

    name: str
    bytes: Annotated[int, doc("Size in bytes.")]
    sha256: Annotated[str, doc("SHA-256, hexadecimal.", **SHA256)]
    created_at: Annotated[Timestamp, doc("When the name was first stored.")]
    created_by: UserRef
    updated_at: Annotated[Timestamp, doc("When it was last replaced.")]
    updated_by: UserRef


class ImageRecord(FileRecord, frozen=True, kw_only=True):
    """An image."""

    content_type: Annotated[str, doc("The format, detected from the bytes.")]
    width: Annotated[int, doc("Width in pixels; 0 of an ICC profile.")]
    height: Annotated[int, doc("Height in pixels; 0 of an ICC profile.")]


class FontRecord(FileRecord, frozen=True, kw_only=True):
    """A font file."""

    format: Annotated[
        str,
        doc("The format, detected from the bytes: truetype, opentype, collection, woff or woff2."),
    ]
    faces: Sequence[Mapping[str, Any]]


# What a file is, for each column of its table that its bytes decide: `bytes` and `sha256` are among them.
Properties = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class WorkspaceUsage:
    """The files of one kind in a workspace: total size and number."""

    total_bytes: int
    count: int


class WorkspaceFullError(Exception):
    """The workspace has no space for an upload."""

    def __init__(self, usage: WorkspaceUsage) -> None:
        super().__init__(f"{usage.total_bytes} bytes under {usage.count} names")
        self.usage: Final = usage


class StoredFiles:
    """The records of one kind of file, with the fields of `record`, and the limits of a workspace."""

    def __init__(
        self,
        records: Table,
        record: type[FileRecord],
        *,
        folder: str,
        max_bytes: int,
        max_count: int,
    ) -> None:
        self._records = records
        self._record = record
        changes = {"name", "created_at", "created_by", "updated_at", "updated_by"}
        self._properties = [name for name in record.__struct_fields__ if name not in changes]
        self.folder: Final = folder
        self.max_bytes = max_bytes
        self.max_count = max_count

    def blob_key(self, workspace_id: str, sha256: str) -> str:
        """Return the blob key of a file."""
        return f"{self.folder}/{workspace_id}/{sha256}"

    def find(self, session: Session, workspace_id: str, name: str) -> FileRecord | None:
        """Return the file of a name, None if there is none."""
        query = self._select(workspace_id).where(self._records.c.name == name)
        row = session.execute(query).mappings().first()
        return self._read(row) if row else None

    def find_properties(
        self, session: Session, workspace_id: str, sha256: str
    ) -> Properties | None:
        """Return the properties of a file with this content under any name, None if there is none."""
        query = self._select(workspace_id).where(self._records.c.sha256 == sha256).limit(1)
        row = session.execute(query).mappings().first()
        return None if row is None else {name: row[name] for name in self._properties}

    def list(
        self, session: Session, workspace_id: str, *, limit: int, start_after: str | None
    ) -> Sequence[FileRecord]:
        """Return up to `limit` files with names after `start_after`, ordered by name."""
        query = self._select(workspace_id).order_by(self._records.c.name).limit(limit)
        if start_after is not None:
            query = query.where(self._records.c.name > start_after)
        # All rows at once: fetching them one by one doubles the time.
        return [self._read(row) for row in session.execute(query).mappings().all()]

    def list_names(self, session: Session, workspace_id: str) -> Sequence[str]:
        """Return the names of all files of a workspace, sorted."""
        columns = self._records.c
        query = select(columns.name).where(columns.workspace_id == workspace_id)
        return session.execute(query.order_by(columns.name)).scalars().all()

    def measure(self, session: Session, workspace_id: str) -> WorkspaceUsage:
        """Return the size and number of a workspace's files."""
        row = session.execute(
            select(func.coalesce(func.sum(self._records.c.bytes), 0), func.count()).where(
                self._records.c.workspace_id == workspace_id
            )
        ).one()
        return WorkspaceUsage(int(row[0]), int(row[1]))

    def check_room(self, session: Session, workspace_id: str, name: str, size: int) -> None:
        """Check that a file of `size` bytes may be stored; one that it replaces is not counted.

        Raises:
            WorkspaceFullError: bytes or names would exceed their limit.
        """
        query = select(self._records.c.name, self._records.c.bytes)
        rows = session.execute(query.where(self._records.c.workspace_id == workspace_id))
        held = {row.name: row.bytes for row in rows}
        after = held | {name: size}
        if sum(after.values()) > self.max_bytes or len(after) > self.max_count:
            raise WorkspaceFullError(WorkspaceUsage(sum(held.values()), len(held)))

    def record(
        self,
        session: Session,
        workspace_id: str,
        name: str,
        *,
        properties: Properties,
        user: UserRef,
        at: datetime,
    ) -> tuple[FileRecord, str | None]:
        """Record a file, and lock its workspace until the unit of work ends: no other one can delete its bytes.

        Returns the record, and the SHA-256 of the replaced file, None if there was none.

        Raises:
            WorkspaceFullError: bytes or names would exceed their limit.
        """
        lock_workspace(session, workspace_id)
        self.check_room(session, workspace_id, name, properties["bytes"])
        before = self.find(session, workspace_id, name)
        values = {name: properties[name] for name in self._properties}
        values |= {"updated_at": at, "updated_by": user.id}
        key = {"workspace_id": workspace_id, "name": name}
        if before is None:
            created = {"created_at": at, "created_by": user.id}
            session.execute(insert(self._records).values(**key, **values, **created))
        else:
            session.execute(update(self._records).filter_by(**key).values(**values))
        after = self.find(session, workspace_id, name)
        assert after is not None
        return after, before.sha256 if before else None

    def delete(self, session: Session, workspace_id: str, name: str) -> str | None:
        """Delete the record of a name; return the SHA-256 of its file, None if there was none."""
        lock_workspace(session, workspace_id)
        file = self.find(session, workspace_id, name)
        if file is None:
            return None
        columns = self._records.c
        session.execute(
            delete(self._records).where(columns.workspace_id == workspace_id, columns.name == name)
        )
        return file.sha256

    def find_needed(self, session: Session, workspace_id: str) -> frozenset[str]:
        """Return the SHA-256 of all content that records of a workspace refer to.

        It holds until the unit of work ends if that has locked the workspace before.
        """
        columns = self._records.c
        query = select(columns.sha256).where(columns.workspace_id == workspace_id)
        return frozenset(session.execute(query).scalars())

    def _select(self, workspace_id: str) -> Select[Any]:
        joined, authors = user_refs.join_authors(self._records)
        query = select(self._records, *authors).select_from(joined)
        return query.where(self._records.c.workspace_id == workspace_id)

    def _read(self, row: RowMapping) -> FileRecord:
        return self._record.of_row(
            row,
            created_by=user_refs.read_user(row, "creator"),
            updated_by=user_refs.read_user(row, "updater"),
        )


def lock_workspace(session: Session, workspace_id: str) -> None:
    """Lock a workspace against concurrent uploads and deletions until the unit of work ends."""
    session.execute(
        select(workspaces.c.id).where(workspaces.c.id == workspace_id).with_for_update()
    )


IMAGES: Final = StoredFiles(
    images,
    ImageRecord,
    folder="images",
    max_bytes=MAX_WORKSPACE_BYTES,
    max_count=MAX_WORKSPACE_IMAGES,
)


FONTS: Final = StoredFiles(
    fonts,
    FontRecord,
    folder="fonts",
    max_bytes=MAX_WORKSPACE_FONT_BYTES,
    max_count=MAX_WORKSPACE_FONTS,
)
