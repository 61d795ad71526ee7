"""Slugs of a workspace: readable names of templates, at most one for each template."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

from sqlalchemy import delete, insert, select, update

from shared.db.session import Session
from shared.db.tables import slugs
from shared.errors import ErrorCode, ErrorKind, ServiceError
from shared.files.repository import lock_workspace
from shared.templates.repository import find_live_sha256, own_template_not_found

MOST_LISTED: Final = 1000


@dataclass(frozen=True, slots=True)
class Slug:
    """A slug and its template, which may be deleted."""

    slug: str
    template_id: str


class Assignment(Enum):
    """The outcome of an assignment."""

    NEW = auto()  # any other slug of the template is released
    REPEATED = auto()


def assign_slug(
    session: Session, account_id: str, workspace_id: str, *, slug: str, template_id: str
) -> Assignment:
    """Assign a slug to a template, replacing its current slug.

    Raises:
        ServiceError: 404, the account has no such template; 400, `template_id` is a slug of the
            workspace; 409, another template holds the slug.
    """
    lock_workspace(session, workspace_id)
    if find_live_sha256(session, account_id, template_id) is None:
        if find_holder(session, workspace_id, template_id) is not None:
            raise ServiceError(
                400, f"Invalid template {template_id!r}: it is a slug; accepted is a template id."
            )
        raise own_template_not_found(template_id)
    holder = find_holder(session, workspace_id, slug)
    if holder == template_id:
        return Assignment.REPEATED
    if holder is not None:
        raise ServiceError(
            409,
            f"slug already in use: {slug!r} is assigned to another template; release it first.",
            code=ErrorCode.SLUG_TAKEN,
        )
    moved = session.execute(
        update(slugs).where(slugs.c.template_id == template_id).values(slug=slug)
    )
    if not moved.rowcount:
        row = {"workspace_id": workspace_id, "slug": slug, "template_id": template_id}
        session.execute(insert(slugs).values(row))
    return Assignment.NEW


def find_holder(session: Session, workspace_id: str, slug: str) -> str | None:
    """Return the id of a slug's template, None if the slug is free."""
    return session.scalar(
        select(slugs.c.template_id).where(
            slugs.c.workspace_id == workspace_id, slugs.c.slug == slug
        )
    )


def list_slugs(session: Session, workspace_id: str) -> Sequence[Slug]:
    """Return the workspace's slugs sorted by name, at most `MOST_LISTED`."""
    query = (
        select(slugs.c.slug, slugs.c.template_id)
        .where(slugs.c.workspace_id == workspace_id)
        .order_by(slugs.c.slug)
        .limit(MOST_LISTED)
    )
    return [Slug(row.slug, row.template_id) for row in session.execute(query)]


def release_slug(session: Session, workspace_id: str, slug: str) -> None:
    """Release a slug, even if its template was deleted.

    Raises:
        ServiceError: 404, it is not assigned.
    """
    released = session.execute(
        delete(slugs).where(slugs.c.workspace_id == workspace_id, slugs.c.slug == slug)
    )
    if not released.rowcount:
        raise ServiceError(
            404,
            f"Slug '{slug}' is not assigned",
            kind=ErrorKind.NOT_FOUND,
            code=ErrorCode.SLUG_NOT_ASSIGNED,
        )
