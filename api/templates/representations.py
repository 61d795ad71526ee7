"""The JSON representations of templates, and their entity tags."""

from __future__ import annotations

from typing import Any

from api.conditional_requests import Preconditions, make_etag
from api.http import write_user
from shared.clock import timestamp
from shared.db.session import Session
from shared.templates.repository import TemplateRecord, lock_live


def write_template(record: TemplateRecord) -> dict[str, Any]:
    """Return a template's record, without content."""
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
    """Return the entity tag of a template with a content, by default its live content.

    It changes with the content, the name, the slug and the number of versions.
    """
    return make_etag(write_template(record), content_sha256 or record.sha256)


def check_template_preconditions(
    session: Session, account_id: str, template_id: str, preconditions: Preconditions
) -> None:
    """Check the preconditions of a change of a template, and lock it until the transaction ends.

    Raises:
        ServiceError: 412; 404, the account has no template of that id.
    """
    if preconditions.are_given:
        preconditions.check(etag_of(lock_live(session, account_id, template_id)))
