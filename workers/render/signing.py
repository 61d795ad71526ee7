"""Signatures of a job's file by the signer, with the certificates of its account."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from shared.signer import SignatureCall, SignatureRefusedError, SignerClient
from workers.engine.ports import SignatureRequest, SigningRefusedError


@dataclass(frozen=True, slots=True)
class Signers:
    """The signer of the farm, if it has one, for each account."""

    client: SignerClient | None = None

    def of_account(
        self, account_id: str, *, is_discarded: Callable[[], object] = lambda: False
    ) -> AccountSigner:
        """Return the signer of an account; the id comes from the job, never from its document.

        A file that `is_discarded`, as some of its images are missing yet, is refused.
        """
        return AccountSigner(self.client, account_id, is_discarded)


@dataclass(frozen=True, slots=True)
class AccountSigner:
    """Signs files of one account; see `workers.engine.ports.Signer`."""

    client: SignerClient | None
    account_id: str
    is_discarded: Callable[[], object]

    def sign(self, pdf: bytes, request: SignatureRequest) -> bytes:
        """Return the signed file.

        Raises:
            SigningRefusedError: the certificate or the field cannot be used, or the farm signs no files.
            Unavailable: the signer is unavailable.
        """
        if self.client is None:
            raise SigningRefusedError(
                "This service signs no files, as its operator runs no signer; leave `sign` out"
            )
        if self.is_discarded():
            raise SigningRefusedError("The file has images that are missing yet")
        call = SignatureCall(self.account_id, request.certificate, request.field)
        try:
            return self.client.sign(pdf, call)
        except SignatureRefusedError as error:
            raise SigningRefusedError(f"The file cannot be signed: {error}") from error
