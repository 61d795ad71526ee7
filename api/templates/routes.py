"""The routes under /v2/templates."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from typing import Final

from flask import Response, request

from api.admission.body import Body, receive_body, receive_record
from api.auth.guard import current_principal, record_change
from api.conditional_requests import read_preconditions, write_json_with_etag, write_not_modified
from api.http import read_limit, require_content_type, write_json, write_page
from api.jobs.inspection import Inspections
from api.operations.model import (
    PRINTABLE_PATTERN,
    Parameter,
    RequestBody,
    Routes,
    Schema,
    current_query,
    delete,
    get,
    json_content,
    json_response,
    patch,
    post,
    put,
)
from api.operations.parameters import (
    ETAG,
    IF_MATCH,
    IF_NONE_MATCH,
    LIMIT,
    NO_CONTENT,
    NOT_FOUND,
    OWN_TEMPLATE,
    TEMPLATE_ID,
    TEMPLATE_TEXT,
    start_after,
)
from api.ports import Ports
from api.templates.content import change_templates, find_findings, read_content
from api.templates.versions import etag_of, lock_to_change
from shared.auth.scopes import Scope
from shared.clock import now
from shared.db.session import Session
from shared.errors import ErrorCode, ServiceError
from shared.jobs.records import BodyKind
from shared.templates import repository as templates
from shared.templates.linking import find_linking
from shared.templates.pinning import get_pinned
from shared.templates.references import TemplateReference, parse_reference
from shared.templates.repository import own_template_not_found
from shared.templates.versions import RenameRequest

_MAX_LISTED: Final = 20
_TYPES: Final = ("text/xml", "application/xml", "text/plain")


_TEMPLATE_NAME: Final[Schema] = {
    "type": "string",
    "minLength": 1,
    "maxLength": 200,
    "pattern": PRINTABLE_PATTERN,
    "examples": ["Invoice"],
}


class TemplateRoutes(Routes):
    """The views."""

    tag = "Templates"
    scopes = frozenset((Scope.TEMPLATES,))

    def __init__(self, ports: Ports) -> None:
        super().__init__(ports)
        self._inspections = Inspections(ports)

    @post(
        "/v2/templates",
        {
            201: json_response(
                "The record.", "SavedTemplate", {"Location": "Path of the template.", **ETAG}
            )
        },
        query=(Parameter("name", _TEMPLATE_NAME, "Name of the template.", is_required=True),),
        body=TEMPLATE_TEXT,
    )
    def create_template(self) -> Response:
        """Create a template.

        The body is the live content; without a body the template has no content yet. One with errors is
        kept; `findings` has their number.
        """
        principal = current_principal()
        name = current_query()["name"]
        content = self._receive_content()
        with self._ports.database.session() as session:
            record = templates.create_template(
                session,
                principal.state.account_id,
                name=name,
                content=content,
                user=principal.user,
                at=now(),
            )
            details = {"name": name, "sha256": record.sha256}
            record_change(session, principal, "template.created", record.id, details)
        found = find_findings(principal, TemplateReference(record.id), self._ports)
        headers = {"Location": f"/v2/templates/{record.id}", "ETag": etag_of(record)}
        return write_json(record.show() | {"findings": found}, 201, headers=headers)

    @get(
        "/v2/templates",
        {200: json_response("One page.", "TemplateList", ETAG)},
        query=(
            Parameter(
                "name",
                _TEMPLATE_NAME,
                "Only templates with exactly this name; names need not be unique.",
            ),
            Parameter(
                "include", {"type": "string", "enum": ["public"]}, "Also list the public templates."
            ),
            LIMIT,
            start_after(TEMPLATE_ID),
        ),
        headers=(IF_NONE_MATCH,),
    )
    def list_templates(self) -> Response:
        """List templates.

        The templates of the account by id; with include=public also those whose id begins with service-.
        """
        account_id = current_principal().state.account_id
        query = current_query()
        limit, start_after = read_limit(query), query.get("start_after")
        owners = (account_id, templates.PUBLIC_ACCOUNT) if "include" in query else (account_id,)
        with self._ports.database.snapshot() as session:
            found = templates.list_templates(
                session, owners, name=query.get("name"), limit=limit + 1, start_after=start_after
            )
        shown = [record.show() for record in found]
        return write_json_with_etag(request, write_page("templates", shown, limit=limit))

    @get(
        "/v2/templates/{template}",
        {200: json_response("Record and content.", "TemplateWithContent", ETAG)},
        headers=(IF_NONE_MATCH,),
        errors=NOT_FOUND,
        reads="template",
    )
    def read_template(self, template: str) -> Response:
        """Read a template.

        The record, and the content of the reference.
        """
        principal = current_principal()
        parsed = parse_reference(template, field="template reference")
        preconditions = read_preconditions(request)
        with self._ports.database.snapshot() as session:
            pinned = get_pinned(session, principal.reader, parsed)
            record = templates.get_template(session, pinned.template_id)
            etag = etag_of(record, content_sha256=pinned.sha256)
            if preconditions.is_not_modified(etag):
                return write_not_modified(etag)
            content = templates.get_content(session, pinned.sha256)
        return write_json(record.show() | {"content": content}, headers={"ETag": etag})

    @put(
        "/v2/templates/{template}",
        {200: json_response("The record.", "SavedTemplate", ETAG)},
        path_parameters=(OWN_TEMPLATE,),
        headers=(IF_MATCH,),
        body=TEMPLATE_TEXT,
        errors=NOT_FOUND,
    )
    def replace_content(self, template: str) -> Response:
        """Replace live content.

        Published versions do not change. A template with errors is kept; `findings` has their number.
        """
        principal = current_principal()
        preconditions = read_preconditions(request)
        content = self._receive_content(
            check=lambda: self._check_exists(principal.state.account_id, template)
        )
        with change_templates(principal, self._ports) as session:
            lock_to_change(session, principal.state.account_id, template, preconditions)
            record = templates.replace_content(
                session, template, content=content, user=principal.user, at=now()
            )
            details = {"sha256": record.sha256}
            record_change(session, principal, "template.changed", template, details)
        found = find_findings(principal, TemplateReference(template), self._ports)
        return write_json(record.show() | {"findings": found}, headers={"ETag": etag_of(record)})

    @patch(
        "/v2/templates/{template}",
        {200: json_response("The record.", "Template", ETAG)},
        path_parameters=(OWN_TEMPLATE,),
        headers=(IF_MATCH,),
        body=RequestBody(json_content("RenameRequest"), "The new name."),
        errors=NOT_FOUND,
    )
    def rename_template(self, template: str) -> Response:
        """Rename a template.

        Content, versions, tags and slug do not change.
        """
        principal = current_principal()
        preconditions = read_preconditions(request)
        name = receive_record(request, RenameRequest).name
        with self._ports.database.session() as session:
            lock_to_change(session, principal.state.account_id, template, preconditions)
            record = templates.rename_template(session, template, name=name)
            record_change(session, principal, "template.renamed", template, {"name": name})
        return write_json(record.show(), headers={"ETag": etag_of(record)})

    @delete(
        "/v2/templates/{template}",
        {204: NO_CONTENT},
        path_parameters=(OWN_TEMPLATE,),
        headers=(IF_MATCH,),
        errors={**NOT_FOUND, 409: (ErrorCode.TEMPLATE_IN_USE,)},
    )
    def delete_template(self, template: str) -> Response:
        """Delete a template.

        The live content is deleted; versions can still be read and rendered, and the slug stays assigned. A
        template that others extend or import is kept: 409 names them.
        """
        principal = current_principal()
        preconditions = read_preconditions(request)
        with change_templates(principal, self._ports) as session:
            lock_to_change(session, principal.state.account_id, template, preconditions)
            _check_unused(session, principal.state.account_id, template)
            templates.delete_template(session, template, at=now())
            record_change(session, principal, "template.deleted", template)
        return Response(status=204)

    @get(
        "/v2/templates/{template_id}/dependents",
        {200: json_response("The templates.", "DependentList")},
        errors=NOT_FOUND,
    )
    def list_dependents(self, template_id: str) -> Response:
        """List the templates that use one.

        The account's templates whose live content extends or imports it, by id or slug; at most 20. It
        cannot be deleted before these.
        """
        account_id = current_principal().state.account_id
        with self._ports.database.snapshot() as session:
            if templates.find_live_sha256(session, account_id, template_id) is None:
                raise own_template_not_found(template_id)
            found = find_linking(session, account_id, template_id, limit=_MAX_LISTED + 1)
        listed = [{"id": each.id, "name": each.name} for each in found[:_MAX_LISTED]]
        return write_json({"templates": listed, "has_more": len(found) > _MAX_LISTED})

    def _check_exists(self, account_id: str, template_id: str) -> None:
        with self._ports.database.snapshot() as session:
            if templates.find_live_sha256(session, account_id, template_id) is None:
                raise own_template_not_found(template_id)

    def _receive_content(self, check: Callable[[], None] = lambda: None) -> str:
        """Receive a template's text; `check` is step 7 of the order of checks, after receiving and before parsing."""
        has_body = request.content_length != 0 and (
            request.content_length is not None or "Transfer-Encoding" in request.headers
        )
        # A template without content is created without a body, and needs no Content-Type.
        charset = require_content_type(request, _TYPES) if has_body else None
        with receive_body(request) as body:
            check()
            data = body.read()
        return read_content(data, charset=charset, inspect=self._inspect)

    def _inspect(self, text: bytes) -> None:
        self._inspections.inspect(
            BodyKind.TEMPLATE, Body(BytesIO(text), len(text)), current_principal()
        )


def _check_unused(session: Session, account_id: str, template_id: str) -> None:
    """Refuse to delete a template that others extend or import."""
    linking = find_linking(session, account_id, template_id, limit=_MAX_LISTED + 1)
    if not linking:
        return
    listed = ", ".join(
        f"{each.name or 'without a name'} ({each.id})" for each in linking[:_MAX_LISTED]
    )
    more = " and more" if len(linking) > _MAX_LISTED else ""
    raise ServiceError(
        409,
        f"The template is extended or imported by {listed}{more}. Change or delete these first.",
        code=ErrorCode.TEMPLATE_IN_USE,
        data={"templates": [each.id for each in linking[:_MAX_LISTED]]},
    )
