"""The routes under /v2/fonts."""

from __future__ import annotations

from io import BytesIO
from typing import Any, Final

from flask import Blueprint, Response, request

from api.admission.body import Body, receive_body
from api.auth.guard import Principal, current_principal
from api.exchange import parse_json_object, read_limit, read_query, write_json, write_user
from api.fonts.storing import FontStore
from api.ports import Ports
from api.uploads import check_media_type, check_upload_name, decode_data, read_upload_name
from shared.clock import timestamp
from shared.db import fonts
from shared.db.fonts import SHELF, FontRecord
from shared.errors import ErrorKind, ServiceError
from shared.limits import MAX_BODY_BYTES, MAX_FONT_BYTES

FONT_TYPES: Final = (
    "font/ttf",
    "font/otf",
    "font/collection",
    "font/woff2",
    "font/sfnt",
    "application/octet-stream",
)
_FIELDS: Final = ("name", "data")
_LARGER: Final = "the limit of fonts is 20 MB"


class FontRoutes:
    """The views, over the ports of this process."""

    def __init__(self, ports: Ports) -> None:
        self._ports = ports
        self._store = FontStore(ports)

    def blueprint(self) -> Blueprint:
        """Return the views at their paths."""
        routes = Blueprint("fonts", __name__)
        routes.put("/v2/fonts/<name>")(self.put_font)
        routes.post("/v2/fonts")(self.post_font)
        routes.get("/v2/fonts")(self.list_fonts)
        routes.get("/v2/fonts/<name>")(self.read_font)
        routes.delete("/v2/fonts/<name>")(self.delete_font)
        return routes

    def put_font(self, name: str) -> Response:
        """Store the bytes sent under a name."""
        principal = current_principal()
        read_query(request, ())
        check_upload_name(name, what="font")
        check_media_type(FONT_TYPES)
        principal.get_workspace()
        with receive_body(request, limit=MAX_FONT_BYTES) as body:
            return self._answer(name, body, principal)

    def post_font(self) -> Response:
        """Store a font that JSON carries."""
        principal = current_principal()
        read_query(request, ())
        check_media_type(("application/json",))
        principal.get_workspace()
        with receive_body(request, limit=MAX_BODY_BYTES) as body:
            fields = parse_json_object(body.read(), fields=_FIELDS)
        name = read_upload_name(fields, what="font")
        data = decode_data(fields.get("data"), what="font", larger=_LARGER)
        return self._answer(name, Body(BytesIO(data), len(data)), principal)

    def list_fonts(self) -> Response:
        """List fonts by name, and what the workspace holds."""
        principal = current_principal()
        query = read_query(request, ("limit", "start_after"))
        limit, start_after = read_limit(query), query.get("start_after")
        if start_after is not None:
            check_upload_name(start_after, what="font")
        workspace_id = principal.get_workspace()
        with self._ports.database.snapshot() as session:
            found = fonts.list_fonts(
                session, workspace_id, limit=limit + 1, start_after=start_after
            )
            usage = SHELF.measure(session, workspace_id)
        body: dict[str, Any] = {"fonts": [_record(font) for font in found[:limit]]}
        if len(found) > limit:
            body["next_cursor"] = found[limit - 1].name
        body["usage"] = {"total_bytes": usage.total_bytes, "count": usage.count}
        return write_json(body)

    def read_font(self, name: str) -> Response:
        """Return the record of a name."""
        principal = current_principal()
        read_query(request, ())
        check_upload_name(name, what="font")
        with self._ports.database.snapshot() as session:
            font = fonts.find_font(session, principal.get_workspace(), name)
        if font is None:
            raise _not_found(name)
        return write_json(_record(font))

    def delete_font(self, name: str) -> Response:
        """Remove a font and free its room."""
        principal = current_principal()
        read_query(request, ())
        check_upload_name(name, what="font")
        if not self._store.delete(name, principal):
            raise _not_found(name)
        return Response(status=204)

    def _answer(self, name: str, body: Body, principal: Principal) -> Response:
        if body.size == 0:
            raise ServiceError(
                400, "The font is empty; send the bytes of a TrueType, OpenType or WOFF2 font."
            )
        record, is_new = self._store.store(name, body, principal)
        return write_json(_record(record), 201 if is_new else 200)


def _not_found(name: str) -> ServiceError:
    return ServiceError(
        404, f"The workspace holds no font named '{name}'.", kind=ErrorKind.NOT_FOUND
    )


def _record(font: FontRecord) -> dict[str, Any]:
    facts = font.facts
    return {
        "name": font.name,
        "format": facts.format,
        "bytes": facts.bytes,
        "sha256": facts.sha256,
        "faces": facts.faces,
        "created_at": timestamp(font.created_at),
        "created_by": write_user(font.created_by),
        "updated_at": timestamp(font.updated_at),
        "updated_by": write_user(font.updated_by),
    }
