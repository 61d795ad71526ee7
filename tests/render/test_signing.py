"""The signer of a job: of its account, and not asked for a file that is rendered again anyway."""

from __future__ import annotations

import pytest

from deploy.embedded.loopback import free_port
from shared.errors import Unavailable
from shared.signer import SignerClient
from workers.engine.diagnostics import SourceLocation, SourceSpan
from workers.engine.ports import SignatureRequest, SigningRefusedError
from workers.render.resources import AccountSigner

REQUEST = SignatureRequest("contract", None, SourceLocation("security", SourceSpan(1, 1, 1, 2)))


def test_a_farm_without_a_signer_refuses_with_the_reason():
    with pytest.raises(SigningRefusedError, match="its operator runs no signer"):
        AccountSigner(None, "acc_1").sign(b"%PDF", REQUEST)


def test_a_file_whose_images_are_missing_yet_is_not_sent():
    away = SignerClient(f"http://127.0.0.1:{free_port()}", budget_seconds=9)
    waiting = AccountSigner(away, "acc_1", lambda: ["https://example.org/a"])
    with pytest.raises(SigningRefusedError, match="missing yet"):
        waiting.sign(b"%PDF", REQUEST)
    with pytest.raises(Unavailable):
        AccountSigner(away, "acc_1").sign(b"%PDF", REQUEST)
