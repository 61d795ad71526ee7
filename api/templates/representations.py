"""The JSON representations of templates, and their entity tags."""

from __future__ import annotations

from api.conditional_requests import Preconditions, make_etag
from shared.db.session import Session
from shared.templates.repository import TemplateRecord, lock_live


def etag_of(record: TemplateRecord, *, content_sha256: str | None = None) -> str:
    """Return the entity tag of a template with a content, by default its live content.

    It changes with the content, the name, the slug and the number of versions.
    """
    return make_etag(record.show(), content_sha256 or record.sha256)


def check_template_preconditions(
    session: Session, account_id: str, template_id: str, preconditions: Preconditions
) -> None:
    """Check the preconditions of a change of a template, and lock it until the transaction ends.

    Raises:
        ServiceError: 412; 404, the account has no template of that id.
    """
    if preconditions.are_given:
        preconditions.check(etag_of(lock_live(session, account_id, template_id)))
