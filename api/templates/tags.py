"""The routes under /v2/templates/{id}/tags."""

from __future__ import annotations

from flask import Response, request

from api.admission.body import receive_fields
from api.auth.guard import Principal, current_principal
from api.conditional_requests import (
    Preconditions,
    make_etag,
    read_preconditions,
    write_json_with_etag,
)
from api.http import write_json
from api.operations.model import (
    Parameter,
    RequestBody,
    Routes,
    current_query,
    delete,
    get,
    json_content,
    json_response,
    put,
)
from api.operations.parameters import ETAG, IF_MATCH, IF_NONE_MATCH, NOT_FOUND, TAG_SHAPE
from api.templates.content import change_templates
from api.templates.fields import check_tag, check_tag_shape, check_template_id, read_version
from shared.auth.scopes import Scope
from shared.clock import now
from shared.db.session import Session
from shared.errors import ErrorKind, ServiceError
from shared.templates import tags
from shared.templates.repository import check_known, lock_template


class TagRoutes(Routes):
    """The views."""

    tag = "Tags"
    scopes = frozenset((Scope.TEMPLATES,))

    @put(
        "/v2/templates/{template_id}/tags/{tag}",
        {200: json_response("The tag and its version.", "TagPointer", ETAG)},
        headers=(IF_MATCH,),
        body=RequestBody(json_content("TagRequest"), "The version to point to."),
        errors=NOT_FOUND,
    )
    def set_tag(self, template_id: str, tag: str) -> Response:
        """Set a tag.

        Creates or moves the tag; repeating the request changes nothing.
        """
        principal = current_principal()
        _check_names(template_id, tag)
        preconditions = read_preconditions(request)
        version = read_version(receive_fields(request, ("version",)))
        with change_templates(principal, self._ports) as session:
            _check_tag_preconditions(session, principal, template_id, tag, preconditions)
            tags.set_tag(
                session,
                principal.state.account_id,
                template_id,
                tag,
                version=version,
                user=principal.user,
                at=now(),
            )
            held = tags.find_tag(session, template_id, tag)
        assert held is not None, "it was set in this transaction"
        return write_json(
            {"tag": tag, "version": version}, headers={"ETag": make_etag(held.show())}
        )

    @get(
        "/v2/templates/{template_id}/tags",
        {200: json_response("One page.", "TagList", ETAG)},
        query=(Parameter("start_after", TAG_SHAPE, "The last tag of the previous page."),),
        headers=(IF_NONE_MATCH,),
        errors=NOT_FOUND,
    )
    def list_tags(self, template_id: str) -> Response:
        """List tags.

        By name, 100 per page.
        """
        principal = current_principal()
        start_after = current_query().get("start_after")
        check_template_id(template_id)
        if start_after is not None:
            check_tag_shape(start_after, "start_after")
        with self._ports.database.snapshot() as session:
            check_known(session, principal.state.account_id, template_id)
            found = tags.list_tags(
                session, template_id, limit=tags.PAGE + 1, start_after=start_after
            )
        records = [tag.show() for tag in found[: tags.PAGE]]
        return write_json_with_etag(request, {"tags": records, "has_more": len(found) > tags.PAGE})

    @get(
        "/v2/templates/{template_id}/tags/{tag}",
        {200: json_response("The tag.", "Tag", ETAG)},
        headers=(IF_NONE_MATCH,),
        errors=NOT_FOUND,
    )
    def read_tag(self, template_id: str, tag: str) -> Response:
        """Read a tag.

        The version that it points to, and the user who last moved it.
        """
        principal = current_principal()
        _check_names(template_id, tag)
        with self._ports.database.snapshot() as session:
            check_known(session, principal.state.account_id, template_id)
            found = tags.find_tag(session, template_id, tag)
        if found is None:
            raise _not_found(template_id, tag)
        return write_json_with_etag(request, found.show())

    @delete(
        "/v2/templates/{template_id}/tags/{tag}",
        {200: json_response("Whether the tag existed.", "TagRemoval", ETAG)},
        headers=(IF_MATCH,),
        errors=NOT_FOUND,
    )
    def remove_tag(self, template_id: str, tag: str) -> Response:
        """Remove a tag.

        The version and the history are kept.
        """
        principal = current_principal()
        _check_names(template_id, tag)
        preconditions = read_preconditions(request)
        with change_templates(principal, self._ports) as session:
            _check_tag_preconditions(session, principal, template_id, tag, preconditions)
            removed = tags.remove_tag(
                session, principal.state.account_id, template_id, tag, user=principal.user, at=now()
            )
        return write_json({"tag": tag, "removed": removed})

    @get(
        "/v2/templates/{template_id}/tags/{tag}/history",
        {200: json_response("The changes.", "TagHistory", ETAG)},
        headers=(IF_NONE_MATCH,),
        errors=NOT_FOUND,
    )
    def read_tag_history(self, template_id: str, tag: str) -> Response:
        """Read the history of a tag.

        The 100 most recent changes, newest first, including those of a removed tag.
        """
        principal = current_principal()
        _check_names(template_id, tag)
        with self._ports.database.snapshot() as session:
            check_known(session, principal.state.account_id, template_id)
            found = tags.list_history(session, template_id, tag, limit=tags.HISTORY_DEPTH + 1)
        if not found:
            raise _not_found(template_id, tag)
        events = [event.show() for event in found[: tags.HISTORY_DEPTH]]
        return write_json_with_etag(
            request, {"events": events, "has_more": len(found) > tags.HISTORY_DEPTH}
        )


def _check_names(template_id: str, tag: str) -> None:
    check_template_id(template_id)
    check_tag(tag)


def _check_tag_preconditions(
    session: Session, principal: Principal, template_id: str, tag: str, preconditions: Preconditions
) -> None:
    """Check the preconditions of a change of a tag, and lock its template until the transaction ends.

    Raises:
        ServiceError: 412; 404, the account has no such template.
    """
    if preconditions.are_given:
        lock_template(session, principal.state.account_id, template_id)
        held = tags.find_tag(session, template_id, tag)
        preconditions.check(None if held is None else make_etag(held.show()))


def _not_found(template_id: str, tag: str) -> ServiceError:
    return ServiceError(
        404, f"Template {template_id!r} has no tag {tag!r}.", kind=ErrorKind.NOT_FOUND
    )
