"""Mails may have a link in place of the PDF: it opens that file alone, without a key, until it ends."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import timedelta
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Any

import pytest
from aiosmtpd.controller import Controller
from sqlalchemy import update

from api.app import create_app
from deploy.embedded.loopback import free_port
from shared.auth import audit
from shared.auth.administration import delete_account
from shared.clock import now
from shared.db.tables import accounts, batches, jobs, webhook_deliveries
from shared.encryption import SecretCipher, new_key
from shared.outbound import Outbound
from shared.queue.names import BATCH
from shared.webhooks.destinations import DestinationRequest, create_destination
from shared.webhooks.links import read_link, write_link
from shared.webhooks.uploads import check_destination
from tests.conftest import with_settings
from tests.waiting import wait_until
from tests.webhooks.conftest import Outbox
from tests.webhooks.test_destinations import finish_batch
from workers.webhooks.deliverer import WebhookDeliverer

FARM = "https://farm.example.org"
MAIL = {
    "sender": "billing@example.org",
    "recipient": "bo@example.com",
    "subject": "Invoice",
    "text": "Your invoice: {link}\nThe link ends at {expires}.",
    "attachment": "invoice {date}",
    "link_hours": 24,
}
XML = {"data": b"<d/>", "content_type": "text/xml"}
ASYNC = {"Prefer": "respond-async"}


@pytest.fixture
def settings(settings):
    """Return settings of a farm that knows its address."""
    return replace(settings, studio_url=FARM)


@dataclass
class Mailbox:
    """What a mail server has received."""

    mails: list[EmailMessage] = field(default_factory=list)

    async def handle_DATA(self, server, session, envelope) -> str:
        mail = message_from_bytes(envelope.content, policy=policy.default)
        assert isinstance(mail, EmailMessage)
        self.mails.append(mail)
        return "250 queued"

    def links(self) -> list[str]:
        texts = [mail.get_body().get_content() for mail in self.mails]
        return [text.split()[2].removeprefix(FARM) for text in texts]


@pytest.fixture
def mailed(caller, ports, database, account, worker) -> Iterator[Callable[..., Any]]:
    """Provide a function that has a render mailed by link, and returns the mailbox and the destination."""
    worker.queues = [BATCH]
    mailbox, port = Mailbox(), free_port()
    controller = Controller(mailbox, "127.0.0.1", port, ready_timeout=60)
    controller.start()
    outbound = Outbound(allow_private=True)
    outcomes: list[str] = []
    deliverer = WebhookDeliverer(
        database, outbound, ports.secret_cipher, ports.blobs, public_url=FARM, count=outcomes.append
    )
    thread = threading.Thread(target=deliverer.run)
    thread.start()

    def send(query: str = "", documents: int = 0) -> tuple[Mailbox, str, str]:
        given = {"url": f"smtp+plain://127.0.0.1:{port}", "mail": MAIL}
        asked = DestinationRequest.of_builtins(given)
        kind = check_destination(asked).kind
        asked = asked.replace(secret=ports.secret_cipher.encrypt(""))
        with database.session() as session:
            made = create_destination(session, account.account_id, kind, asked, at=now())
        if documents:
            outbox = Outbox(database)
            batch = finish_batch(
                outbox, ports.blobs, account.account_id, made.id, documents=documents
            )
            wait_until(lambda: len(outcomes) == documents)  # one failed, and there is a manifest
            assert set(outcomes) == {"delivered"}
            return mailbox, made.id, batch
        path = f"/v2/pdf?deliver={made.id}{query}"
        job = caller.post(path, headers=ASYNC, **XML).json["id"]
        wait_until(lambda: outcomes)
        assert outcomes == ["delivered"], caller.get("/v2/deliveries").json
        return mailbox, made.id, job

    yield send
    deliverer.stop()
    thread.join(60)
    controller.stop()


def test_a_link_opens_its_pdf_without_a_key(mailed, app, caller, worker):
    mailbox, destination, _ = mailed()
    [mail], [link] = mailbox.mails, mailbox.links()
    assert list(mail.iter_attachments()) == []
    anyone = app.test_client()
    answer = anyone.get(link)
    assert (answer.status_code, answer.data) == (200, worker.pdf)
    name = f'attachment; filename="invoice {now().date().isoformat()}.pdf"'
    assert answer.headers["Content-Disposition"] == name
    assert answer.headers["Content-Type"] == "application/pdf"
    assert answer.headers["Cache-Control"] == "private, no-store"
    assert answer.headers["Referrer-Policy"] == "no-referrer"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    head = anyone.head(link)
    assert (head.status_code, head.data) == (200, b"")
    assert head.headers["Content-Length"] == str(len(worker.pdf))
    part = anyone.get(link, headers={"Range": "bytes=0-3"})
    assert (part.status_code, part.data) == (206, worker.pdf[:4])
    assert anyone.get(link, headers={"Range": "bytes=999999999-"}).status_code == 416
    assert anyone.post(link).status_code == 405
    assert caller.post(f"/v2/destinations/{destination}/test").status_code == 202
    wait_until(lambda: len(mailbox.mails) == 2)
    [attached] = mailbox.mails[1].iter_attachments()  # a test has a file, not a link
    assert attached.get_filename() == "pressroom-test.txt"


def test_each_document_of_a_batch_has_a_link_of_its_own(mailed, app, database):
    mailbox, _, batch = mailed(documents=4)
    *mails, manifest = mailbox.mails
    assert [part.get_filename() for part in manifest.iter_attachments()] == [f"{batch}.ndjson"]
    links = [mail.get_body().get_content().split()[2].removeprefix(FARM) for mail in mails]
    anyone = app.test_client()
    found = [anyone.get(link).data for link in links]
    assert sorted(found) == [b"%PDF 0", b"%PDF 2", b"%PDF 3"]
    beyond = anyone.get(links[0], headers={"Range": "bytes=2-99"})  # other documents are beside it
    assert (beyond.status_code, beyond.data) == (206, found[0][2:])
    with database.session() as session:
        session.execute(update(batches).values(expires_at=now()))
    assert [anyone.get(link).status_code for link in links] == [410] * 3


def test_a_link_that_was_changed_is_404(mailed, app, ports):
    [link] = mailed()[0].links()
    anyone = app.test_client()
    token = link.removeprefix("/links/")
    delivery = read_link(ports.secret_cipher, token)[0]
    wrong = [
        f"{token[:20]}{'A' if token[20] != 'A' else 'B'}{token[21:]}",
        f"{token[:60]}{'A' if token[60] != 'A' else 'B'}{token[61:]}",
        token[:-6] + ("AAAA" if token[-6:-2] != "AAAA" else "BBBB") + token[-2:],
        token[:100],
        "ä" * 140,
        "x",
        write_link(SecretCipher([new_key()]), delivery, now() + timedelta(hours=1)),
        ports.secret_cipher.encrypt("whsec_a secret of a webhook"),
    ]
    for token in wrong:
        answer = anyone.get(f"/links/{token}")
        assert (answer.status_code, answer.json["message"]) == (404, "This link is not known here.")
    assert anyone.get(link).status_code == 200


def test_a_link_ends(mailed, app, ports, database):
    [link] = mailed()[0].links()
    delivery = read_link(ports.secret_cipher, link.removeprefix("/links/"))[0]
    anyone = app.test_client()
    past = write_link(ports.secret_cipher, delivery, now() - timedelta(seconds=1))
    ended = anyone.get(f"/links/{past}")
    assert ended.status_code == 410
    assert "has ended" in ended.json["message"]
    unknown = write_link(ports.secret_cipher, "msg_unknown", now() + timedelta(hours=1))
    assert anyone.get(f"/links/{unknown}").status_code == 410


def test_who_reads_by_a_link_is_in_the_log_where_reads_are(mailed, ports, database):
    [link] = mailed()[0].links()
    delivery = read_link(ports.secret_cipher, link.removeprefix("/links/"))[0]
    anyone = create_app(with_settings(ports, audit_reads=True)).test_client()
    assert anyone.get(link).status_code == 200
    with database.snapshot() as session:
        entry = list(audit.read_all(session))[-1]
    assert (entry["actor"], entry["action"], entry["subject"]) == ("link", "file.read", delivery)


def test_a_link_does_not_outlive_its_result(mailed, app, database, ports):
    with database.session() as session:
        session.execute(update(accounts).values(result_hours=2))
    mailbox, _, job = mailed()
    [link] = mailbox.links()
    found = read_link(ports.secret_cipher, link.removeprefix("/links/"))
    assert found is not None
    with database.snapshot() as session:
        kept_until = session.scalar(jobs.select().with_only_columns(jobs.c.expires_at))
    assert timedelta() <= kept_until - found[1] < timedelta(seconds=1)
    assert f"ends at {found[1]:%Y-%m-%d %H:%M} UTC" in mailbox.mails[0].get_body().get_content()
    with database.session() as session:
        session.execute(update(jobs).where(jobs.c.id == job).values(expires_at=now()))
    assert app.test_client().get(link).status_code == 410


@pytest.mark.parametrize("what", ["job", "subject", "destination", "delivery", "account", "off"])
def test_a_link_to_what_is_deleted_is_410(mailed, app, caller, database, account, what):
    mailbox, destination, job = mailed("&subject=customer-47")
    [link] = mailbox.links()
    assert app.test_client().get(link).status_code == 200
    if what == "job":
        assert caller.delete(f"/v2/jobs/{job}").status_code in (200, 204)
    elif what == "subject":
        assert caller.delete("/v2/subjects?key=customer-47").status_code == 200
    elif what == "destination":
        assert caller.delete(f"/v2/destinations/{destination}").status_code == 204
    else:
        with database.session() as session:
            if what == "delivery":
                session.execute(webhook_deliveries.delete())
            else:
                session.execute(update(accounts).values(is_disabled=True))
        if what == "account":
            with database.session() as session:
                delete_account(session, account.account_id)
    assert app.test_client().get(link).status_code == 410


def test_a_link_stays_while_its_key_is_configured(mailed, ports):
    [link] = mailed()[0].links()
    token = link.removeprefix("/links/")
    keys = ports.secret_cipher
    old, new = new_key(), new_key()
    former = write_link(SecretCipher([old]), "msg_a", now())
    assert read_link(SecretCipher([new, old]), former) is not None
    assert read_link(SecretCipher([new]), former) is None
    assert read_link(SecretCipher([old, new]), write_link(SecretCipher([new]), "msg_a", now()))
    assert read_link(keys, token) is not None


def test_a_link_has_a_rate_of_its_own(mailed, app, caller):
    [link] = mailed()[0].links()
    anyone = app.test_client()
    codes = [anyone.head(link).status_code for _ in range(150)]  # two windows may meet
    assert 429 in codes
    assert anyone.get(link).headers["Retry-After"] == "60"
    assert caller.get("/v2/jobs").status_code == 200


def test_a_mail_with_a_link_names_it(caller):
    given = {"url": "smtp://93.184.216.34", "mail": MAIL}
    assert caller.post("/v2/destinations", json=given).status_code == 201
    for change, told in (
        ({"text": "none"}, "mail.text must contain {link}"),
        ({"subject": "{link}"}, "in mail.subject {…} is one of"),
        ({"link_hours": None}, "in mail.text {…} is one of"),
        ({"link_hours": 145}, "link_hours"),
        ({"link_hours": 0}, "link_hours"),
    ):
        answer = caller.post("/v2/destinations", json=given | {"mail": MAIL | change})
        assert answer.status_code == 400, answer.json
        assert told in answer.json["message"]


class TestWithoutAnAddress:
    """A farm that does not know its address makes no links."""

    @pytest.fixture
    def settings(self, settings):
        return replace(settings, studio_url="")

    def test_links_are_refused(self, caller):
        given = {"url": "smtp://93.184.216.34", "mail": MAIL}
        answer = caller.post("/v2/destinations", json=given)
        assert answer.status_code == 409
        assert "PRESSROOM_STUDIO_URL" in answer.json["message"]
