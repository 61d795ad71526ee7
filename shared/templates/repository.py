"""Templates: mutable records that refer to immutable content.

A deleted template keeps its row, to which its versions, tags and slug refer.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from hashlib import sha256
from typing import Annotated, Any, Final

from sqlalchemy import RowMapping, Select, insert, select, update

from shared.db import user_refs
from shared.db.queries import upsert_row
from shared.db.session import Session
from shared.db.tables import contents, slugs, templates
from shared.db.user_refs import UserRef
from shared.errors import ErrorCode, ServiceError
from shared.identifiers import PUBLIC_PREFIX, new_template_id
from shared.records import SHA256, ShownRecord, Timestamp, doc

PUBLIC_ACCOUNT: Final = "acc_public"  # owns the templates that ship with the product
EMPTY_SHA256: Final = sha256(b"").hexdigest()  # of a template without content


class TemplateRecord(ShownRecord, frozen=True):
    """A template of an account; `sha256` identifies its live content, `versions` is the number published."""

    id: str
    name: Annotated[str, doc("Name of the template.")]
    versions: Annotated[int, doc("Number of published versions.", minimum=0)]
    sha256: Annotated[str, doc("SHA-256 of the live content.", **SHA256)]
    created_at: Annotated[Timestamp, doc("When it was created.")]
    created_by: UserRef
    updated_at: Annotated[Timestamp, doc("When its live content last changed.")]
    updated_by: UserRef
    slug: str | None = None


def create_template(
    session: Session, account_id: str, *, name: str, content: str, user: UserRef, at: datetime
) -> TemplateRecord:
    """Create a template under a new id."""
    template_id = new_template_id()
    session.execute(
        insert(templates).values(
            id=template_id,
            account_id=account_id,
            name=name,
            sha256=store_content(session, content, at=at),
            created_at=at,
            created_by=user.id,
            updated_at=at,
            updated_by=user.id,
        )
    )
    return get_template(session, template_id)


def get_template(session: Session, template_id: str) -> TemplateRecord:
    """Return an existing template of any account.

    Raises:
        NoResultFound: there is none.
    """
    query = _records().where(templates.c.id == template_id)
    return _record(session.execute(query).mappings().one())


def find_live_sha256(session: Session, account_id: str, template_id: str) -> str | None:
    """Return the SHA-256 of a template's live content, None if the account has no such template."""
    query = select(templates.c.sha256).filter_by(id=template_id, account_id=account_id)
    return session.scalar(query.where(templates.c.deleted_at.is_(None)))


def reader_account(account_id: str, template_id: str) -> str:
    """Return the owner of a template id as seen by an account; public templates are readable by all."""
    return PUBLIC_ACCOUNT if template_id.startswith(PUBLIC_PREFIX) else account_id


def lock_template(session: Session, account_id: str, template_id: str) -> RowMapping:
    """Lock and return a template's row, deleted or not, until the unit of work ends.

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
        raise own_template_not_found(template_id)
    return row


def check_known(session: Session, account_id: str, template_id: str) -> None:
    """Check that an account may read a template; a deleted one counts, since its versions stay readable.

    Raises:
        ServiceError: 404, the account cannot read a template of that id.
    """
    owner = reader_account(account_id, template_id)
    query = select(templates.c.id).where(
        templates.c.id == template_id, templates.c.account_id == owner
    )
    if session.scalar(query) is None:
        raise _id_not_found(template_id)


def template_not_found(identifier: str) -> ServiceError:
    """Return the error for an unknown template; it does not reveal templates of other accounts."""
    return _not_found(f"There is no template {identifier!r}.")


def own_template_not_found(template_id: str) -> ServiceError:
    """Return the error for a template id that the account cannot change."""
    if template_id.startswith(PUBLIC_PREFIX):
        return _not_found(
            f"Template {template_id!r} cannot be changed: public templates are read-only. Create a "
            "template with its content instead."
        )
    return _id_not_found(template_id)


def _id_not_found(template_id: str) -> ServiceError:
    return _not_found(f"No template has the id {template_id!r}; slugs are not accepted here.")


def _not_found(message: str) -> ServiceError:
    return ServiceError(404, message, code=ErrorCode.TEMPLATE_NOT_FOUND)


def lock_live(session: Session, account_id: str, template_id: str) -> TemplateRecord:
    """Lock and return a template that is not deleted, until the unit of work ends.

    Raises:
        ServiceError: 404, the account has no template of that id.
    """
    if lock_template(session, account_id, template_id)["deleted_at"] is not None:
        raise own_template_not_found(template_id)
    return get_template(session, template_id)


def list_templates(
    session: Session,
    owners: Iterable[str],
    *,
    name: str | None = None,
    limit: int,
    start_after: str | None,
) -> Sequence[TemplateRecord]:
    """Return up to `limit` templates of some accounts with ids after `start_after`, ordered by id.

    `name` selects only those with that name.
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
    session: Session, template_id: str, *, content: str, user: UserRef, at: datetime
) -> TemplateRecord:
    """Replace the live content of a locked template."""
    digest = store_content(session, content, at=at)
    _change(session, template_id, sha256=digest, updated_at=at, updated_by=user.id)
    return get_template(session, template_id)


def rename_template(session: Session, template_id: str, *, name: str) -> TemplateRecord:
    """Rename a locked template; `updated_at` and `updated_by` describe its content and do not change."""
    _change(session, template_id, name=name)
    return get_template(session, template_id)


def delete_template(session: Session, template_id: str, *, at: datetime) -> None:
    """Mark a locked template as deleted."""
    _change(session, template_id, deleted_at=at)


def _change(session: Session, template_id: str, **values: Any) -> None:
    session.execute(update(templates).filter_by(id=template_id).values(values))


def store_content(session: Session, content: str, *, at: datetime) -> str:
    """Store content under the SHA-256 of its UTF-8 bytes and return that; a repeated call renews its time.

    This locks the row, so that cleanup cannot delete it before the unit of work refers to it.
    """
    digest = sha256(content.encode()).hexdigest()
    row = {"sha256": digest, "content": content, "created_at": at}
    session.execute(upsert_row(session, contents, row, updated=("created_at",)))
    return digest


def get_content(session: Session, digest: str) -> str:
    """Return the content of a SHA-256.

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
    joined, columns = user_refs.join_authors(templates)
    joined = joined.outerjoin(slugs, slugs.c.template_id == templates.c.id)
    return select(templates, slugs.c.slug, *columns).select_from(joined)


def _record(row: RowMapping) -> TemplateRecord:
    return TemplateRecord.of_row(
        row,
        versions=row["version_count"],
        created_by=user_refs.read_user(row, "creator"),
        updated_by=user_refs.read_user(row, "updater"),
    )
