"""The routes under /v2/images and /v2/fonts."""

from __future__ import annotations

from collections.abc import Mapping
from io import BytesIO
from typing import Any, Generic

from flask import Blueprint, Response, request

from api.admission.body import Body, receive_body
from api.admission.json_body import decode_string, split_object
from api.auth.guard import Principal, current_principal
from api.files.kinds import FileKind
from api.files.source_urls import SourceUrlFetcher
from api.files.store import FileStore
from api.http import read_limit, read_query, require_content_type, write_json, write_user
from api.ports import Ports
from api.uploads import check_upload_name, decode_data, read_upload_name
from shared.clock import timestamp
from shared.errors import ErrorKind, ServiceError
from shared.files.repository import F, FileRecord


class FileRoutes(Generic[F]):
    """The views of one kind of file."""

    def __init__(self, kind: FileKind[F], ports: Ports) -> None:
        self._kind = kind
        self._ports = ports
        self._source_fetcher = SourceUrlFetcher(
            ports.fetcher, singular=kind.singular, plural=kind.plural, max_bytes=kind.max_bytes
        )
        self._store = FileStore(kind, ports)

    def blueprint(self) -> Blueprint:
        """Return the views at their paths."""
        plural = self._kind.plural
        routes = Blueprint(plural, __name__)
        routes.put(f"/v2/{plural}/<name>")(self.put_file)
        routes.post(f"/v2/{plural}")(self.post_file)
        routes.get(f"/v2/{plural}")(self.list_files)
        routes.get(f"/v2/{plural}/<name>")(self.read_file)
        routes.delete(f"/v2/{plural}/<name>")(self.delete_file)
        return routes

    def put_file(self, name: str) -> Response:
        """Store the request's body under a name."""
        principal = current_principal()
        read_query(request, ())
        self._check_name(name)
        require_content_type(request, self._kind.media_types)
        principal.get_workspace()
        with receive_body(request, limit=self._kind.max_bytes) as body:
            return self._store_upload(name, body, principal)

    def post_file(self) -> Response:
        """Store a file sent in JSON, or fetched from an address."""
        principal = current_principal()
        read_query(request, ())
        require_content_type(request, ("application/json",))
        principal.get_workspace()
        with receive_body(request) as body:
            fields = split_object(body.read(), fields=("name", "source_url", "data"))
        name = read_upload_name(fields, kind=self._kind.singular)
        if (url := _read_source_url(fields)) is not None:
            account_id = principal.state.account_id
            with self._source_fetcher.fetch(url, account_id=account_id) as body:
                return self._store_upload(name, body, principal)
        data = decode_data(
            fields["data"], kind=self._kind.singular, larger_hint=self._kind.larger_hint
        )
        return self._store_upload(name, Body(BytesIO(data), len(data)), principal)

    def list_files(self) -> Response:
        """List the files by name, with the total usage of the workspace."""
        principal = current_principal()
        query = read_query(request, ("limit", "start_after"))
        limit, start_after = read_limit(query), query.get("start_after")
        if start_after is not None:
            self._check_name(start_after)
        workspace_id, files = principal.get_workspace(), self._kind.files
        with self._ports.database.snapshot() as session:
            found = files.list(session, workspace_id, limit=limit + 1, start_after=start_after)
            usage = files.measure(session, workspace_id)
        body: dict[str, Any] = {self._kind.plural: [self._write(file) for file in found[:limit]]}
        if len(found) > limit:
            body["next_cursor"] = found[limit - 1].name
        body["usage"] = {"total_bytes": usage.total_bytes, "count": usage.count}
        return write_json(body)

    def read_file(self, name: str) -> Response:
        """Return the record of a file."""
        principal = current_principal()
        read_query(request, ())
        self._check_name(name)
        with self._ports.database.snapshot() as session:
            file = self._kind.files.find(session, principal.get_workspace(), name)
        if file is None:
            raise self._not_found(name)
        return write_json(self._write(file))

    def delete_file(self, name: str) -> Response:
        """Delete a file and free its space."""
        principal = current_principal()
        read_query(request, ())
        self._check_name(name)
        if not self._store.delete(name, principal):
            raise self._not_found(name)
        return Response(status=204)

    def _store_upload(self, name: str, body: Body, principal: Principal) -> Response:
        if body.size == 0:
            kind = self._kind
            message = f"The {kind.singular} is empty; send the bytes of {kind.formats}."
            raise ServiceError(400, message)
        record, is_new = self._store.store(name, body, principal)
        path = f"/v2/{self._kind.plural}/{record.name}"
        return write_json(self._write(record), 201 if is_new else 200, headers={"Location": path})

    def _write(self, file: FileRecord[F]) -> dict[str, Any]:
        return {
            "name": file.name,
            **self._kind.files.write_properties(file.properties),
            "created_at": timestamp(file.created_at),
            "created_by": write_user(file.created_by),
            "updated_at": timestamp(file.updated_at),
            "updated_by": write_user(file.updated_by),
        }

    def _check_name(self, name: str) -> None:
        check_upload_name(name, kind=self._kind.singular)

    def _not_found(self, name: str) -> ServiceError:
        message = f"The workspace holds no {self._kind.singular} named '{name}'."
        return ServiceError(404, message, kind=ErrorKind.NOT_FOUND)


def _read_source_url(fields: Mapping[str, bytes]) -> str | None:
    """Return the address to fetch from, None if the request contains the bytes."""
    if ("source_url" in fields) == ("data" in fields):
        raise ServiceError(400, "Send source_url or data: either one or the other, not both.")
    if "source_url" not in fields:
        return None
    url = decode_string("source_url", fields["source_url"])
    if url is None:
        raise ServiceError(400, "The field source_url must be a string: an http or https address.")
    return url
