"""How a sign-in at a provider ends. Apart from the provider, whose library not every farm has."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class Problem(StrEnum):
    """The reasons of a failed sign-in, for which the Studio has texts."""

    CANCELLED = "cancelled"
    EXPIRED = "expired"
    PROVIDER = "provider"
    UNVERIFIED = "unverified"
    NO_ACCESS = "no-access"
    SEVERAL = "several"
    REVOKED = "revoked"
    ACCOUNT = "account"


class SignInError(Exception):
    """A sign-in fails; the text is for the log."""

    def __init__(self, problem: Problem, reason: str, *, accounts: Iterable[str] = ()) -> None:
        super().__init__(reason)
        self.problem = problem
        self.accounts = tuple(accounts)


@dataclass(frozen=True, slots=True)
class Person:
    """A person who signed in, as the signed ID token says: the subject, a name to show, and values of the claim."""

    subject: str
    name: str
    values: tuple[str, ...]
