"""Templates: a record that changes, over contents that never do.

A deleted template keeps its row: its versions, tags and slug still refer to it (contract.md 3).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Any, Final

from sqlalchemy import RowMapping, Select, insert, select, update

from shared.db import people
from shared.db.people import UserRef
from shared.db.session import Session
from shared.db.tables import contents, slugs, templates
from shared.db.upsert import insert_or_renew
from shared.errors import ErrorCode, ErrorKind, ServiceError
from shared.identifiers import PUBLIC_PREFIX, new_template_id

PUBLIC_ACCOUNT: Final = "acc_public"  # holds the templates that ship with the product
EMPTY_SHA256: Final = sha256(b"").hexdigest()  # a template without content has this one


@dataclass(frozen=True, slots=True)
class TemplateRecord:
    """A template of an account; `sha256` names its live content, `versions` counts the published."""

    id: str
    name: str
    slug: str | None
    versions: int
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
            templates.c.id == template_id,
            templates.c.account_id == account_id,
            templates.c.deleted_at.is_(None),
        )
    )


def reader_account(account_id: str, template_id: str) -> str:
    """Give the account a template id is read from: public templates are everybody's."""
    return PUBLIC_ACCOUNT if template_id.startswith(PUBLIC_PREFIX) else account_id


def lock_template(session: Session, account_id: str, template_id: str) -> RowMapping:
    """Give a template's row, deleted or not, and keep every other change of it out until the end.

    Raises:
        ServiceError: 404, the account has no template of that id.
    """
    row = (
        session.execute(
            select(templates)
            .where(templates.c.id == template_id, templates.c.account_id == account_id)
            .with_for_update()
        )
        .mappings()
        .first()
    )
    if row is None:
        raise own_not_found(template_id)
    return row


def check_known(session: Session, account_id: str, template_id: str) -> None:
    """Check that the caller may read a template, which may be deleted: its versions stay.

    Raises:
        ServiceError: 404, there is none of that id for the caller.
    """
    owner = reader_account(account_id, template_id)
    query = select(templates.c.id).where(
        templates.c.id == template_id, templates.c.account_id == owner
    )
    if session.scalar(query) is None:
        raise _id_not_found(template_id)


def template_not_found(identifier: str) -> ServiceError:
    """Say that the account has no such template; whether another has one is not told."""
    return _not_found(f"There is no template {identifier!r}.")


def own_not_found(template_id: str) -> ServiceError:
    """Say that the account has no template of that id to change."""
    if template_id.startswith(PUBLIC_PREFIX):
        return _not_found(
            f"Template {template_id!r} cannot be changed: public templates are only read and "
            "rendered. Make one of your own with its content."
        )
    return _id_not_found(template_id)


def _id_not_found(template_id: str) -> ServiceError:
    return _not_found(
        f"No template has the id {template_id!r}; a slug does not stand for one here."
    )


def _not_found(message: str) -> ServiceError:
    return ServiceError(404, message, kind=ErrorKind.NOT_FOUND, code=ErrorCode.TEMPLATE_NOT_FOUND)


def lock_live(session: Session, account_id: str, template_id: str) -> TemplateRecord:
    """Return a template, and keep every other change of it out until the unit of work ends.

    Raises:
        ServiceError: 404, the account has no template of that id.
    """
    if lock_template(session, account_id, template_id)["deleted_at"] is not None:
        raise own_not_found(template_id)
    return get_template(session, template_id)


def list_templates(
    session: Session,
    owners: Iterable[str],
    *,
    name: str | None = None,
    limit: int,
    start_after: str | None,
) -> Sequence[TemplateRecord]:
    """Return up to `limit` templates of some accounts with ids past `start_after`, by id.

    `name` leaves only those that are called so.
    """
    found: list[TemplateRecord] = []
    for owner in owners:
        query = _records().where(templates.c.account_id == owner, templates.c.deleted_at.is_(None))
        if start_after is not None:
            query = query.where(templates.c.id > start_after)
        if name is not None:
            query = query.where(templates.c.name == name)
        query = query.order_by(templates.c.id).limit(limit)
        found += [_record(row) for row in session.execute(query).mappings()]
    return sorted(found, key=lambda record: record.id)[:limit]


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
        .where(
            templates.c.id == template_id,
            templates.c.account_id == account_id,
            templates.c.deleted_at.is_(None),
        )
        .values(sha256=keep_content(session, content, at=at), updated_at=at, updated_by=user.id)
    )
    return get_template(session, template_id) if changed.rowcount else None


def rename_template(
    session: Session, account_id: str, template_id: str, *, name: str
) -> TemplateRecord | None:
    """Give a template another name, None when the account has no template of that id.

    `updated_at` and `updated_by` tell of its content and stay.
    """
    changed = session.execute(
        update(templates)
        .where(
            templates.c.id == template_id,
            templates.c.account_id == account_id,
            templates.c.deleted_at.is_(None),
        )
        .values(name=name)
    )
    return get_template(session, template_id) if changed.rowcount else None


def delete_template(session: Session, account_id: str, template_id: str, *, at: datetime) -> bool:
    """Remove a template's live content from reach; tell whether the account had the template."""
    removed = session.execute(
        update(templates)
        .where(
            templates.c.id == template_id,
            templates.c.account_id == account_id,
            templates.c.deleted_at.is_(None),
        )
        .values(deleted_at=at)
    )
    return bool(removed.rowcount)


def keep_content(session: Session, content: str, *, at: datetime) -> str:
    """Keep a text under its SHA-256 (of its UTF-8 bytes) and give that; repeating renews its time.

    The row is locked by that, so that no sweep removes it before the unit of work names it.
    """
    digest = sha256(content.encode()).hexdigest()
    row = {"sha256": digest, "content": content, "created_at": at}
    session.execute(insert_or_renew(session, contents, row, renewed=("created_at",)))
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


def _records() -> Select[Any]:
    joined, columns = people.join_authors(templates)
    joined = joined.outerjoin(slugs, slugs.c.template_id == templates.c.id)
    return select(templates, slugs.c.slug, *columns).select_from(joined)


def _record(row: RowMapping) -> TemplateRecord:
    return TemplateRecord(
        id=row["id"],
        name=row["name"],
        slug=row["slug"],
        versions=row["version_count"],
        sha256=row["sha256"],
        created_at=row["created_at"],
        created_by=people.read_creator(row),
        updated_at=row["updated_at"],
        updated_by=people.read_updater(row),
    )
