"""The routes under /v2/templates (contract.md 3)."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

from flask import Blueprint, Response, request

from api.admission.body import receive_body
from api.auth.guard import current_principal
from api.exchange import read_content_type, read_limit, read_query, write_json, write_user
from api.ports import Ports
from api.templates.changes import change_templates
from api.templates.content import read_content
from api.templates.fields import check_template_id
from shared.clock import now, timestamp
from shared.db import templates
from shared.db.pinning import get_pinned
from shared.db.templates import TemplateRecord, own_not_found
from shared.errors import ServiceError
from shared.limits import MAX_BODY_BYTES
from shared.references import parse_reference

_TYPES: Final = ("text/xml", "application/xml", "text/plain")
_NAME: Final = re.compile(r"[^\x00-\x1f\x7f-\x9f]{1,200}\Z")


class TemplateRoutes:
    """The views, over the ports of this process."""

    def __init__(self, ports: Ports) -> None:
        self._ports = ports

    def blueprint(self) -> Blueprint:
        """Give the views at their paths."""
        routes = Blueprint("templates", __name__)
        routes.post("/v2/templates")(self.create_template)
        routes.get("/v2/templates")(self.list_templates)
        routes.get("/v2/templates/<reference>")(self.read_template)
        routes.put("/v2/templates/<template_id>")(self.replace_content)
        routes.delete("/v2/templates/<template_id>")(self.delete_template)
        return routes

    def create_template(self) -> Response:
        """Make a template, with or without content."""
        principal = current_principal()
        name = _read_name(read_query(request, ("name",)).get("name"))
        content = _receive_content()
        with self._ports.database.session() as session:
            record = templates.create_template(
                session,
                principal.state.account_id,
                name=name,
                content=content,
                user=principal.user,
                at=now(),
            )
        return write_json(_record(record), 201, headers={"Location": f"/v2/templates/{record.id}"})

    def list_templates(self) -> Response:
        """List the account's templates by id."""
        principal = current_principal()
        query = read_query(request, ("limit", "start_after"))
        limit, start_after = read_limit(query), query.get("start_after")
        if start_after is not None:
            check_template_id(start_after, "start_after")
        with self._ports.database.snapshot() as session:
            found = templates.list_templates(
                session, principal.state.account_id, limit=limit + 1, start_after=start_after
            )
        body: dict[str, Any] = {"templates": [_record(record) for record in found[:limit]]}
        if len(found) > limit:
            body["next_cursor"] = found[limit - 1].id
        return write_json(body)

    def read_template(self, reference: str) -> Response:
        """Give a template's record and the text a reference names."""
        principal = current_principal()
        read_query(request, ())
        parsed = parse_reference(reference, field="template reference")
        with self._ports.database.snapshot() as session:
            pinned = get_pinned(session, principal.reader, parsed)
            record = templates.get_template(session, pinned.template_id)
            content = templates.get_content(session, pinned.sha256)
        return write_json(_record(record) | {"content": content})

    def replace_content(self, template_id: str) -> Response:
        """Give a template new live content."""
        principal = current_principal()
        read_query(request, ())
        check_template_id(template_id, "template id")
        content = _receive_content(
            check=lambda: self._check_held(principal.state.account_id, template_id)
        )
        with change_templates(principal, self._ports) as session:
            record = templates.replace_content(
                session,
                principal.state.account_id,
                template_id,
                content=content,
                user=principal.user,
                at=now(),
            )
        if record is None:
            raise own_not_found(template_id)
        return write_json(_record(record))

    def delete_template(self, template_id: str) -> Response:
        """Remove a template."""
        principal = current_principal()
        read_query(request, ())
        check_template_id(template_id, "template id")
        with change_templates(principal, self._ports) as session:
            removed = templates.delete_template(
                session, principal.state.account_id, template_id, at=now()
            )
        if not removed:
            raise own_not_found(template_id)
        return Response(status=204)

    def _check_held(self, account_id: str, template_id: str) -> None:
        with self._ports.database.snapshot() as session:
            if templates.find_live_sha256(session, account_id, template_id) is None:
                raise own_not_found(template_id)


def _receive_content(check: Callable[[], None] = lambda: None) -> str:
    """Receive a template's text; `check` is step 7 of contract.md 1, between receiving and reading."""
    content_type = read_content_type(request)
    has_body = request.content_length != 0 and (
        request.content_length is not None or "Transfer-Encoding" in request.headers
    )
    # No body needs no type: that is a template without content.
    if has_body and (content_type is None or content_type.media not in _TYPES):
        sent = content_type.media if content_type else "none"
        raise ServiceError(
            415, f"Unaccepted Content-Type {sent!r}; accepted are {', '.join(_TYPES)}."
        )
    with receive_body(request, limit=MAX_BODY_BYTES) as body:
        check()
        return read_content(body.read(), charset=content_type.charset if content_type else None)


def _read_name(name: str | None) -> str:
    if name is None:
        raise ServiceError(
            400, "The query parameter name is required: what the template is called."
        )
    if not _NAME.match(name):
        raise ServiceError(
            400,
            f"Invalid name {name[:100]!r}: accepted are 1 to 200 characters, no control characters.",
        )
    return name


def _record(record: TemplateRecord) -> dict[str, Any]:
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
