"""The routes under /v2/slugs."""

from __future__ import annotations

from flask import Response, request

from api.admission.body import receive_fields
from api.auth.guard import current_principal
from api.http import write_json
from api.operations.model import RequestBody, Routes, delete, get, json_content, json_response, post
from api.operations.parameters import NO_CONTENT, NO_WORKSPACE, NOT_FOUND
from api.templates.content import change_templates
from api.templates.fields import check_slug, read_slug, read_template_id
from shared.auth.scopes import Scope
from shared.errors import ErrorCode
from shared.templates import slugs
from shared.templates.slugs import Assignment


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
        fields = receive_fields(request, ("slug", "template", "template_id"))
        slug, template_id = read_slug(fields), read_template_id(fields)
        with change_templates(principal, self._ports) as session:
            assignment = slugs.assign_slug(
                session,
                principal.state.account_id,
                workspace_id,
                slug=slug,
                template_id=template_id,
            )
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
            found = slugs.list_slugs(session, workspace_id)
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
        check_slug(slug)
        workspace_id = principal.get_workspace()
        with self._ports.database.snapshot() as session:
            holder = slugs.find_holder(session, workspace_id, slug)
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

        Possible even if the template was deleted. The template does not change.
        """
        principal = current_principal()
        check_slug(slug)
        workspace_id = principal.get_workspace()
        with change_templates(principal, self._ports) as session:
            slugs.release_slug(session, workspace_id, slug)
        return Response(status=204)
