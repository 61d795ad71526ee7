"""The few calls of the HTTP interface that the demo makes."""

from __future__ import annotations

import http.client
import json
from dataclasses import dataclass
from email.message import Message
from typing import Any, Final
from urllib.parse import urlencode, urlsplit

TIMEOUT_SECONDS: Final = 120


class DemoFailed(Exception):
    """The farm refused a request of the demo; the message has the request and the farm's response."""


@dataclass(frozen=True, slots=True)
class RenderedPdf:
    """The response to a render."""

    pdf: bytes
    pages: int


@dataclass(frozen=True, slots=True)
class Client:
    """An HTTP client of the farm at `url` for one account."""

    url: str
    api_key: str

    def store_image(self, name: str, image: bytes) -> None:
        """Store an image of the account's workspace."""
        self._call("PUT", f"/v2/images/{name}", image, "image/png")

    def store_template(self, name: str, source: bytes) -> str:
        """Store a template and return its id."""
        query = urlencode({"name": name})
        answer, _ = self._call("POST", f"/v2/templates?{query}", source, "application/xml")
        template_id: str = json.loads(answer)["id"]
        return template_id

    def render(self, body: bytes, content_type: str, **query: str) -> RenderedPdf:
        """Render a body, with `template` and `flow` as the interface names them."""
        path = f"/v2/pdf?{urlencode(query)}" if query else "/v2/pdf"
        answer, headers = self._call("POST", path, body, content_type)
        return RenderedPdf(answer, int(headers["X-Page-Count"]))

    def read_usage(self) -> dict[str, Any]:
        """Read the usage report of the current period."""
        answer, _ = self._call("GET", "/v2/account/usage")
        report: dict[str, Any] = json.loads(answer)
        return report

    def _call(
        self, method: str, path: str, body: bytes | None = None, content_type: str | None = None
    ) -> tuple[bytes, Message]:
        connection = http.client.HTTPConnection(urlsplit(self.url).netloc, timeout=TIMEOUT_SECONDS)
        headers = {"Authorization": f"Bearer {self.api_key}"}
        if content_type:
            headers["Content-Type"] = content_type
        try:
            connection.request(method, path, body, headers)
            response = connection.getresponse()
            answer = response.read()
        except (OSError, http.client.HTTPException) as error:
            raise DemoFailed(f"{method} {path}: the farm does not answer ({error!r})") from error
        finally:
            connection.close()
        if response.status >= http.HTTPStatus.BAD_REQUEST:
            said = answer.decode("utf-8", "replace")[:2000]
            raise DemoFailed(f"{method} {path}: {response.status} {said}")
        return answer, response.headers
