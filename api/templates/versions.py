"""The routes under /v2/templates/{id}/versions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import ClassVar, Final

from flask import Response, request

from api.admission.body import receive_body, receive_record
from api.auth.guard import current_principal, record_change
from api.conditional_requests import (
    Preconditions,
    make_etag,
    read_preconditions,
    write_json_with_etag,
    write_not_modified,
)
from api.http import require_content_type, write_json
from api.operations.model import (
    OperationResponse,
    Parameter,
    RequestBody,
    Routes,
    binary_content,
    current_query,
    get,
    json_content,
    json_response,
    post,
    put,
)
from api.operations.parameters import ETAG, IF_MATCH, IF_NONE_MATCH, NOT_FOUND, VERSION
from api.templates.content import change_templates, find_findings
from shared.auth.scopes import Scope
from shared.clock import now, timestamp
from shared.db.session import Session
from shared.errors import ErrorCode
from shared.jobs.records import PinnedTemplate
from shared.limits import MB
from shared.templates import versions
from shared.templates.cases import MAX_CASES_BYTES, get_cases, store_cases
from shared.templates.linking import read_recorded_links
from shared.templates.links import find_links
from shared.templates.references import TemplateReference
from shared.templates.repository import (
    TemplateRecord,
    check_known,
    get_content,
    lock_live,
    lock_template,
)
from shared.templates.versions import ApprovalRequest, PublishRequest, Version

_ZIP: Final = "application/zip"
_VERSION: Final = Parameter(
    "version", VERSION, "A version; by default what the next one will have."
)


def etag_of(record: TemplateRecord, *, content_sha256: str | None = None) -> str:
    """Return the entity tag of a template with a content, by default its live content.

    It changes with the content, the name, the slug and the number of versions.
    """
    return make_etag(record.show(), content_sha256 or record.sha256)


def lock_to_change(
    session: Session, account_id: str, template_id: str, preconditions: Preconditions
) -> None:
    """Lock a template until the transaction ends, and check the preconditions of its change.

    Raises:
        ServiceError: 412; 404, the account has no template of that id.
    """
    preconditions.check(etag_of(lock_live(session, account_id, template_id)))


# Characters that XML 1.0 does not allow, even in a comment (2.2).
_NO_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_HYPHENS: Final = re.compile("-(?=-)")


def write_content(version: Version, content: str) -> str:
    """Return a version's content with the header comment.

    No line break separates them: the digest covers everything after `-->`.
    """
    user = version.created_by
    return (
        f"<!-- Service template version {version.version}\n"
        f"sha256 {version.sha256}\n"
        f"{timestamp(version.created_at)} by {_safe(user.name)} <{_safe(user.email)}> -->"
        f"{content}"
    )


def _safe(text: str) -> str:
    # Two hyphens would end the comment (so `--` is written `- -`).
    return _HYPHENS.sub("- ", _NO_XML.sub("\ufffd", text))


class VersionRoutes(Routes):
    """The views."""

    tag = "Versions"
    scopes = frozenset((Scope.TEMPLATES,))
    words: ClassVar[Mapping[str, str]] = {"megabytes": str(MAX_CASES_BYTES // MB)}

    @post(
        "/v2/templates/{template_id}/versions",
        {
            201: json_response("The new version.", "PublishedVersion", ETAG),
            200: json_response(
                "The content is unchanged: the newest version. The message of the request is discarded.",
                "PublishedVersion",
            ),
        },
        headers=(IF_MATCH,),
        body=RequestBody(json_content("PublishRequest"), "An optional note.", is_required=False),
        errors={400: (ErrorCode.TEMPLATE_EMPTY,), **NOT_FOUND},
    )
    def publish_version(self, template_id: str) -> Response:
        """Publish the live content.

        Versions are numbered from 1 without gaps. Unchanged content creates no version. With If-Match and
        the ETag of the template, exactly the content that was read is published.
        """
        principal = current_principal()
        preconditions = read_preconditions(request)
        message = receive_record(request, PublishRequest).message
        with change_templates(principal, self._ports) as session:
            lock_to_change(session, principal.state.account_id, template_id, preconditions)
            published = versions.publish_version(
                session,
                principal.reader,
                template_id,
                message=message,
                user=principal.user,
                at=now(),
                key_id=principal.state.key_id,
            )
            if published.is_new:
                details = {"version": published.version.version, "sha256": published.version.sha256}
                record_change(session, principal, "version.published", template_id, details)
        record = published.version.show()
        status = 201 if published.is_new else 200
        reference = TemplateReference(template_id, published.version.version)
        found = find_findings(principal, reference, self._ports)
        path = f"/v2/templates/{template_id}/versions/{published.version.version}"
        headers = {"ETag": make_etag(record), "Location": path}
        return write_json(record | {"findings": found}, status, headers=headers)

    @get(
        "/v2/templates/{template_id}/versions",
        {200: json_response("Versions without content.", "VersionList", ETAG)},
        headers=(IF_NONE_MATCH,),
        errors=NOT_FOUND,
    )
    def list_versions(self, template_id: str) -> Response:
        """List versions.

        The newest 50, newest first; older versions can be read by number.
        """
        principal = current_principal()
        with self._ports.database.snapshot() as session:
            check_known(session, principal.state.account_id, template_id)
            found = versions.list_versions(session, template_id, limit=versions.PAGE + 1)
        records = [version.show() for version in found[: versions.PAGE]]
        return write_json_with_etag(
            request, {"versions": records, "has_more": len(found) > versions.PAGE}
        )

    @get(
        "/v2/templates/{template_id}/versions/{version}",
        {200: json_response("The version with its content.", "VersionWithContent", ETAG)},
        headers=(IF_NONE_MATCH,),
        errors=NOT_FOUND,
        reads="template",
    )
    def read_version(self, template_id: str, version: str) -> Response:
        """Read a version.

        To verify a version: remove the header comment from content, and compare the SHA-256 of the rest.
        """
        principal = current_principal()
        number = int(version)
        preconditions = read_preconditions(request)
        with self._ports.database.snapshot() as session:
            check_known(session, principal.state.account_id, template_id)
            found = versions.get_version(session, template_id, number)
            record = found.show()
            approvals = [
                each.show() for each in versions.list_approvals(session, template_id, number)
            ]
            etag = make_etag(record, *approvals)
            if preconditions.is_not_modified(etag):
                return write_not_modified(etag)
            content = get_content(session, found.sha256)
            links = read_recorded_links(session, PinnedTemplate(template_id, number, found.sha256))
        body = record | {"content": write_content(found, content)}
        if own := find_links(content):
            body["built_on"] = sorted(own)
        if approvals:
            body["approvals"] = approvals
        if links:
            body["links"] = dict(sorted(links.items()))
        return write_json(body, headers={"ETag": etag})

    @put(
        "/v2/templates/{template_id}/versions/{version}/approval",
        {200: json_response("All approvals of the version.", "Approvals")},
        body=RequestBody(
            json_content("ApprovalRequest"), "What came out of its stored cases.", is_required=False
        ),
        errors={**NOT_FOUND, 409: ()},
    )
    def approve_version(self, template_id: str, version: str) -> Response:
        """Approve a version.

        Guarded tags move to it then. A key does not approve what it published: 409. A version with stored cases is
        approved with the report that all of them passed, else 409. Repeating the request changes nothing.
        """
        principal = current_principal()
        report = receive_record(request, ApprovalRequest).cases
        number, key_id = int(version), principal.state.key_id
        with change_templates(principal, self._ports) as session:
            lock_template(session, principal.state.account_id, template_id)
            is_new = versions.approve_version(
                session,
                template_id,
                number,
                key_id=key_id,
                user=principal.user,
                at=now(),
                report=report,
            )
            found = versions.list_approvals(session, template_id, number)
            if is_new:
                details = {"version": number}
                details |= {"cases_passed": report.passed} if report else {}
                record_change(session, principal, "version.approved", template_id, details)
        return write_json({"approvals": [each.show() for each in found]})

    @put(
        "/v2/templates/{template_id}/cases",
        {200: json_response("Stored, or removed by an empty body.", "StoredCases")},
        body=RequestBody(binary_content(_ZIP), "A ZIP of their folder.", is_required=False),
        errors=NOT_FOUND,
    )
    def put_template_cases(self, template_id: str) -> Response:
        """Store the cases of a template.

        The files that `pressroom test` runs, as a ZIP of up to $megabytes MB, which is kept as it is. The next version has them, and is
        approved when all of them passed; an empty body removes them. Versions keep theirs.
        """
        principal = current_principal()
        if "Content-Type" in request.headers:
            require_content_type(request, (_ZIP,))
        with receive_body(request, limit=MAX_CASES_BYTES) as body:
            archive = body.read()
        with change_templates(principal, self._ports) as session:
            digest = store_cases(session, principal.state.account_id, template_id, archive)
            details = {"sha256": digest, "bytes": len(archive)}
            record_change(session, principal, "cases.stored", template_id, details)
        return write_json({"bytes": len(archive)} | ({"sha256": digest} if digest else {}))

    @get(
        "/v2/templates/{template_id}/cases",
        {200: OperationResponse("The ZIP.", binary_content(_ZIP), ETAG)},
        query=(_VERSION,),
        errors=NOT_FOUND,
        reads="template",
    )
    def read_template_cases(self, template_id: str) -> Response:
        """Read the cases of a template.

        The ZIP as it was stored, that of a version or that which the next one will have; 404 if there is none. Its ETag is its SHA-256.
        """
        text = current_query().get("version")
        number = None if text is None else int(text)
        with self._ports.database.snapshot() as session:
            check_known(session, current_principal().state.account_id, template_id)
            digest, archive = get_cases(session, template_id, number)
        return Response(archive, headers={"Content-Type": _ZIP, "ETag": f'"{digest}"'})
