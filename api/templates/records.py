"""The records of templates as clients see them, and the entity tags of their states."""

from __future__ import annotations

from typing import Any

from api.conditions import Preconditions, make_etag
from api.exchange import write_user
from shared.clock import timestamp
from shared.db.session import Session
from shared.db.templates import TemplateRecord, lock_live


def write_template(record: TemplateRecord) -> dict[str, Any]:
    """Write a template's record, without content."""
    return {
        "id": record.id,
        "name": record.name,
        **({} if record.slug is None else {"slug": record.slug}),
        "versions": record.versions,
        "sha256": record.sha256,
        "created_at": timestamp(record.created_at),
        "created_by": write_user(record.created_by),
        "updated_at": timestamp(record.updated_at),
        "updated_by": write_user(record.updated_by),
    }


def etag_of(record: TemplateRecord, *, content_sha256: str | None = None) -> str:
    """Make the entity tag of a template read with a content, its live one unless told.

    Each change of what a read of the template shows changes it: content, name, slug and number of
    versions.
    """
    return make_etag(write_template(record), content_sha256 or record.sha256)


def check_template(
    session: Session, account_id: str, template_id: str, preconditions: Preconditions
) -> None:
    """Check the conditions of a change of a template; it stays as compared until the unit of work ends.

    Raises:
        ServiceError: 412; 404, the account has no template of that id.
    """
    if preconditions.are_given:
        preconditions.check(etag_of(lock_live(session, account_id, template_id)))
