"""Fetching for an account: from what is kept, together with who asks for the same, or by going out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from threading import Event, Lock
from types import MappingProxyType
from typing import Final, Protocol
from urllib.parse import urlsplit

from shared.clock import ticks
from shared.limits import MAX_IMAGE_BYTES
from shared.outbound import (
    Ask,
    Outbound,
    TargetRefusedError,
    TargetTooLargeError,
    TargetUnreachableError,
    Told,
)
from shared.telemetry.fetcher import FetchOutcome, Look
from shared.telemetry.log import get_logger
from workers.fetcher.bodies import Body, open_spool
from workers.fetcher.freshness import (
    FAILURE_SECONDS,
    confirm,
    read_conditions,
    read_lifetime,
)
from workers.fetcher.shelf import Found, Kept, Key, Shelf
from workers.fetcher.turns import NoTurnError, Turns

_NO_CONDITIONS: Final[Mapping[str, str]] = MappingProxyType({})
_RAISED: Final = {
    NoTurnError: FetchOutcome.BUSY,
    TargetRefusedError: FetchOutcome.REFUSED,
    TargetTooLargeError: FetchOutcome.TOO_LARGE,
}

log: Final = get_logger(__name__)


class FetchWatch(Protocol):
    """Told what becomes of each ask and each way out."""

    def count_look(self, look: Look) -> None:
        """Count where an ask was answered from."""

    def count_fetch(self, outcome: FetchOutcome, seconds: float) -> None:
        """Count a way out and how long it took."""


@dataclass(eq=False, slots=True)
class _Flight:
    """One fetch that several wait for; `kept` is None where each has to go by himself."""

    landed: Event = field(default_factory=Event)
    kept: Kept | None = None
    error: Exception | None = None


class Fetching:
    """Fetches what accounts ask for; safe to share between threads."""

    def __init__(
        self, outbound: Outbound, *, turns: Turns, shelf: Shelf, watch: FetchWatch
    ) -> None:
        self._outbound = outbound
        self._turns = turns
        self._shelf = shelf
        self._watch = watch
        self._lock = Lock()
        self._flights: dict[Key, _Flight] = {}

    def find(self, ask: Ask) -> Found:
        """Give what an address names.

        Raises:
            TargetRefusedError: it may not be connected to.
            TargetTooLargeError: it has more bytes than asked for, or than anybody may have.
            TargetUnreachableError: its server gave no whole answer in time.
            NoTurnError: no turn came in time.
        """
        found = self._find_fresh(ask) if ask.is_fresh else self._find_kept(ask)
        if found.failure is not None:
            raise found.failure
        if found.size > ask.limit_bytes:
            raise TargetTooLargeError(f"it has more than {ask.limit_bytes:,} bytes")
        return found

    def _find_fresh(self, ask: Ask) -> Found:
        """Go out for an upload: what is stored must be what lies there now."""
        self._watch.count_look(Look.PASSED)
        return self._go(ask, _NO_CONDITIONS)[0]

    def _find_kept(self, ask: Ask) -> Found:
        key = Key(ask.account, ask.url)
        kept = self._shelf.find(key)
        if kept is not None and kept.is_fresh:
            self._watch.count_look(Look.HIT)
            return kept.found
        flight, is_first = self._board(key)
        if is_first:
            return self._lead(key, ask, kept, flight)
        flight.landed.wait(ask.patience_seconds + ask.deadline_seconds)
        if flight.error is not None:
            raise flight.error
        if flight.kept is not None:
            self._watch.count_look(Look.HIT)
            return flight.kept.found
        # Its server wants nobody else to use it, or it is not here yet.
        return self._find_fresh(ask)

    def _board(self, key: Key) -> tuple[_Flight, bool]:
        with self._lock:
            flight = self._flights.get(key)
            if flight is not None:
                return flight, False
            self._flights[key] = flight = _Flight()
            return flight, True

    def _lead(self, key: Key, ask: Ask, kept: Kept | None, flight: _Flight) -> Found:
        try:
            found, flight.kept = self._renew(key, ask, kept)
            return found
        except (TargetRefusedError, TargetTooLargeError, NoTurnError) as error:
            flight.error = error
            raise
        finally:
            with self._lock:
                del self._flights[key]
            flight.landed.set()

    def _renew(self, key: Key, ask: Ask, kept: Kept | None) -> tuple[Found, Kept | None]:
        conditions = _NO_CONDITIONS if kept is None else read_conditions(kept.told)
        found, told = self._go(ask, conditions)
        look = Look.MISS
        if found.status == HTTPStatus.NOT_MODIFIED and kept is not None and len(told) == 1:
            look, found, told = Look.REVALIDATED, kept.found, (confirm(kept.told[0], told[0]),)
        self._watch.count_look(look)
        made = _make_kept(found, told)
        if made is None:
            self._shelf.drop(key)
        else:
            self._shelf.put(key, made)
        return found, made

    def _go(self, ask: Ask, conditions: Mapping[str, str]) -> tuple[Found, tuple[Told, ...]]:
        """Go out once. An address that gives nothing is something found; a refused one is not."""
        host = _host_of(ask.url)
        begun, outcome = ticks(), FetchOutcome.FAILED
        try:
            with self._turns.take(ask.account, host, patience_seconds=ask.patience_seconds):
                begun = ticks()
                found, told = self._download(ask, conditions)
            outcome = _outcome_of(found)
        except (NoTurnError, TargetRefusedError, TargetTooLargeError) as error:
            outcome = _RAISED[type(error)]
            raise
        finally:
            seconds = ticks() - begun
            self._watch.count_fetch(outcome, seconds)
            log.info(
                "fetch ended", host=host, outcome=outcome.value, milliseconds=round(seconds * 1000)
            )
        return found, told

    def _download(self, ask: Ask, conditions: Mapping[str, str]) -> tuple[Found, tuple[Told, ...]]:
        with open_spool() as file:
            try:
                answer = self._outbound.download(
                    ask.url,
                    file,
                    limit_bytes=MAX_IMAGE_BYTES,
                    deadline_seconds=ask.deadline_seconds,
                    conditions=conditions,
                )
            except TargetTooLargeError:
                raise
            except TargetUnreachableError as error:
                return Found(0, failure=error), ()
            body = Body(file, answer.size) if 200 <= answer.status < 300 else None
        return Found(answer.status, body), answer.told


def _make_kept(found: Found, told: tuple[Told, ...]) -> Kept | None:
    lifetime = FAILURE_SECONDS if found.body is None else read_lifetime(told)
    return None if lifetime is None else Kept(found, ticks() + lifetime, told)


def _outcome_of(found: Found) -> FetchOutcome:
    if found.failure is not None:
        return FetchOutcome.UNREACHABLE
    return FetchOutcome.ANSWERED if found.body is None else FetchOutcome.FETCHED


def _host_of(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""  # refused, and why is the way out's to say
