"""The internal HTTP server of the signer for workers."""

from __future__ import annotations

from http import HTTPStatus
from typing import Final
from urllib.parse import parse_qs, urlsplit

from shared.internal_http import BadRequestError, InternalHandler, InternalServer
from shared.limits import MAX_SIGNED_BYTES
from shared.signer import LOG_FIELDS, MEDIA_TYPE, SIGN_PATH, SignatureCall
from shared.telemetry.log import log_context
from shared.telemetry.process import ProcessMetrics
from workers.signer.service import REFUSALS, SigningService

_MAX_REQUESTS: Final = 256
_MAX_FIELDS: Final = 20


class SignerServer(InternalServer):
    """A signer: serves requests in threads, up to a limit."""

    def __init__(
        self, address: tuple[str, int], signing: SigningService, counted: ProcessMetrics
    ) -> None:
        """Listen without serving requests yet.

        Raises:
            OSError: the address cannot be listened on.
        """
        super().__init__(
            address, _Handler, failure="signing request failed", max_requests=_MAX_REQUESTS
        )
        self.signing: Final = signing
        self.metrics: Final = counted


class _Handler(InternalHandler):
    refusals = REFUSALS
    server: SignerServer
    timeout = 15

    def answer(self) -> None:
        """Sign a file."""
        fields = self._read_fields()
        size = self.read_size(MEDIA_TYPE, most=MAX_SIGNED_BYTES)
        call = SignatureCall(
            fields.get("account", ""), fields.get("certificate", ""), fields.get("field")
        )
        with log_context(**{name: fields[name] for name in LOG_FIELDS if name in fields}):
            signed = self.server.signing.sign(call, lambda: self.rfile.read(size))
            self.send_head(HTTPStatus.OK, len(signed), {"Content-Type": MEDIA_TYPE})
            self.wfile.write(signed)

    def _read_fields(self) -> dict[str, str]:
        try:
            parts = urlsplit(self.path)
            named = parse_qs(
                parts.query, strict_parsing=True, errors="strict", max_num_fields=_MAX_FIELDS
            )
        except ValueError as error:
            raise BadRequestError("The query is not one.") from error
        if parts.path != SIGN_PATH:
            raise BadRequestError(f"No such path; accepted is {SIGN_PATH}.")
        return {name: values[0] for name, values in named.items()}
