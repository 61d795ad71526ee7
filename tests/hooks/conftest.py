"""What the tests of webhooks share: an account, its webhooks, and a deliverer that runs."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence

import pytest

from shared.clock import now
from shared.db import hooks
from shared.db.accounts import create_account
from shared.db.hooks import Delivery, Event
from shared.db.session import Database
from shared.encryption import SecretCipher, new_key
from shared.outbound import Outbound
from workers.hooks.deliverer import Deliverer

KEY = new_key()
CIPHER = SecretCipher([KEY])
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


class Outbox:
    """Adds webhooks and events, and looks at what became of them."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def add_account(self, email: str = "ada@example.org") -> str:
        with self.database.session() as session:
            return create_account(session, email=email).account_id

    def add_webhook(self, account_id: str, url: str) -> str:
        with self.database.session() as session:
            return hooks.create_webhook(
                session,
                account_id,
                url=url,
                events=tuple(Event),
                secret=CIPHER.encrypt(SECRET),
                at=now(),
            ).id

    def tell(self, account_id: str, number: int = 1) -> None:
        with self.database.session() as session:
            for at in range(number):
                data = {"id": f"job_{at}", "title": "Rechnung für Übersee"}
                told = hooks.Happening(account_id, Event.JOB_SUCCEEDED, data.copy)
                hooks.enqueue(session, [told], at=now())

    def read(self, webhook_id: str) -> Sequence[Delivery]:
        with self.database.snapshot() as session:
            return hooks.list_deliveries(session, webhook_id, limit=1000)[0]


@pytest.fixture
def outbox(database: Database) -> Outbox:
    """Give the outbox of this test's database."""
    return Outbox(database)


@pytest.fixture
def deliver(database: Database) -> Iterator[Callable[..., list[str]]]:
    """Give a function that starts a deliverer and gives the list its outcomes go to."""
    running: list[tuple[Deliverer, threading.Thread]] = []

    def start(outbound: Outbound | None = None) -> list[str]:
        outcomes: list[str] = []
        deliverer = Deliverer(
            database, outbound or Outbound(allow_private=True), CIPHER, count=outcomes.append
        )
        thread = threading.Thread(target=deliverer.run)
        thread.start()
        running.append((deliverer, thread))
        return outcomes

    yield start
    for deliverer, thread in running:
        deliverer.stop()
        thread.join(30)


def wait_until(is_so: Callable[[], object], *, seconds: float = 10) -> None:
    """Wait until something is so.

    Raises:
        AssertionError: it was not in time.
    """
    give_up_at = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < give_up_at, "not in time"
        time.sleep(0.02)
