"""Names of templates: slugs of a workspace, at most one for each, and tags of versions with their history."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum, auto
from typing import Annotated, Any, Final, Literal

from msgspec import UNSET, Meta, UnsetType
from sqlalchemy import RowMapping, Select, delete, insert, select, update

from shared.db import user_refs
from shared.db.session import Session
from shared.db.tables import slugs, tag_events, tags
from shared.db.user_refs import UserRef
from shared.errors import ErrorCode, ServiceError
from shared.files.repository import lock_workspace
from shared.identifiers import TEMPLATE_ID
from shared.records import Record, ShownRecord, Timestamp, doc
from shared.templates.repository import find_live_sha256, lock_template, own_template_not_found
from shared.templates.versions import get_version, list_approvals

PAGE: Final = 100
HISTORY_DEPTH: Final = 100

Action = Literal["created", "moved", "removed"]
# JSON has one type of numbers: 3.0 is 3.
_Version = Annotated[float, Meta(ge=1, lt=10**16, multiple_of=1)]
_TemplateId = Annotated[str, Meta(pattern=f"^{TEMPLATE_ID.pattern}")]


class PlanTagRequest(Record, frozen=True, forbid_unknown_fields=True):
    """The version that a tag points to."""

    version: _Version


class TagRequest(PlanTagRequest, frozen=True, forbid_unknown_fields=True):
    """The version that a tag points to, and whether it is guarded from now on."""

    guarded: bool | UnsetType = UNSET

    @property
    def guard(self) -> bool | None:
        """Whether the tag is guarded from now on; None if that stays as it is."""
        return None if self.guarded is UNSET else self.guarded


class Tag(ShownRecord, frozen=True):
    """A tag and the version it points at."""

    tag: str
    version: Annotated[int, doc("The version it points to.", minimum=1)]
    updated_at: Annotated[Timestamp, doc("When it last moved.")]
    updated_by: UserRef
    guarded: Annotated[bool, doc("Whether it moves to approved versions only.")] = False


class TagEvent(ShownRecord, frozen=True):
    """One change of a tag. `version` is None if it was removed, `previous_version` if it was created."""

    action: Annotated[Action, doc("The change.")]
    version: Annotated[
        int | None, doc("The version that it points to since; null if it was removed.")
    ]
    at: Annotated[Timestamp, doc("When it was changed.")]
    by: UserRef
    previous_version: Annotated[
        int | None, doc("The version that it pointed to before.", minimum=1)
    ] = None


def set_tag(
    session: Session,
    template_id: str,
    tag: str,
    *,
    version: int,
    user: UserRef,
    at: datetime,
    guarded: bool | None = None,
) -> None:
    """Point a tag of a locked template at a published version, and guard it or no longer.

    Without a change nothing is recorded. The lock keeps the history in the order of the changes.

    Raises:
        ServiceError: 404, the template has no such version; 409, the tag is
            guarded, and no other key than that which published the version approved it.
    """
    get_version(session, template_id, version)
    before = find_tag(session, template_id, tag)
    is_guarded = before is not None and before.guarded if guarded is None else guarded
    if before is not None and before.version == version:
        if before.guarded != is_guarded:
            held = update(tags).filter_by(template_id=template_id, tag=tag)
            session.execute(held.values(is_guarded=is_guarded))
        return
    if is_guarded and not list_approvals(session, template_id, version):
        raise ServiceError(
            409,
            f"The tag {tag!r} is guarded, and version {version} is not approved: a key that did not "
            "publish it has to approve it first.",
        )
    values = {"version": version, "updated_at": at, "updated_by": user.id, "is_guarded": is_guarded}
    if before is None:
        session.execute(insert(tags).values(template_id=template_id, tag=tag, **values))
    else:
        session.execute(update(tags).filter_by(template_id=template_id, tag=tag).values(**values))
    event = TagEvent(
        "moved" if before else "created", version, at, user, before.version if before else None
    )
    _note(session, template_id, tag, event)


def remove_tag(
    session: Session, account_id: str, template_id: str, tag: str, *, user: UserRef, at: datetime
) -> bool:
    """Remove a tag and keep its history; return whether the tag existed.

    Raises:
        ServiceError: 404, the account has no such template; 409, the tag is guarded.
    """
    lock_template(session, account_id, template_id)
    before = find_tag(session, template_id, tag)
    if before is None:
        return False
    if before.guarded:
        raise ServiceError(409, f"The tag {tag!r} is guarded: set it with guarded false first.")
    session.execute(delete(tags).where(tags.c.template_id == template_id, tags.c.tag == tag))
    _note(session, template_id, tag, TagEvent("removed", None, at, user, before.version))
    return True


def find_tag(session: Session, template_id: str, tag: str) -> Tag | None:
    """Return a tag, None if it does not exist."""
    row = session.execute(_tags(template_id).where(tags.c.tag == tag)).mappings().first()
    return _tag(row) if row else None


def list_tags(
    session: Session, template_id: str, *, limit: int, start_after: str | None
) -> Sequence[Tag]:
    """Return up to `limit` tags after `start_after`, sorted by name."""
    query = _tags(template_id).order_by(tags.c.tag).limit(limit)
    if start_after is not None:
        query = query.where(tags.c.tag > start_after)
    return [_tag(row) for row in session.execute(query).mappings()]


def list_history(session: Session, template_id: str, tag: str, *, limit: int) -> Sequence[TagEvent]:
    """Return the `limit` most recent changes of a tag, which may be removed, newest first."""
    joined, columns = user_refs.join_author(tag_events, by="by")
    query = (
        select(tag_events, *columns)
        .select_from(joined)
        .where(tag_events.c.template_id == template_id, tag_events.c.tag == tag)
        .order_by(tag_events.c.id.desc())
        .limit(limit)
    )
    return [
        TagEvent.of_row(row, by=user_refs.read_user(row, "author"))
        for row in session.execute(query).mappings()
    ]


def _note(session: Session, template_id: str, tag: str, event: TagEvent) -> None:
    session.execute(
        insert(tag_events).values(
            template_id=template_id,
            tag=tag,
            action=event.action,
            version=event.version,
            previous_version=event.previous_version,
            at=event.at,
            by=event.by.id,
        )
    )


def _tags(template_id: str) -> Select[Any]:
    joined, columns = user_refs.join_author(tags, by="updated_by")
    return select(tags, *columns).select_from(joined).where(tags.c.template_id == template_id)


def _tag(row: RowMapping) -> Tag:
    author = user_refs.read_user(row, "author")
    return Tag.of_row(row, updated_by=author, guarded=row["is_guarded"])


MOST_LISTED: Final = 1000


@dataclass(frozen=True, slots=True)
class Slug:
    """A slug and its template, which may be deleted."""

    slug: str
    template_id: str


class SlugRequest(Record, frozen=True, forbid_unknown_fields=True):
    """A slug, and the id of its template; `template_id` is the former name of `template`."""

    slug: str
    template: _TemplateId = ""
    template_id: _TemplateId = ""

    def get_template(self) -> str:
        """Return the id.

        Raises:
            ServiceError: 400, it is missing, or both fields differ.
        """
        given = {self.template, self.template_id} - {""}
        if len(given) != 1:
            raise ServiceError(
                400,
                "The field template is required, the id; template_id, its former name, is sent in its place.",
            )
        return given.pop()


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
            workspace; 409, another template holds the slug, or the template loses one while a tag is guarded.
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
    if moved.rowcount:
        _check_unguarded(session, template_id)
    else:
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
        ServiceError: 404, it is not assigned; 409, its template has a guarded tag.
    """
    _check_unguarded(session, find_holder(session, workspace_id, slug))
    released = session.execute(
        delete(slugs).where(slugs.c.workspace_id == workspace_id, slugs.c.slug == slug)
    )
    if not released.rowcount:
        raise ServiceError(404, f"Slug '{slug}' is not assigned", code=ErrorCode.SLUG_NOT_ASSIGNED)


def _check_unguarded(session: Session, template_id: str | None) -> None:
    guarded = select(tags.c.tag).filter_by(template_id=template_id, is_guarded=True).limit(1)
    if (tag := session.scalar(guarded)) is not None:
        raise ServiceError(
            409,
            f"The tag {tag!r} is guarded, and what has the slug would be rendered without an approval: set the tag "
            "with guarded false first.",
        )
