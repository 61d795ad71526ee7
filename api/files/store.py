"""Storing of files: inspect in a worker, reserve space, store, record, delete the replaced blob."""

from __future__ import annotations

from typing import Final, Generic

from api.admission.body import Body
from api.auth.guard import Principal
from api.files.kinds import FileKind
from api.jobs.inspection import Inspections
from api.ports import Ports
from api.uploads import compute_sha256
from shared.clock import now
from shared.errors import ErrorKind, ServiceError, Unavailable
from shared.files.repository import F, FileRecord, Reservation, WorkspaceFullError, lock_workspace
from shared.telemetry import log

_log: Final = log.get_logger(__name__)


class FileStore(Generic[F]):
    """Stores and deletes files of one kind, for one process of the front."""

    def __init__(self, kind: FileKind[F], ports: Ports) -> None:
        self._kind = kind
        self._ports = ports
        self._inspections = Inspections(ports)

    def store(self, name: str, body: Body, principal: Principal) -> tuple[FileRecord[F], bool]:
        """Store an upload under a name; return its record, and whether the name is new.

        A crash can leave bytes without a record, never a record without bytes.

        Raises:
            ServiceError: 400, renders cannot use the file; 409, the workspace is full; and the errors
                of `Inspections.inspect`.
        """
        properties = self._inspect(body, principal)
        try:
            record, replaced = self._write(name, properties, body, principal)
        except WorkspaceFullError as error:
            raise self._workspace_full(name, properties, error) from error
        if replaced is not None and replaced != properties.sha256:
            self._delete_unreferenced(principal.get_workspace(), replaced)
        return record, replaced is None

    def delete(self, name: str, principal: Principal) -> bool:
        """Delete a file, free its space, and return whether it existed."""
        workspace_id = principal.get_workspace()
        self._drop_pin(name, principal)
        with self._ports.database.session() as session:
            sha256 = self._kind.files.delete(session, workspace_id, name)
        if sha256 is not None:
            self._delete_unreferenced(workspace_id, sha256)
        return sha256 is not None

    def _inspect(self, body: Body, principal: Principal) -> F:
        """Return the properties of an upload; bytes that the workspace already holds are not inspected again."""
        sha256 = compute_sha256(body)
        with self._ports.database.snapshot() as session:
            known = self._kind.files.find_properties(session, principal.get_workspace(), sha256)
        if known is not None:
            return known
        found = self._inspections.inspect(self._kind.body_kind, body, principal)
        return self._kind.files.read_properties({**found, "bytes": body.size, "sha256": sha256})

    def _write(
        self, name: str, properties: F, body: Body, principal: Principal
    ) -> tuple[FileRecord[F], str | None]:
        ports, files, workspace_id = self._ports, self._kind.files, principal.get_workspace()
        with ports.database.session() as session:
            room = files.reserve(session, workspace_id, name, properties=properties, at=now())
        try:
            ports.blobs.put(
                files.blob_key(workspace_id, properties.sha256), body.file, properties.bytes
            )
            self._drop_pin(name, principal)
            with ports.database.session() as session:
                return files.record(
                    session, room, properties=properties, user=principal.user, at=now()
                )
        except BaseException:
            self._release(room)
            raise

    def _drop_pin(self, name: str, principal: Principal) -> None:
        cell = self._ports.cell(principal.state.account_id)
        self._kind.pins(cell).drop(principal.get_workspace(), name)

    def _delete_unreferenced(self, workspace_id: str, sha256: str) -> None:
        """Delete a blob that no file of the workspace references; if that fails, maintenance deletes it later."""
        files = self._kind.files
        try:
            with self._ports.database.session() as session:
                # Locked, so that no upload of the same bytes starts between check and deletion.
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

    def _workspace_full(self, name: str, properties: F, error: WorkspaceFullError) -> ServiceError:
        kind, usage = self._kind, error.usage
        return ServiceError(
            409,
            f"The workspace has no space for {kind.singular} '{name}' of {properties.bytes} bytes: it "
            f"holds {usage.total_bytes} bytes in {usage.count} {kind.plural}; the limit is "
            f"{kind.files.max_bytes} bytes and {kind.files.max_count} {kind.plural}.",
            kind=ErrorKind.QUOTA,
        )
