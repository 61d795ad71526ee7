"""The state of an API key, as the database and the cache store it."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Literal

from shared.auth.scopes import Scope, decode_scopes, encode_scopes
from shared.jobs.records import Allowance
from shared.usage.metering import Totals
from shared.usage.periods import Period


@dataclass(frozen=True, slots=True)
class KeyState:
    """The state of a key and of its account, as last written to the database.

    `max_draft_pages` is None on plans without a draft allowance. `rate_limit` is `N/second` or
    `N/minute`; None means the plan's default. `key_expires_at` is aware.
    """

    key_id: str
    account_id: str
    workspace_id: str | None
    user_id: str
    user_name: str | None
    user_email: str
    plan: Literal["free", "paid"]
    max_pages: int
    max_draft_pages: int | None
    renewal_day: int
    rate_limit: str | None
    key_revoked: bool
    key_expires_at: datetime | None
    scopes: frozenset[Scope]
    account_disabled: bool
    email_verified: bool

    def cap(self, allowance: Allowance) -> int | None:
        """Return the page limit of an allowance, None if there is none."""
        if self.plan != "free":
            return None
        return self.max_draft_pages if allowance is Allowance.DRAFT else self.max_pages

    def encode(self) -> str:
        """Write the state as JSON."""
        raw = asdict(self)
        raw["key_expires_at"] = self.key_expires_at and self.key_expires_at.isoformat()
        raw["scopes"] = encode_scopes(self.scopes)
        return json.dumps(raw, separators=(",", ":"))

    @classmethod
    def decode(cls, text: str | bytes) -> KeyState | None:
        """Read a state from its JSON, None if a version without scopes wrote it."""
        raw: dict[str, Any] = json.loads(text)
        expires_at, scopes = raw.pop("key_expires_at"), raw.pop("scopes", None)
        if scopes is None:
            return None
        return cls(
            **raw,
            key_expires_at=datetime.fromisoformat(expires_at) if expires_at else None,
            scopes=decode_scopes(scopes),
        )


@dataclass(frozen=True, slots=True)
class Admission:
    """A key's state and its account's usage in the current period.

    `used` is None if it was not read or the counters are missing: call `find_usage`, and rebuild the
    counters from the ledger with `seed_usage`.
    """

    state: KeyState
    period: Period
    used: Totals | None
