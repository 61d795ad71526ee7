"""The cases of templates, by which `pressroom test` checks them: a ZIP of their folder, which the farm keeps and does
not open (decision 0518).
"""

from __future__ import annotations

from hashlib import sha256
from typing import Annotated, Final

import msgspec
from sqlalchemy import delete, select, update

from shared.db.queries import insert_ignoring_conflicts
from shared.db.session import Session
from shared.db.tables import template_cases, templates, versions
from shared.errors import ServiceError
from shared.limits import MB
from shared.records import SHA256, Record, doc
from shared.templates.repository import lock_live

MAX_CASES_BYTES: Final = 8 * MB
_ZIP: Final = b"PK\x03\x04"  # of one with files


class CasesReport(Record, frozen=True, forbid_unknown_fields=True):
    """What came out when the cases of a version were run."""

    sha256: Annotated[str, doc("SHA-256 of the ZIP of the cases that were run.", **SHA256)]
    passed: Annotated[Annotated[int, msgspec.Meta(ge=0)], doc("Cases that passed.")]
    failed: Annotated[Annotated[int, msgspec.Meta(ge=0)], doc("Cases that did not.")]


def store_cases(session: Session, account_id: str, template_id: str, archive: bytes) -> str | None:
    """Replace the cases of a template, and return the SHA-256 of their ZIP; empty bytes remove them. Versions keep theirs.

    Raises:
        ServiceError: 400, it is no ZIP with files; 404, the account has no such template.
    """
    if archive and not archive.startswith(_ZIP):
        raise ServiceError(
            400, "The body is not a ZIP with files; an empty body removes the cases."
        )
    lock_live(session, account_id, template_id)
    digest = sha256(archive).hexdigest() if archive else None
    if digest is not None:
        row = {"template_id": template_id, "sha256": digest, "archive": archive}
        session.execute(insert_ignoring_conflicts(session, template_cases), row)
    own = update(templates).where(templates.c.id == template_id)
    session.execute(own.values(cases_sha256=digest))
    published = select(versions.c.cases_sha256).where(
        versions.c.template_id == template_id, versions.c.cases_sha256.is_not(None)
    )
    session.execute(
        delete(template_cases).where(
            template_cases.c.template_id == template_id,
            template_cases.c.sha256.not_in(published),
            template_cases.c.sha256 != (digest or ""),
        )
    )
    return digest


def get_cases(session: Session, template_id: str, version: int | None) -> tuple[str, bytes]:
    """Return the SHA-256 and the ZIP of the cases of a version, or of those that the next one will have.

    Raises:
        ServiceError: 404, there are none.
    """
    if version is None:
        held = select(templates.c.cases_sha256).where(templates.c.id == template_id)
    else:
        held = select(versions.c.cases_sha256).filter_by(template_id=template_id, version=version)
    digest = session.scalar(held)
    found = select(template_cases.c.archive).filter_by(template_id=template_id, sha256=digest)
    archive = session.scalar(found)
    if digest is None or archive is None:
        which = f"Template {template_id!r}" + (f" in version {version}" if version else "")
        raise ServiceError(404, f"{which} has no stored cases.")
    return digest, archive


def check_report(version: int, digest: str | None, report: CasesReport | None) -> None:
    """Check that a report says that the cases of a version passed, if it has any.

    Raises:
        ServiceError: 409, there is no report, it is of others, or a case failed.
    """
    if digest is None and report is None:
        return
    if report is None:
        raise ServiceError(
            409,
            f"Version {version} has stored cases: run them, and send what came out, as `pressroom template approve` "
            "does.",
        )
    if report.sha256 != digest:
        raise ServiceError(409, f"The report is not of the cases of version {version}.")
    if report.failed or not report.passed:
        total = report.passed + report.failed
        raise ServiceError(409, f"Cases of version {version} failed: {report.failed} of {total}.")
