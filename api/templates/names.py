"""Routes of the names of templates: tags of their versions, and slugs."""

from __future__ import annotations

from flask import Response, request

from api.admission.body import receive_record
from api.auth.guard import Principal, current_principal, record_change
from api.conditional_requests import (
    Preconditions,
    make_etag,
    read_preconditions,
    write_json_with_etag,
)
from api.http import quote, write_json
from api.operations.checks import check_value
from api.operations.model import (
    Parameter,
    RequestBody,
    Routes,
    current_query,
    delete,
    get,
    json_content,
    json_response,
    post,
    put,
)
from api.operations.parameters import (
    ETAG,
    IF_MATCH,
    IF_NONE_MATCH,
    NO_CONTENT,
    NO_WORKSPACE,
    NOT_FOUND,
    PATH_PARAMETERS,
    TAG_SHAPE,
)
from api.templates.content import change_templates
from shared.auth.scopes import Scope
from shared.clock import now
from shared.db.session import Session
from shared.errors import ErrorCode, ServiceError
from shared.identifiers import has_id_shape
from shared.templates import names
from shared.templates.names import Assignment, SlugRequest, TagRequest
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
        errors={**NOT_FOUND, 409: ()},
    )
    def set_tag(self, template_id: str, tag: str) -> Response:
        """Set a tag.

        Creates or moves the tag; repeating the request changes nothing. With `guarded` true it moves from then on only to versions that another
        key than that which published them approved, otherwise 409, until a key with the scope account sets it to false.
        """
        principal = current_principal()
        preconditions = read_preconditions(request)
        asked = receive_record(request, TagRequest)
        version, guarded = int(asked.version), asked.guard
        with change_templates(principal, self._ports) as session:
            _check_tag_preconditions(session, principal, template_id, tag, preconditions)
            before = names.find_tag(session, template_id, tag)
            is_freed = before is not None and before.guarded and guarded is False
            if is_freed and Scope.ACCOUNT not in principal.state.scopes:
                raise ServiceError(403, "Only a key with the scope account takes a guard away.")
            names.set_tag(
                session,
                template_id,
                tag,
                version=version,
                user=principal.user,
                at=now(),
                guarded=guarded,
            )
            held = names.find_tag(session, template_id, tag)
            details = {"tag": tag, "version": version}
            details |= {} if guarded is None else {"guarded": guarded}
            record_change(session, principal, "tag.set", template_id, details)
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
        with self._ports.database.snapshot() as session:
            check_known(session, principal.state.account_id, template_id)
            found = names.list_tags(
                session, template_id, limit=names.PAGE + 1, start_after=start_after
            )
        records = [tag.show() for tag in found[: names.PAGE]]
        return write_json_with_etag(request, {"tags": records, "has_more": len(found) > names.PAGE})

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
        with self._ports.database.snapshot() as session:
            check_known(session, principal.state.account_id, template_id)
            found = names.find_tag(session, template_id, tag)
        if found is None:
            raise _not_found(template_id, tag)
        return write_json_with_etag(request, found.show())

    @delete(
        "/v2/templates/{template_id}/tags/{tag}",
        {200: json_response("Whether the tag existed.", "TagRemoval", ETAG)},
        headers=(IF_MATCH,),
        errors={**NOT_FOUND, 409: ()},
    )
    def remove_tag(self, template_id: str, tag: str) -> Response:
        """Remove a tag.

        The version and the history are kept. A guarded tag is 409.
        """
        principal = current_principal()
        preconditions = read_preconditions(request)
        with change_templates(principal, self._ports) as session:
            _check_tag_preconditions(session, principal, template_id, tag, preconditions)
            removed = names.remove_tag(
                session, principal.state.account_id, template_id, tag, user=principal.user, at=now()
            )
            if removed:
                record_change(session, principal, "tag.removed", template_id, {"tag": tag})
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
        with self._ports.database.snapshot() as session:
            check_known(session, principal.state.account_id, template_id)
            found = names.list_history(session, template_id, tag, limit=names.HISTORY_DEPTH + 1)
        if not found:
            raise _not_found(template_id, tag)
        events = [event.show() for event in found[: names.HISTORY_DEPTH]]
        return write_json_with_etag(
            request, {"events": events, "has_more": len(found) > names.HISTORY_DEPTH}
        )


def _check_tag_preconditions(
    session: Session, principal: Principal, template_id: str, tag: str, preconditions: Preconditions
) -> None:
    """Check the preconditions of a change of a tag, and lock its template until the transaction ends.

    Raises:
        ServiceError: 412; 404, the account has no such template.
    """
    lock_template(session, principal.state.account_id, template_id)
    if preconditions.are_given:
        held = names.find_tag(session, template_id, tag)
        preconditions.check(None if held is None else make_etag(held.show()))


def _not_found(template_id: str, tag: str) -> ServiceError:
    return ServiceError(404, f"Template {template_id!r} has no tag {tag!r}.")


class SlugRoutes(Routes):
    """The views."""

    tag = "Slugs"
    scopes = frozenset((Scope.TEMPLATES,))

    @post(
        "/v2/slugs",
        {
            201: json_response("Newly assigned, or moved.", "Slug"),
            200: json_response("Already assigned; nothing changed.", "Slug"),
        },
        body=RequestBody(json_content("SlugRequest"), "The slug and the template id."),
        errors={
            400: (ErrorCode.SLUG_INVALID,),
            409: (ErrorCode.SLUG_TAKEN, ErrorCode.WORKSPACE_UNRESOLVED),
            **NOT_FOUND,
        },
    )
    def assign_slug(self) -> Response:
        """Assign a slug.

        A template has at most one slug; its previous slug is released.
        """
        principal = current_principal()
        workspace_id = principal.get_workspace()
        asked = receive_record(request, SlugRequest)
        slug, template_id = asked.slug, asked.get_template()
        _check_slug(slug)
        with change_templates(principal, self._ports) as session:
            assignment = names.assign_slug(
                session,
                principal.state.account_id,
                workspace_id,
                slug=slug,
                template_id=template_id,
            )
            if assignment is Assignment.NEW:
                record_change(session, principal, "slug.assigned", slug, {"template": template_id})
        status = 201 if assignment is Assignment.NEW else 200
        headers = {"Location": f"/v2/slugs/{slug}"}
        return write_json({"slug": slug, "template_id": template_id}, status, headers=headers)

    @get("/v2/slugs", {200: json_response("The slugs.", "SlugList")}, errors=NO_WORKSPACE)
    def list_slugs(self) -> Response:
        """List slugs.

        By name, at most 1,000.
        """
        principal = current_principal()
        workspace_id = principal.get_workspace()
        with self._ports.database.snapshot() as session:
            found = names.list_slugs(session, workspace_id)
        return write_json(
            {"slugs": [{"slug": held.slug, "template_id": held.template_id} for held in found]}
        )

    @get(
        "/v2/slugs/{slug}",
        {200: json_response("Whether it is available.", "SlugAvailability")},
        errors={400: (ErrorCode.SLUG_INVALID,), **NO_WORKSPACE},
    )
    def check_slug(self, slug: str) -> Response:
        """Check whether a slug is available.

        Returns the template that holds it, if it is taken.
        """
        principal = current_principal()
        _check_slug(slug)
        workspace_id = principal.get_workspace()
        with self._ports.database.snapshot() as session:
            holder = names.find_holder(session, workspace_id, slug)
        if holder is None:
            return write_json({"slug": slug, "available": True})
        return write_json({"slug": slug, "available": False, "template_id": holder})

    @delete(
        "/v2/slugs/{slug}",
        {204: NO_CONTENT},
        errors={
            400: (ErrorCode.SLUG_INVALID,),
            404: (ErrorCode.SLUG_NOT_ASSIGNED,),
            **NO_WORKSPACE,
        },
    )
    def release_slug(self, slug: str) -> Response:
        """Release a slug.

        Possible even if the template was deleted, but not while a tag of it is guarded. The template does not change.
        """
        principal = current_principal()
        _check_slug(slug)
        workspace_id = principal.get_workspace()
        with change_templates(principal, self._ports) as session:
            names.release_slug(session, workspace_id, slug)
            record_change(session, principal, "slug.released", slug)
        return Response(status=204)


def _check_slug(slug: str) -> None:
    """Check a slug.

    Raises:
        ServiceError: 400, with `ERR_SLUG_INVALID` for a reserved prefix or the shape of an id, without a code for
            length and characters.
    """
    if has_id_shape(slug):
        raise ServiceError(
            400,
            f"Invalid slug {quote(slug)}: accepted is no text that begins with service-, or of twenty letters "
            "and digits, the shape of an id.",
            code=ErrorCode.SLUG_INVALID,
        )
    check_value(PATH_PARAMETERS["slug"], slug)
