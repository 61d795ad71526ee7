"""The signature headers of webhooks by Standard Webhooks 1.0 (standardwebhooks.com)."""

from __future__ import annotations

import hmac
from base64 import b64decode, b64encode
from collections.abc import Sequence
from hashlib import sha256

from shared.webhooks.repository import SECRET_PREFIX


def sign(delivery_id: str, at: int, body: bytes, secrets: Sequence[str]) -> dict[str, str]:
    """Return the headers that identify and sign a body; `at` is seconds since 1970.

    Each secret adds a signature; a receiver needs to know one of them.
    """
    signed = b"%b.%d.%b" % (delivery_id.encode("ascii"), at, body)
    signatures = [f"v1,{_signature(secret, signed)}" for secret in secrets]
    return {
        "webhook-id": delivery_id,
        "webhook-timestamp": str(at),
        "webhook-signature": " ".join(signatures),
    }


def _signature(secret: str, signed: bytes) -> str:
    key = b64decode(secret.removeprefix(SECRET_PREFIX))
    return b64encode(hmac.new(key, signed, sha256).digest()).decode("ascii")
