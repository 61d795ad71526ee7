"""Storing an image where there is room for it: reserve, put, record, clear away (hazards.md 9)."""

from __future__ import annotations

from typing import BinaryIO, Final

from api.auth.guard import Principal
from api.ports import Ports
from shared.clock import now
from shared.db import images
from shared.db.images import ImageFacts, Stored
from shared.db.shelves import Reservation, WorkspaceFullError, lock_workspace
from shared.errors import ErrorKind, ServiceError, Unavailable
from shared.limits import MAX_WORKSPACE_BYTES, MAX_WORKSPACE_IMAGES
from shared.telemetry import log

_log: Final = log.get_logger(__name__)


def store_image(
    name: str, facts: ImageFacts, file: BinaryIO, *, principal: Principal, ports: Ports
) -> Stored:
    """Store an upload under a name. A crash in between leaves bytes without a record, never the reverse.

    Raises:
        ServiceError: 409, the workspace has no room for it.
    """
    workspace_id = principal.get_workspace()
    try:
        with ports.database.session() as session:
            room = images.reserve_room(session, workspace_id, name=name, facts=facts, at=now())
        try:
            ports.blobs.put(images.blob_key(workspace_id, facts.sha256), file, facts.bytes)
            ports.cell(principal.state.account_id).image_pins.drop(workspace_id)
            with ports.database.session() as session:
                stored = images.record_image(
                    session, room, facts=facts, user=principal.user, at=now()
                )
        except BaseException:
            _release(room, ports)
            raise
    except WorkspaceFullError as error:
        raise _no_room(name, facts, error) from error
    if stored.replaced_sha256 not in (None, facts.sha256):
        clear_bytes(workspace_id, stored.replaced_sha256, ports)
    return stored


def clear_bytes(workspace_id: str, sha256: str | None, ports: Ports) -> None:
    """Delete bytes that no image of the workspace needs any more.

    What cannot be deleted now stays behind without a record; the client's change stands.
    """
    if sha256 is None:
        return
    try:
        with ports.database.session() as session:
            # Locked, so that no upload of the same bytes begins between the look and the deletion.
            lock_workspace(session, workspace_id)
            if not images.is_referenced(session, workspace_id, sha256):
                ports.blobs.delete(images.blob_key(workspace_id, sha256))
    except Unavailable as error:
        _log.warning(
            "image bytes left behind", workspace=workspace_id, sha256=sha256, part=error.part
        )


def _release(room: Reservation, ports: Ports) -> None:
    try:
        with ports.database.session() as session:
            images.release_room(session, room)
    except Unavailable:
        # It lapses by itself.
        _log.warning("image reservation left to lapse", workspace=room.workspace_id)


def _no_room(name: str, facts: ImageFacts, error: WorkspaceFullError) -> ServiceError:
    usage = error.usage
    return ServiceError(
        409,
        f"The workspace has no room for image '{name}' of {facts.bytes} bytes: it holds "
        f"{usage.total_bytes} bytes in {usage.count} images; the limit is {MAX_WORKSPACE_BYTES} "
        f"bytes and {MAX_WORKSPACE_IMAGES} images.",
        kind=ErrorKind.QUOTA,
    )
