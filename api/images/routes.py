"""The routes under /v2/images (interface.md, Images)."""

from __future__ import annotations

from io import BytesIO
from typing import Any, Final

from flask import Blueprint, Response, request

from api.admission.body import Body, receive_body
from api.auth.guard import Principal, current_principal
from api.exchange import (
    parse_json_object,
    read_limit,
    read_query,
    write_json,
    write_user,
)
from api.images.capacity import clear_bytes, store_image
from api.images.intake import Intake
from api.images.sources import Sources
from api.ports import Ports
from api.uploads import check_media_type, check_upload_name, decode_data, read_upload_name
from shared.clock import timestamp
from shared.db import images
from shared.db.images import ImageRecord
from shared.errors import ErrorKind, ServiceError
from shared.limits import MAX_BODY_BYTES, MAX_IMAGE_BYTES

_TYPES: Final = ("image/png", "image/jpeg", "image/webp", "image/svg+xml")
_FIELDS: Final = ("name", "source_url", "data")
_LARGER: Final = "PUT /v2/images/{name} takes images up to 50 MB"


class ImageRoutes:
    """The views, over the ports of this process."""

    def __init__(self, ports: Ports) -> None:
        self._ports = ports
        self._sources = Sources(ports.fetcher)
        self._intake = Intake(ports)

    def blueprint(self) -> Blueprint:
        """Give the views at their paths."""
        routes = Blueprint("images", __name__)
        routes.put("/v2/images/<name>")(self.put_image)
        routes.post("/v2/images")(self.post_image)
        routes.get("/v2/images")(self.list_images)
        routes.get("/v2/images/<name>")(self.read_image)
        routes.delete("/v2/images/<name>")(self.delete_image)
        return routes

    def put_image(self, name: str) -> Response:
        """Store the bytes sent under a name."""
        principal = current_principal()
        read_query(request, ())
        check_upload_name(name, what="image")
        check_media_type(_TYPES)
        principal.get_workspace()
        with receive_body(request, limit=MAX_IMAGE_BYTES) as body:
            return self._store(name, body, principal)

    def post_image(self) -> Response:
        """Store an image that JSON carries, or names the address of."""
        principal = current_principal()
        read_query(request, ())
        check_media_type(("application/json",))
        principal.get_workspace()
        with receive_body(request, limit=MAX_BODY_BYTES) as body:
            fields = parse_json_object(body.read(), fields=_FIELDS)
        name, url = read_upload_name(fields, what="image"), _read_source(fields)
        if url is None:
            data = decode_data(fields["data"], what="image", larger=_LARGER)
            return self._store(name, Body(BytesIO(data), len(data)), principal)
        with self._sources.receive_source(url, account_id=principal.state.account_id) as body:
            return self._store(name, body, principal)

    def list_images(self) -> Response:
        """List images by name, and what the workspace holds."""
        principal = current_principal()
        query = read_query(request, ("limit", "start_after"))
        limit, start_after = read_limit(query), query.get("start_after")
        if start_after is not None:
            check_upload_name(start_after, what="image")
        workspace_id = principal.get_workspace()
        with self._ports.database.snapshot() as session:
            found = images.list_images(
                session, workspace_id, limit=limit + 1, start_after=start_after
            )
            usage = images.measure_workspace(session, workspace_id)
        body: dict[str, Any] = {"images": [_record(image) for image in found[:limit]]}
        if len(found) > limit:
            body["next_cursor"] = found[limit - 1].name
        body["usage"] = {"total_bytes": usage.total_bytes, "count": usage.count}
        return write_json(body)

    def read_image(self, name: str) -> Response:
        """Tell what is stored under a name."""
        principal = current_principal()
        read_query(request, ())
        check_upload_name(name, what="image")
        with self._ports.database.snapshot() as session:
            image = images.find_image(session, principal.get_workspace(), name)
        if image is None:
            raise _not_found(name)
        return write_json(_record(image))

    def delete_image(self, name: str) -> Response:
        """Remove an image and free its room."""
        principal = current_principal()
        read_query(request, ())
        check_upload_name(name, what="image")
        workspace_id = principal.get_workspace()
        self._ports.cell(principal.state.account_id).image_pins.drop(workspace_id)
        with self._ports.database.session() as session:
            sha256 = images.delete_image(session, workspace_id, name)
        if sha256 is None:
            raise _not_found(name)
        clear_bytes(workspace_id, sha256, self._ports)
        return Response(status=204)

    def _store(self, name: str, body: Body, principal: Principal) -> Response:
        if body.size == 0:
            raise ServiceError(
                400, "The image is empty; send the bytes of a PNG, JPEG, WebP or SVG."
            )
        facts = self._intake.inspect(body, principal)
        stored = store_image(name, facts, body.file, principal=principal, ports=self._ports)
        return write_json(_record(stored.image), 201 if stored.replaced_sha256 is None else 200)


def _read_source(fields: dict[str, Any]) -> str | None:
    """Give the address to fetch from; None when the bytes themselves are there."""
    if ("source_url" in fields) == ("data" in fields):
        raise ServiceError(400, "Give either source_url or data, one or the other, not both.")
    url = fields.get("source_url")
    if "source_url" in fields and not isinstance(url, str):
        raise ServiceError(400, "The field source_url must be a string: an http or https address.")
    return url


def _not_found(name: str) -> ServiceError:
    return ServiceError(
        404, f"The workspace holds no image named '{name}'.", kind=ErrorKind.NOT_FOUND
    )


def _record(image: ImageRecord) -> dict[str, Any]:
    facts = image.facts
    return {
        "name": image.name,
        "content_type": facts.content_type,
        "bytes": facts.bytes,
        "width": facts.width,
        "height": facts.height,
        "sha256": facts.sha256,
        "created_at": timestamp(image.created_at),
        "created_by": write_user(image.created_by),
        "updated_at": timestamp(image.updated_at),
        "updated_by": write_user(image.updated_by),
    }
