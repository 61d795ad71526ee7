"""Resolution of a template reference to its current content, by one indexed query."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import ColumnElement, FromClause, RowMapping, and_, select

from shared.db.session import Session
from shared.db.tables import slugs, tags, templates, versions
from shared.errors import ErrorKind, ServiceError
from shared.identifiers import has_id_shape
from shared.jobs.records import PinnedTemplate
from shared.templates.references import (
    LatestVersion,
    LiveContent,
    NumberedVersion,
    TaggedVersion,
    TemplateReference,
)
from shared.templates.repository import reader_account, template_not_found


@dataclass(frozen=True, slots=True)
class Reader:
    """The account and workspace that resolve a reference; slugs belong to the workspace."""

    account_id: str
    workspace_id: str | None


def get_pinned(session: Session, reader: Reader, reference: TemplateReference) -> PinnedTemplate:
    """Resolve a reference to its current content.

    Raises:
        ServiceError: 404, with `ERR_TEMPLATE_NOT_FOUND` if the reader has no such template, without a
            code if the template has no such version or tag.
    """
    row = _find(session, reader, reference)
    if row is None:
        raise template_not_found(reference.identifier)
    if isinstance(reference.selector, LiveContent):
        if row["deleted_at"] is not None:
            raise template_not_found(reference.identifier)
        return PinnedTemplate(row["id"], None, row["sha256"])
    if row["version"] is None:
        raise _selector_not_found(reference)
    return PinnedTemplate(row["id"], row["version"], row["version_sha256"])


def _find(session: Session, reader: Reader, reference: TemplateReference) -> RowMapping | None:
    """Return the template's row, with the selected version if there is one."""
    source, is_asked = _select_template(reader, reference.identifier)
    version_is: ColumnElement[bool]
    match reference.selector:
        case LiveContent():
            version_is = versions.c.version == 0  # numbers start at 1
        case LatestVersion():
            version_is = versions.c.version == templates.c.version_count
        case NumberedVersion(version):
            version_is = versions.c.version == version
        case TaggedVersion(tag):
            tag_is = and_(tags.c.template_id == templates.c.id, tags.c.tag == tag)
            source = source.outerjoin(tags, tag_is)
            version_is = versions.c.version == tags.c.version
    source = source.outerjoin(versions, and_(versions.c.template_id == templates.c.id, version_is))
    query = (
        select(
            templates.c.id,
            templates.c.sha256,
            templates.c.deleted_at,
            versions.c.version,
            versions.c.sha256.label("version_sha256"),
        )
        .select_from(source)
        .where(is_asked)
    )
    return session.execute(query).mappings().first()


def _select_template(reader: Reader, identifier: str) -> tuple[FromClause, ColumnElement[bool]]:
    # No slug has the shape of an id, so an identifier is one or the other.
    if has_id_shape(identifier):
        owner = reader_account(reader.account_id, identifier)
        return templates, and_(templates.c.id == identifier, templates.c.account_id == owner)
    held = and_(slugs.c.workspace_id == reader.workspace_id, slugs.c.slug == identifier)
    return slugs.join(templates, slugs.c.template_id == templates.c.id), held


def _selector_not_found(reference: TemplateReference) -> ServiceError:
    match reference.selector:
        case NumberedVersion(version):
            missing = f"published version {version}"
        case TaggedVersion(tag):
            missing = f"tag {tag!r}"
        case _:
            missing = f"published version yet, so {str(reference)!r} names nothing"
    message = f"Template {reference.identifier!r} has no {missing}."
    return ServiceError(404, message, kind=ErrorKind.NOT_FOUND)
