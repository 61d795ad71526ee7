"""Published versions of a template: numbered from 1 without gaps, never changed, never deleted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Final

import msgspec
from sqlalchemy import RowMapping, Select, insert, select, update

from shared.db import user_refs
from shared.db.queries import insert_ignoring_conflicts
from shared.db.session import Session
from shared.db.tables import approvals, templates, versions
from shared.db.user_refs import UserRef
from shared.errors import ErrorCode, ServiceError
from shared.jobs.records import PinnedTemplate
from shared.records import SHA256, Name, Record, ShownRecord, Timestamp, doc
from shared.templates.cases import CasesReport, check_report
from shared.templates.linking import find_published_links, read_recorded_links, record_links
from shared.templates.pinning import Reader
from shared.templates.repository import (
    EMPTY_SHA256,
    get_content,
    lock_template,
    own_template_not_found,
)

PAGE: Final = 50


class RenameRequest(Record, frozen=True, forbid_unknown_fields=True):
    """The new name of a template."""

    name: Annotated[Name, doc("New name of the template.", examples=["Invoice"])]


class PublishRequest(Record, frozen=True, forbid_unknown_fields=True):
    """What is noted with a new version."""

    message: Annotated[
        Annotated[str, msgspec.Meta(max_length=2000, pattern=r"^[^\x00]*$")],
        doc("Note on the change."),
    ] = ""


class Version(ShownRecord, frozen=True):
    """A published version; `sha256` identifies its content."""

    version: Annotated[int, doc("The number, from 1 without gaps.", minimum=1)]
    sha256: Annotated[str, doc("SHA-256 of the content below the header comment.", **SHA256)]
    message: Annotated[str, doc("Note on the change, set when it was published; may be empty.")]
    created_at: Annotated[Timestamp, doc("When it was published.")]
    created_by: UserRef
    cases_sha256: Annotated[str | None, doc("SHA-256 of its stored cases.", **SHA256)] = None


class ApprovalRequest(Record, frozen=True, forbid_unknown_fields=True):
    """What a version is approved with."""

    cases: CasesReport | None = None


class Approval(ShownRecord, frozen=True):
    """An approval of a version."""

    key_id: Annotated[str, doc("The key that approved it.")]
    approved_at: Annotated[Timestamp, doc("When it was first approved by this key.")]
    approved_by: UserRef
    cases_passed: Annotated[int | None, doc("Stored cases, all of which passed.", minimum=1)] = None


@dataclass(frozen=True, slots=True)
class PublishResult:
    """The result of publishing: a new version, or the newest one if its content is the same."""

    version: Version
    is_new: bool


def publish_version(
    session: Session,
    reader: Reader,
    template_id: str,
    *,
    message: str,
    user: UserRef,
    at: datetime,
    key_id: str | None = None,
) -> PublishResult:
    """Publish a template's live content under the next number, with what its links name now.

    Content is unchanged if it is that of the newest version, its links still name the same and it has the same cases.

    Raises:
        ServiceError: 404, the account has no such template; 400, it has no content, or the templates
            that it links to are too large.
    """
    # Locked until the commit, so that versions of a template are published one after another.
    template = lock_template(session, reader.account_id, template_id)
    if template["deleted_at"] is not None:
        raise own_template_not_found(template_id)
    digest, count = template["sha256"], template["version_count"]
    cases = template["cases_sha256"]
    if digest == EMPTY_SHA256:
        raise ServiceError(
            400,
            f"Template {template_id!r} has no content to publish.",
            code=ErrorCode.TEMPLATE_EMPTY,
        )
    links = find_published_links(session, reader, get_content(session, digest))
    newest = find_version(session, template_id, count)
    if newest is not None and newest.sha256 == digest and newest.cases_sha256 == cases:
        recorded = read_recorded_links(session, PinnedTemplate(template_id, count, digest))
        if links == (recorded or {}):
            return PublishResult(newest, is_new=False)
    session.execute(
        insert(versions).values(
            template_id=template_id,
            version=count + 1,
            sha256=digest,
            message=message,
            created_at=at,
            created_by=user.id,
            key_id=key_id,
            cases_sha256=cases,
        )
    )
    record_links(session, PinnedTemplate(template_id, count + 1, digest), links)
    session.execute(
        update(templates).where(templates.c.id == template_id).values(version_count=count + 1)
    )
    return PublishResult(get_version(session, template_id, count + 1), is_new=True)


def list_versions(session: Session, template_id: str, *, limit: int) -> Sequence[Version]:
    """Return up to `limit` versions, newest first."""
    query = _records(template_id).order_by(versions.c.version.desc()).limit(limit)
    return [_record(row) for row in session.execute(query).mappings()]


def find_version(session: Session, template_id: str, version: int) -> Version | None:
    """Return a version by number, None if it is not published."""
    query = _records(template_id).where(versions.c.version == version)
    row = session.execute(query).mappings().first()
    return _record(row) if row else None


def get_version(session: Session, template_id: str, version: int) -> Version:
    """Return a version by number.

    Raises:
        ServiceError: 404 without a code, it is not published.
    """
    found = find_version(session, template_id, version)
    if found is None:
        raise ServiceError(404, f"Template {template_id!r} has no published version {version}.")
    return found


def approve_version(
    session: Session,
    template_id: str,
    version: int,
    *,
    key_id: str,
    user: UserRef,
    at: datetime,
    report: CasesReport | None = None,
) -> bool:
    """Approve a published version; return whether the key had not approved it before.

    Raises:
        ServiceError: 404, it is not published; 409, the key published it, or `check_report` refuses the report.
    """
    check_report(version, get_version(session, template_id, version).cases_sha256, report)
    named = {"template_id": template_id, "version": version}
    if session.scalar(select(versions.c.key_id).filter_by(**named)) == key_id:
        raise ServiceError(
            409, f"Version {version} was published by this key: another one has to approve it."
        )
    row = {**named, "key_id": key_id, "approved_at": at, "approved_by": user.id}
    row["cases_passed"] = report.passed if report else None
    new = insert_ignoring_conflicts(session, approvals).returning(approvals.c.key_id)
    return session.scalar(new, row) is not None


def list_approvals(session: Session, template_id: str, version: int) -> Sequence[Approval]:
    """Return the approvals of a version in their order."""
    joined, columns = user_refs.join_author(approvals, by="approved_by")
    query = select(approvals, *columns).select_from(joined)
    found = query.filter_by(template_id=template_id, version=version)
    return [
        Approval.of_row(row, approved_by=user_refs.read_user(row, "author"))
        for row in session.execute(found.order_by(approvals.c.approved_at)).mappings()
    ]


def _records(template_id: str) -> Select[Any]:
    joined, columns = user_refs.join_author(versions, by="created_by")
    query = select(versions, *columns).select_from(joined)
    return query.where(versions.c.template_id == template_id)


def _record(row: RowMapping) -> Version:
    return Version.of_row(row, created_by=user_refs.read_user(row, "author"))
