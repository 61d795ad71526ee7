"""Storing a file: inspect it in a worker, reserve room, put, record, delete what it replaced (hazards.md 9)."""

from __future__ import annotations

from typing import Final, Generic

from api.admission.body import Body
from api.auth.guard import Principal
from api.files.kinds import FileKind
from api.jobs.inspection import Inspections
from api.ports import Ports
from api.uploads import digest_of
from shared.clock import now
from shared.db.files import F, FileRecord, Reservation, WorkspaceFullError, lock_workspace
from shared.errors import ErrorKind, ServiceError, Unavailable
from shared.telemetry import log

_log: Final = log.get_logger(__name__)


class FileStore(Generic[F]):
    """Stores and deletes files of one kind, for one process of the front."""

    def __init__(self, kind: FileKind[F], ports: Ports) -> None:
        self._kind = kind
        self._ports = ports
        self._inspections = Inspections(ports)

    def store(self, name: str, body: Body, principal: Principal) -> tuple[FileRecord[F], bool]:
        """Store an upload under a name; returns its record, and whether the name was free.

        A crash leaves bytes without a record, never a record without bytes.

        Raises:
            ServiceError: 400, renders could not use it; 409, the workspace has no room for it; and
                what `Inspections.inspect` raises.
        """
        facts = self._inspect(body, principal)
        try:
            record, replaced = self._write(name, facts, body, principal)
        except WorkspaceFullError as error:
            raise self._no_room(name, facts, error) from error
        if replaced is not None and replaced != facts.sha256:
            self._clear(principal.get_workspace(), replaced)
        return record, replaced is None

    def delete(self, name: str, principal: Principal) -> bool:
        """Delete a file and release its room; returns whether there was one."""
        workspace_id = principal.get_workspace()
        self._drop_pin(principal)
        with self._ports.database.session() as session:
            sha256 = self._kind.files.delete(session, workspace_id, name)
        if sha256 is not None:
            self._clear(workspace_id, sha256)
        return sha256 is not None

    def _inspect(self, body: Body, principal: Principal) -> F:
        """Return the facts of an upload; bytes that the workspace already holds are not inspected again."""
        sha256 = digest_of(body)
        with self._ports.database.snapshot() as session:
            known = self._kind.files.find_facts(session, principal.get_workspace(), sha256)
        if known is not None:
            return known
        found = self._inspections.inspect(self._kind.body_kind, body, principal)
        return self._kind.read_facts(found, body.size, sha256)

    def _write(
        self, name: str, facts: F, body: Body, principal: Principal
    ) -> tuple[FileRecord[F], str | None]:
        ports, files, workspace_id = self._ports, self._kind.files, principal.get_workspace()
        with ports.database.session() as session:
            room = files.reserve(session, workspace_id, name, facts=facts, at=now())
        try:
            ports.blobs.put(files.blob_key(workspace_id, facts.sha256), body.file, facts.bytes)
            self._drop_pin(principal)
            with ports.database.session() as session:
                return files.record(session, room, facts=facts, user=principal.user, at=now())
        except BaseException:
            self._release(room)
            raise

    def _drop_pin(self, principal: Principal) -> None:
        cell = self._ports.cell(principal.state.account_id)
        self._kind.pins(cell).drop(principal.get_workspace())

    def _clear(self, workspace_id: str, sha256: str) -> None:
        """Delete bytes that no file of the workspace needs; those that cannot be deleted now are swept later."""
        files = self._kind.files
        try:
            with self._ports.database.session() as session:
                # Locked, so that no upload of the same bytes begins between look and deletion.
                lock_workspace(session, workspace_id)
                if not files.is_referenced(session, workspace_id, sha256):
                    self._ports.blobs.delete(files.blob_key(workspace_id, sha256))
        except Unavailable as error:
            _log.warning(
                f"{self._kind.singular} bytes left behind",
                workspace=workspace_id,
                sha256=sha256,
                part=error.part,
            )

    def _release(self, room: Reservation) -> None:
        try:
            with self._ports.database.session() as session:
                self._kind.files.release(session, room)
        except Unavailable:  # the reservation lapses by itself
            _log.warning(
                f"{self._kind.singular} reservation left to lapse", workspace=room.workspace_id
            )

    def _no_room(self, name: str, facts: F, error: WorkspaceFullError) -> ServiceError:
        kind, usage = self._kind, error.usage
        return ServiceError(
            409,
            f"The workspace has no room for {kind.singular} '{name}' of {facts.bytes} bytes: it "
            f"holds {usage.total_bytes} bytes in {usage.count} {kind.plural}; the limit is "
            f"{kind.files.max_bytes} bytes and {kind.files.max_count} {kind.plural}.",
            kind=ErrorKind.QUOTA,
        )
