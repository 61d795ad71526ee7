"""The routes under /v2/images and /v2/fonts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from io import BytesIO
from typing import ClassVar, Final

from flask import Response, request

from api.admission.body import Body, receive_body
from api.admission.json_body import decode_record
from api.auth.guard import Principal, current_principal
from api.files.store import FONT, IMAGE, FileKind, FileStore, SourceUrlFetcher, decode_data
from api.http import read_limit, require_content_type, write_json, write_page
from api.operations.checks import check_value
from api.operations.model import (
    ErrorStatuses,
    Operation,
    Parameter,
    RequestBody,
    Routes,
    binary_content,
    current_query,
    delete,
    get,
    json_content,
    json_response,
    post,
    put,
)
from api.operations.parameters import IMAGE_NAME, LIMIT, NO_CONTENT, NO_WORKSPACE, start_after
from api.ports import Ports
from shared.auth.scopes import Scope
from shared.errors import ErrorCode, ServiceError
from shared.files.repository import FileRequest
from shared.limits import MB

_UPLOAD: Final[ErrorStatuses] = {**NO_WORKSPACE, 504: (ErrorCode.RENDER_TIMEOUT,)}
_IMAGE_RULES: Final = (
    "The format is detected from the bytes, not from the declared type: PNG, JPEG (8 bits, baseline or "
    "progressive), SVG, PDF, or WebP without animation. Limits: 50 MB and 100 megapixels; WebP 24 megapixels; PNG "
    "with transparency or interlacing 32 megapixels; SVG 8 MB, 50,000 elements including the copies of `use`, "
    "300,000 path segments, 2,000 style rules, and no entities. The size of an SVG is its width and height in "
    "px, or its view box. Of a PDF the pages are drawn, without scripts, forms, links and annotations; its first "
    "10 pages are checked, its width and height are those of the first in px, and an encrypted one is rejected. "
    "ICC profiles of CMYK printers, for `output-intent` of documents, are stored here too; they have no pixels. "
    "A worker prepares the image as a render does: an image that renders reject is 400 "
    "with the same message. Not metered. 503 without a worker, 504 over the time budget. At most four uploads "
    "of an account are inspected at once; others wait, and are 429 after 30 s. 409 without a code if the "
    "workspace has no space."
)
_FONT_RULES: Final = (
    "The format is detected from the bytes, not from the declared type: TrueType, OpenType with CFF outlines, "
    "WOFF, WOFF2, or a TrueType collection of up to 32 fonts. Up to 20 MB; with CFF outlines 12,000 glyphs, with "
    "CFF2 4,000. Variable fonts keep their axes. A worker subsets the font as a render does: a font that "
    "renders reject is 400 with the same message, including a font whose fsType does not allow subset "
    "embedding. Documents use it with `font` and its name. Not metered; 409 without a code if the workspace "
    "has no space."
)


def _words(kind: FileKind, article: str, rules: str) -> Mapping[str, str]:
    return {
        "article": f"{article} {kind.singular}",
        "singular": kind.singular,
        "plural": kind.plural,
        "Name": kind.singular.title(),
        "Plural": kind.plural.title(),
        "megabytes": str(kind.max_bytes // MB),
        "rules": rules,
    }


class _FileRoutes(Routes):
    """The views of one kind of file."""

    _kind: ClassVar[FileKind]

    def __init__(self, ports: Ports) -> None:
        super().__init__(ports)
        self._source_fetcher = SourceUrlFetcher(ports.fetcher, self._kind)
        self._store = FileStore(self._kind, ports)

    @classmethod
    def operations(cls) -> Iterator[tuple[str, Operation]]:
        """Yield the operations; the body of PUT has one of the kind's media types."""
        content = binary_content(*cls._kind.media_types)
        for name, operation in super().operations():
            is_put = operation.method == "put"
            body = RequestBody(content, f"The bytes of the {cls._kind.singular}.")
            yield name, replace(operation, body=body) if is_put else operation

    @put(
        "/v2/$plural/{name}",
        {
            201: json_response("Stored.", "$Name"),
            200: json_response("Replaced; documents use the new $singular from now on.", "$Name"),
        },
        errors=_UPLOAD,
        name="put$Name",
    )
    def put_file(self, name: str) -> Response:
        """Store $article.

        $rules
        """
        principal = current_principal()
        self._check_name(name)
        require_content_type(request, self._kind.media_types)
        principal.get_workspace()
        with receive_body(request, limit=self._kind.max_bytes) as body:
            return self._store_upload(name, body, principal)

    @post(
        "/v2/$plural",
        {201: json_response("Stored.", "$Name"), 200: json_response("Replaced.", "$Name")},
        body=RequestBody(
            json_content("${Name}Request"), "The name, and the $singular or its address."
        ),
        errors=_UPLOAD,
        name="post$Name",
    )
    def post_file(self) -> Response:
        """Store $article from JSON.

        Send either data, the $singular in base64 (up to 20 MB decoded), or source_url, an http or https
        address from which the service fetches it: public hosts only, also after redirects, within 10 s and
        up to $megabytes MB. The $singular is inspected as with PUT.
        """
        principal = current_principal()
        require_content_type(request, ("application/json",))
        principal.get_workspace()
        with receive_body(request) as body:
            asked = decode_record(body.read(), FileRequest)
        self._check_name(asked.name)
        match asked.source_url, asked.data:
            case str(url), None:
                account_id = principal.state.account_id
                with self._source_fetcher.fetch(url, account_id=account_id) as body:
                    return self._store_upload(asked.name, body, principal)
            case None, str(text):
                data = decode_data(text, self._kind)
                return self._store_upload(asked.name, Body(BytesIO(data), len(data)), principal)
        raise ServiceError(400, "Send source_url or data: either one or the other, not both.")

    @get(
        "/v2/$plural",
        {200: json_response("One page.", "${Name}List")},
        query=(LIMIT, start_after(IMAGE_NAME)),
        errors=NO_WORKSPACE,
        name="list$Plural",
    )
    def list_files(self) -> Response:
        """List $plural.

        By name, with the total usage of the workspace.
        """
        principal = current_principal()
        query = current_query()
        limit, start_after = read_limit(query), query.get("start_after")
        workspace_id, files = principal.get_workspace(), self._kind.files
        with self._ports.database.snapshot() as session:
            found = files.list(session, workspace_id, limit=limit + 1, start_after=start_after)
            usage = files.measure(session, workspace_id)
        shown = [file.show() for file in found]
        body = write_page(self._kind.plural, shown, limit=limit, key="name")
        body["usage"] = {"total_bytes": usage.total_bytes, "count": usage.count}
        return write_json(body)

    @get(
        "/v2/$plural/{name}",
        {200: json_response("The record.", "$Name")},
        errors={404: (), **NO_WORKSPACE},
        name="read$Name",
    )
    def read_file(self, name: str) -> Response:
        """Read ${article}'s record.

        The bytes themselves cannot be downloaded.
        """
        principal = current_principal()
        self._check_name(name)
        with self._ports.database.snapshot() as session:
            file = self._kind.files.find(session, principal.get_workspace(), name)
        if file is None:
            raise self._not_found(name)
        return write_json(file.show())

    @delete(
        "/v2/$plural/{name}",
        {204: NO_CONTENT},
        errors={404: (), **NO_WORKSPACE},
        name="delete$Name",
    )
    def delete_file(self, name: str) -> Response:
        """Delete $article.

        Its space is freed at once.
        """
        principal = current_principal()
        self._check_name(name)
        if not self._store.delete(name, principal):
            raise self._not_found(name)
        return Response(status=204)

    def _check_name(self, name: str) -> None:
        check_value(Parameter(f"{self._kind.singular} name", IMAGE_NAME, "A name."), name)

    def _store_upload(self, name: str, body: Body, principal: Principal) -> Response:
        if body.size == 0:
            kind = self._kind
            message = f"The {kind.singular} is empty; send the bytes of {kind.formats}."
            raise ServiceError(400, message)
        record, is_new = self._store.store(name, body, principal)
        path = f"/v2/{self._kind.plural}/{record.name}"
        return write_json(record.show(), 201 if is_new else 200, headers={"Location": path})

    def _not_found(self, name: str) -> ServiceError:
        message = f"The workspace holds no {self._kind.singular} named '{name}'."
        return ServiceError(404, message)


class ImageRoutes(_FileRoutes):
    """The views of images."""

    tag = "Images"
    scopes = frozenset((Scope.TEMPLATES,))
    words = _words(IMAGE, "an", _IMAGE_RULES)
    _kind = IMAGE


class FontRoutes(_FileRoutes):
    """The views of fonts."""

    tag = "Fonts"
    scopes = frozenset((Scope.TEMPLATES,))
    words = _words(FONT, "a", _FONT_RULES)
    _kind = FONT
