"""Single sign-on by OpenID Connect: its terms, and who gets which account and role (decision 0376)."""

from __future__ import annotations

import hmac
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256
from typing import Final
from urllib.parse import unquote

from shared.auth.scopes import Scope, parse_scopes

DEFAULT_ROLES: Final = (
    "reader=read author=read,render,templates operator=read,render,templates,account"
)
_GRANT: Final = re.compile(r"(\S+)=(acc_[a-z2-7]{24}):([a-z]+)")
_KEY_PURPOSE: Final = b"state of single sign-on"


class Role(StrEnum):
    """A role in an account, the least first."""

    READER = "reader"
    AUTHOR = "author"
    OPERATOR = "operator"


@dataclass(frozen=True, slots=True)
class Grant:
    """A role in an account."""

    account_id: str
    role: Role


@dataclass(frozen=True, slots=True)
class SingleSignOn:
    """The provider, this service as its client, and the grants by value of a claim.

    `studio_url` is the address of the service in browsers, without a path. `state_keys` sign the cookie
    of a sign-in that has begun, with the first; all of them verify it. `key_seconds` is how long the
    key of a person lasts after each sign-in.
    """

    issuer: str
    client_id: str
    client_secret: str
    name: str
    oidc_scopes: str
    studio_url: str
    claim: str
    grants: Mapping[str, tuple[Grant, ...]]
    roles: Mapping[Role, frozenset[Scope]]
    state_keys: tuple[str, ...]
    key_seconds: int

    @property
    def is_secure(self) -> bool:
        """Whether browsers reach the service by TLS; on localhost they may not."""
        return self.studio_url.startswith("https://")

    def find_roles(self, values: Iterable[str]) -> Mapping[str, Role]:
        """Return the highest role in each account that some values of the claim grant."""
        order = list(Role)
        found: dict[str, Role] = {}
        for value in values:
            for grant in self.grants.get(value, ()):
                former = found.get(grant.account_id, grant.role)
                found[grant.account_id] = max(former, grant.role, key=order.index)
        return found


def parse_grants(text: str) -> Mapping[str, tuple[Grant, ...]]:
    """Parse grants: `VALUE=ACCOUNT:ROLE`, separated by spaces; other characters of a value as `%20`.

    Raises:
        ValueError: one is not of that form; the message says which.
    """
    grants: dict[str, tuple[Grant, ...]] = {}
    for word in text.split():
        match = _GRANT.fullmatch(word)
        if match is None or match[3] not in set(Role):
            raise ValueError(
                f"{word[:200]!r} is not VALUE=ACCOUNT_ID:ROLE, as in authors=acc_…:author, with a role of "
                f"{', '.join(Role)}; write a space in a value as %20"
            )
        value = unquote(match[1])
        grants[value] = (*grants.get(value, ()), Grant(match[2], Role(match[3])))
    return grants


def parse_roles(text: str) -> Mapping[Role, frozenset[Scope]]:
    """Parse the scopes of roles: `ROLE=SCOPE,SCOPE`, separated by spaces.

    Raises:
        ValueError: a role is unknown, repeated or missing, or a scope is unknown.
    """
    roles: dict[Role, frozenset[Scope]] = {}
    for word in text.split():
        name, _, scopes = word.partition("=")
        if name not in set(Role) or Role(name) in roles:
            raise ValueError(
                f"{word[:200]!r} is not ROLE=SCOPE,SCOPE with each of {', '.join(Role)}"
            )
        roles[Role(name)] = parse_scopes(scopes.split(","))
    if missing := [role.value for role in Role if role not in roles]:
        raise ValueError(f"the scopes of {', '.join(missing)} are missing")
    return roles


def derive_state_keys(secret_keys: str) -> tuple[str, ...]:
    """Derive the keys of the cookie from those that encrypt secrets, which are used for nothing else."""
    return tuple(
        hmac.new(key.encode(), _KEY_PURPOSE, sha256).hexdigest() for key in secret_keys.split()
    )
