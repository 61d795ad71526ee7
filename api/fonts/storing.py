"""Storing a font: inspect it in a worker, reserve, put, record, clear away (hazards.md 9)."""

from __future__ import annotations

from contextlib import suppress
from typing import Final

from api.admission.body import Body
from api.auth.guard import Principal
from api.jobs.inspection import Inspections
from api.ports import Ports
from api.uploads import digest_of
from shared.clock import now
from shared.db import fonts
from shared.db.fonts import SHELF, FontFacts, FontRecord
from shared.db.shelves import WorkspaceFullError, lock_workspace
from shared.errors import ErrorKind, ServiceError, Unavailable
from shared.jobs import BodyKind
from shared.limits import MAX_WORKSPACE_FONT_BYTES, MAX_WORKSPACE_FONTS
from shared.telemetry import log

_log: Final = log.get_logger(__name__)


class FontStore:
    """Stores and removes fonts, for one process of the front."""

    def __init__(self, ports: Ports) -> None:
        self._ports = ports
        self._inspections = Inspections(ports)

    def store(self, name: str, body: Body, principal: Principal) -> tuple[FontRecord, bool]:
        """Store an upload under a name; returns its record, and whether the name was free.

        A crash in between leaves bytes without a record, never the reverse.

        Raises:
            ServiceError: 400, no worker can use it; 409, the workspace has no room for it; and
                what `Inspections.inspect` raises.
        """
        facts = self._inspect(body, principal)
        try:
            record, replaced = self._write(name, facts, body, principal)
        except WorkspaceFullError as error:
            raise _no_room(name, facts, error) from error
        if replaced not in (None, facts.sha256):
            self._clear(principal.get_workspace(), replaced)
        return record, replaced is None

    def delete(self, name: str, principal: Principal) -> bool:
        """Remove a font and free its room; returns whether there was one."""
        workspace_id = principal.get_workspace()
        self._ports.cell(principal.state.account_id).font_pins.drop(workspace_id)
        with self._ports.database.session() as session:
            sha256 = fonts.delete_font(session, workspace_id, name)
        if sha256 is not None:
            self._clear(workspace_id, sha256)
        return sha256 is not None

    def _inspect(self, body: Body, principal: Principal) -> FontFacts:
        sha256 = digest_of(body)
        with self._ports.database.snapshot() as session:
            known = fonts.find_facts(session, principal.get_workspace(), sha256)
        if known is not None:
            return known
        found = self._inspections.inspect(BodyKind.FONT, body, principal)
        return FontFacts(found["format"], body.size, sha256, found["faces"])

    def _write(
        self, name: str, facts: FontFacts, body: Body, principal: Principal
    ) -> tuple[FontRecord, str | None]:
        ports, workspace_id = self._ports, principal.get_workspace()
        with ports.database.session() as session:
            room = SHELF.reserve(
                session, workspace_id, name, size=facts.bytes, sha256=facts.sha256, at=now()
            )
        try:
            ports.blobs.put(fonts.blob_key(workspace_id, facts.sha256), body.file, facts.bytes)
            ports.cell(principal.state.account_id).font_pins.drop(workspace_id)
            with ports.database.session() as session:
                return fonts.record_font(session, room, facts=facts, user=principal.user, at=now())
        except BaseException:
            with suppress(Unavailable), ports.database.session() as session:  # else it lapses
                SHELF.release(session, room)
            raise

    def _clear(self, workspace_id: str, sha256: str | None) -> None:
        """Delete bytes that no font needs any more; what cannot be deleted now is swept later."""
        if sha256 is None:
            return
        try:
            with self._ports.database.session() as session:
                # Locked, so that no upload of the same bytes begins between look and deletion.
                lock_workspace(session, workspace_id)
                if not SHELF.is_referenced(session, workspace_id, sha256):
                    self._ports.blobs.delete(fonts.blob_key(workspace_id, sha256))
        except Unavailable as error:
            _log.warning(
                "font bytes left behind", workspace=workspace_id, sha256=sha256, part=error.part
            )


def _no_room(name: str, facts: FontFacts, error: WorkspaceFullError) -> ServiceError:
    usage = error.usage
    return ServiceError(
        409,
        f"The workspace has no room for font '{name}' of {facts.bytes} bytes: it holds "
        f"{usage.total_bytes} bytes in {usage.count} fonts; the limit is "
        f"{MAX_WORKSPACE_FONT_BYTES} bytes and {MAX_WORKSPACE_FONTS} fonts.",
        kind=ErrorKind.QUOTA,
    )
