"""Sessions of the Studio in Redis: each represents an API key (decision 0362)."""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Final, cast

from redis import Redis

from shared.queue.connection import reachable, register
from shared.shards import PerShard

MAX_SESSIONS: Final = 20  # of one key; another one ends the least recently used
_TOKEN_BYTES: Final = 32
_UNRECORDED_SECONDS: Final = 30  # uses this soon after the last recorded one are not recorded
_PREFIX: Final = "sessions:"
# The key's id, which determines the shard of the session, and 256 random bits in Base64.
_TOKEN: Final = re.compile(r"(key_[a-z2-7]{24})\.[A-Za-z0-9_-]{43}\Z")


@dataclass(frozen=True, slots=True)
class SessionLimits:
    """The lifetime of sessions: `idle_seconds` without use, `absolute_seconds` in total."""

    idle_seconds: int
    absolute_seconds: int


@dataclass(frozen=True, slots=True)
class StudioSession:
    """A live session: the SHA-256 of its key, when it was opened, and when it ends at the latest."""

    key_digest: str
    opened_at: datetime
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class NewSession:
    """A new session; `token` is for its client alone, Redis stores its SHA-256."""

    token: str
    info: StudioSession


class StudioSessions:
    """The sessions of all keys, each on the shard of its key's id.

    A session identifies a key and grants nothing by itself: the caller authenticates the key again, so
    that a revoked or expired key has no working session.
    Every method raises `Unavailable("queue")` if Redis does not answer.
    """

    def __init__(self, servers: PerShard[Redis], terms: SessionLimits) -> None:
        self._servers = servers
        self._terms = terms

    def open(self, key_id: str, key_digest: str) -> NewSession:
        """Open a session of a key that was just authenticated, with a new token."""
        token = f"{key_id}.{secrets.token_urlsafe(_TOKEN_BYTES)}"
        redis = self._servers.of(key_id)
        script = register(redis, "open_session", package="shared.auth")
        terms = self._terms
        args: list[str | int] = [
            *(_digest(token), key_digest, MAX_SESSIONS),
            *(terms.idle_seconds, terms.absolute_seconds, _UNRECORDED_SECONDS),
        ]
        with reachable():
            opened = cast("int", script(keys=[_PREFIX + key_id], args=args))
        return NewSession(token, self._describe(key_digest, opened))

    def find(self, token: str) -> StudioSession | None:
        """Return the live session of a token and record its use; None if there is none."""
        found = _TOKEN.match(token)
        if found is None:
            return None
        redis = self._servers.of(found[1])
        script = register(redis, "find_session", package="shared.auth")
        terms = self._terms
        args: list[str | int] = [
            *(_digest(token), terms.idle_seconds, terms.absolute_seconds, _UNRECORDED_SECONDS)
        ]
        with reachable():
            answer = script(keys=[_PREFIX + found[1]], args=args)
        if answer is None:
            return None
        digest, opened = cast("tuple[bytes, int]", answer)
        return self._describe(digest.decode(), opened)

    def end(self, token: str) -> None:
        """End the session of a token, if there is one."""
        found = _TOKEN.match(token)
        if found is None:
            return
        redis = self._servers.of(found[1])
        with reachable():
            redis.hdel(_PREFIX + found[1], _digest(token))

    def _describe(self, key_digest: str, opened: int) -> StudioSession:
        opened_at = datetime.fromtimestamp(opened, UTC)
        expires_at = opened_at + timedelta(seconds=self._terms.absolute_seconds)
        return StudioSession(key_digest, opened_at, expires_at)


def end_sessions(redis: Redis, key_id: str) -> None:
    """End all sessions of a key, on the server of its shard.

    Raises:
        Unavailable: Redis does not answer.
    """
    with reachable():
        redis.delete(_PREFIX + key_id)


def _digest(token: str) -> str:
    return sha256(token.encode()).hexdigest()
