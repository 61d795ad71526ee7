"""Templates: a record that changes, over contents that never do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Any, Final

from sqlalchemy import RowMapping, Select, delete, insert, select, update

from shared.db import people
from shared.db.people import UserRef
from shared.db.session import Session
from shared.db.tables import contents, templates
from shared.db.upsert import insert_or_ignore
from shared.errors import ErrorCode, ErrorKind, ServiceError
from shared.identifiers import new_template_id
from shared.jobs import PinnedTemplate
from shared.references import Live, Numbered, Tagged, TemplateReference

EMPTY_SHA256: Final = sha256(b"").hexdigest()  # a template without content has this one


@dataclass(frozen=True, slots=True)
class TemplateRecord:
    """A template of an account; `sha256` names its live content."""

    id: str
    name: str
    sha256: str
    created_at: datetime
    created_by: UserRef
    updated_at: datetime
    updated_by: UserRef


def create_template(
    session: Session, account_id: str, *, name: str, content: str, user: UserRef, at: datetime
) -> TemplateRecord:
    """Make a template under a fresh id."""
    template_id = new_template_id()
    session.execute(
        insert(templates).values(
            id=template_id,
            account_id=account_id,
            name=name,
            sha256=keep_content(session, content, at=at),
            created_at=at,
            created_by=user.id,
            updated_at=at,
            updated_by=user.id,
        )
    )
    return get_template(session, template_id)


def get_template(session: Session, template_id: str) -> TemplateRecord:
    """Give a template that is known to be there, whoever's it is.

    Raises:
        NoResultFound: it is not.
    """
    query = _records().where(templates.c.id == template_id)
    return _record(session.execute(query).mappings().one())


def find_live_sha256(session: Session, account_id: str, template_id: str) -> str | None:
    """Name a template's live content, None when the account has no template of that id."""
    return session.scalar(
        select(templates.c.sha256).where(
            templates.c.id == template_id, templates.c.account_id == account_id
        )
    )


def get_pinned(session: Session, account_id: str, reference: TemplateReference) -> PinnedTemplate:
    """Resolve a reference to the one text it names now.

    Raises:
        ServiceError: 404, with `ERR_TEMPLATE_NOT_FOUND` when the account has no such template,
            without a code when the template has no such version or tag.
    """
    digest = find_live_sha256(session, account_id, reference.identifier)
    if digest is None:
        raise template_not_found(reference.identifier)
    if not isinstance(reference.selector, Live):
        raise _selector_not_found(reference)
    return PinnedTemplate(reference.identifier, None, digest)


def template_not_found(identifier: str) -> ServiceError:
    """Say that the account has no such template; whether another has one is not told."""
    return ServiceError(
        404,
        f"There is no template {identifier!r}.",
        kind=ErrorKind.NOT_FOUND,
        code=ErrorCode.TEMPLATE_NOT_FOUND,
    )


def list_templates(
    session: Session, account_id: str, *, limit: int, start_after: str | None
) -> Sequence[TemplateRecord]:
    """Give up to `limit` templates of the account with ids past `start_after`, by id."""
    query = _records().where(templates.c.account_id == account_id)
    query = query.order_by(templates.c.id).limit(limit)
    if start_after is not None:
        query = query.where(templates.c.id > start_after)
    return [_record(row) for row in session.execute(query).mappings()]


def replace_content(
    session: Session,
    account_id: str,
    template_id: str,
    *,
    content: str,
    user: UserRef,
    at: datetime,
) -> TemplateRecord | None:
    """Give a template new live content, None when the account has no template of that id."""
    changed = session.execute(
        update(templates)
        .where(templates.c.id == template_id, templates.c.account_id == account_id)
        .values(sha256=keep_content(session, content, at=at), updated_at=at, updated_by=user.id)
    )
    return get_template(session, template_id) if changed.rowcount else None


def delete_template(session: Session, account_id: str, template_id: str) -> bool:
    """Remove a template; tell whether the account had it. Its contents stay for queued jobs."""
    removed = session.execute(
        delete(templates).where(templates.c.id == template_id, templates.c.account_id == account_id)
    )
    return bool(removed.rowcount)


def keep_content(session: Session, content: str, *, at: datetime) -> str:
    """Keep a text under its SHA-256 (of its UTF-8 bytes) and give that; repeating changes nothing."""
    digest = sha256(content.encode()).hexdigest()
    row = {"sha256": digest, "content": content, "created_at": at}
    session.execute(insert_or_ignore(session, contents, row))
    return digest


def get_content(session: Session, digest: str) -> str:
    """Give the text kept under a SHA-256.

    Raises:
        LookupError: there is none.
    """
    content: str | None = session.scalar(
        select(contents.c.content).where(contents.c.sha256 == digest)
    )
    if content is None:
        raise LookupError(f"no content {digest}")
    return content


def _selector_not_found(reference: TemplateReference) -> ServiceError:
    match reference.selector:
        case Numbered(version):
            missing = f"published version {version}"
        case Tagged(tag):
            missing = f"tag {tag!r}"
        case _:
            missing = "published version yet"
    message = f"Template {reference.identifier!r} has no {missing}."
    return ServiceError(404, message, kind=ErrorKind.NOT_FOUND)


def _records() -> Select[Any]:
    joined, columns = people.join_authors(templates)
    return select(templates, *columns).select_from(joined)


def _record(row: RowMapping) -> TemplateRecord:
    return TemplateRecord(
        id=row["id"],
        name=row["name"],
        sha256=row["sha256"],
        created_at=row["created_at"],
        created_by=people.read_creator(row),
        updated_at=row["updated_at"],
        updated_by=people.read_updater(row),
    )
