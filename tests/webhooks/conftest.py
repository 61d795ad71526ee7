"""Shared fixtures of the webhook tests: an account, its webhooks, and a running deliverer."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from shared.auth.accounts import create_account
from shared.blobs.factory import open_store
from shared.blobs.store import BlobStore
from shared.clock import now
from shared.db.session import Database
from shared.encryption import SecretCipher, new_key
from shared.outbound import Outbound
from shared.settings import Settings
from shared.webhooks import repository as webhooks
from shared.webhooks.repository import Delivery, WebhookEvent
from workers.webhooks.deliverer import WebhookDeliverer

ROOT = Path(__file__).parents[2]
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
            return webhooks.create_webhook(
                session,
                account_id,
                url=url,
                events=tuple(WebhookEvent),
                secret=CIPHER.encrypt(SECRET),
                at=now(),
            ).id

    def tell(self, account_id: str, number: int = 1) -> None:
        with self.database.session() as session:
            for at in range(number):
                data = {"id": f"job_{at}", "title": "Rechnung für Übersee"}
                told = webhooks.WebhookNotification(
                    account_id, WebhookEvent.JOB_SUCCEEDED, data.copy
                )
                webhooks.enqueue(session, [told], at=now())

    def read(self, webhook_id: str) -> Sequence[Delivery]:
        with self.database.snapshot() as session:
            return webhooks.list_deliveries(session, webhook_id, limit=1000)[0]


@pytest.fixture
def outbox(database: Database) -> Outbox:
    """Return the outbox of this test's database."""
    return Outbox(database)


@pytest.fixture
def blobs(tmp_path: Path) -> BlobStore:
    """Return an empty blob store."""
    return open_store(f"file://{tmp_path}/blobs")


@pytest.fixture
def start_process(settings: Settings) -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    """Provide a function that starts the process of webhooks, which may connect to loopback."""
    environment = {
        "PRESSROOM_DATABASE_URL": settings.database_url,
        "PRESSROOM_REDIS_URL": settings.redis_url,
        "PRESSROOM_BLOB_URL": settings.blob_url,
        "PRESSROOM_OUTBOUND_ALLOW_PRIVATE": "true",
        "PRESSROOM_SECRET_KEYS": KEY,
    }
    if trusted := os.environ.get("SSL_CERT_FILE"):
        environment["SSL_CERT_FILE"] = trusted
    command = [sys.executable, "-m", "workers.webhooks.main"]
    started: list[subprocess.Popen[bytes]] = []

    def start(**options: int) -> subprocess.Popen[bytes]:
        started.append(subprocess.Popen(command, cwd=ROOT, env=environment, **options))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.wait()


@pytest.fixture
def deliver(database: Database, blobs: BlobStore) -> Iterator[Callable[..., list[str]]]:
    """Provide a function that starts a deliverer and returns the list of its outcomes."""
    running: list[tuple[WebhookDeliverer, threading.Thread]] = []

    def start(outbound: Outbound | None = None) -> list[str]:
        outcomes: list[str] = []
        way_out = outbound or Outbound(allow_private=True)
        deliverer = WebhookDeliverer(database, way_out, CIPHER, blobs, count=outcomes.append)
        thread = threading.Thread(target=deliverer.run)
        thread.start()
        running.append((deliverer, thread))
        return outcomes

    yield start
    for deliverer, thread in running:
        deliverer.stop()
        thread.join(30)
