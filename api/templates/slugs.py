"""The routes under /v2/slugs."""

from __future__ import annotations

from flask import Blueprint, Response, request

from api.admission.body import receive_fields
from api.auth.guard import current_principal
from api.http import read_query, write_json
from api.ports import Ports
from api.templates.changes import change_templates
from api.templates.fields import check_slug, read_slug, read_template_id
from shared.templates import slugs
from shared.templates.slugs import Assignment


class SlugRoutes:
    """The views, over the ports of this process."""

    def __init__(self, ports: Ports) -> None:
        self._ports = ports

    def blueprint(self) -> Blueprint:
        """Return the views at their paths."""
        routes = Blueprint("slugs", __name__)
        routes.post("/v2/slugs")(self.assign_slug)
        routes.get("/v2/slugs")(self.list_slugs)
        routes.get("/v2/slugs/<slug>")(self.check_availability)
        routes.delete("/v2/slugs/<slug>")(self.release_slug)
        return routes

    def assign_slug(self) -> Response:
        """Assign a slug to a template, and release the template's previous slug."""
        principal = current_principal()
        read_query(request, ())
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

    def list_slugs(self) -> Response:
        """List the workspace's slugs by name."""
        principal = current_principal()
        read_query(request, ())
        workspace_id = principal.get_workspace()
        with self._ports.database.snapshot() as session:
            found = slugs.list_slugs(session, workspace_id)
        return write_json(
            {"slugs": [{"slug": held.slug, "template_id": held.template_id} for held in found]}
        )

    def check_availability(self, slug: str) -> Response:
        """Return whether a slug is available, or the template that holds it."""
        principal = current_principal()
        read_query(request, ())
        check_slug(slug)
        workspace_id = principal.get_workspace()
        with self._ports.database.snapshot() as session:
            holder = slugs.find_holder(session, workspace_id, slug)
        if holder is None:
            return write_json({"slug": slug, "available": True})
        return write_json({"slug": slug, "available": False, "template_id": holder})

    def release_slug(self, slug: str) -> Response:
        """Release a slug, even if its template was deleted."""
        principal = current_principal()
        read_query(request, ())
        check_slug(slug)
        workspace_id = principal.get_workspace()
        with change_templates(principal, self._ports) as session:
            slugs.release_slug(session, workspace_id, slug)
        return Response(status=204)
