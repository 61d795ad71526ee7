"""Results are mailed to the recipients that stand in their records, by a real mail server; refusals are told."""

from __future__ import annotations

import ssl
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage
from ipaddress import IPv4Address
from typing import Any

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult
from cryptography import x509
from sqlalchemy import update

from deploy.embedded.loopback import free_port
from shared.clock import now
from shared.db.tables import batch_items, webhook_deliveries
from shared.outbound import Outbound, connections
from shared.webhooks import repository as webhooks
from shared.webhooks.destinations import Destination, DestinationRequest, FileSource
from shared.webhooks.mails import write_html
from shared.webhooks.uploads import check_destination
from tests.certificates import write_certificate
from tests.waiting import wait_until
from tests.webhooks.test_destinations import PDF, add_destination, finish_batch, order, statuses

MAIL = {
    "sender": "Büro Ada <billing@example.org>",
    "recipient": "{record.customer.email}",
    "subject": "Invoice {record.number}",
    "text": "Dear {record.customer.name},\ninvoice {record.number} is attached.",
    "attachment": "invoice {record.number}",
}
RECORD = {"customer.email": "bo@example.com", "customer.name": "Bo Ångström", "number": 7}


@dataclass
class Handler:
    """What a mail server has received, and its replies to recipients, the first one first."""

    replies: list[str] = field(default_factory=list)
    envelopes: list[Any] = field(default_factory=list)
    users: list[bytes] = field(default_factory=list)
    is_secure: list[bool] = field(default_factory=list)

    async def handle_RCPT(self, server, session, envelope, address, options) -> str:
        if self.replies and (reply := self.replies.pop(0)) != "250":
            return reply
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope) -> str:
        self.is_secure.append(server.transport.get_extra_info("sslcontext") is not None)
        self.envelopes.append(envelope)
        return "250 queued"

    def authenticate(self, server, session, envelope, mechanism, data) -> AuthResult:
        self.users.append(data.login)
        return AuthResult(success=data.password == b"a secret", handled=False)

    @property
    def mails(self) -> list[EmailMessage]:
        return [message_from_bytes(each.content, policy=policy.default) for each in self.envelopes]


@pytest.fixture(scope="module")
def trusted(tmp_path_factory) -> Iterator[ssl.SSLContext]:
    """Trust a certificate, and return the context of servers that have it."""
    file = tmp_path_factory.mktemp("certificate") / "mail.pem"
    write_certificate(file, valid_for=x509.IPAddress(IPv4Address("127.0.0.1")))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SSL_CERT_FILE", str(file))
        connections.tls_context.cache_clear()
        yield context
    connections.tls_context.cache_clear()


@pytest.fixture
def serve() -> Iterator[Callable[..., tuple[Handler, int]]]:
    """Provide a function that starts a mail server and returns its handler and port."""
    started: list[Controller] = []

    def start(*replies: str, **options: Any) -> tuple[Handler, int]:
        handler, port = Handler(list(replies)), free_port()
        controller = Controller(
            handler,
            "127.0.0.1",
            port,
            ready_timeout=60,
            authenticator=handler.authenticate,
            auth_require_tls="tls_context" in options,
            **options,
        )
        controller.start()
        started.append(controller)
        return handler, port

    yield start
    for controller in started:
        controller.stop()


def add(outbox, port, *, scheme="smtp+plain", user="", secret="", **mail) -> tuple[str, str]:
    account = outbox.add_account()
    url = f"{scheme}://{user}127.0.0.1:{port}"
    fields = {"url": url, "secret": secret, "mail": MAIL | mail}
    return account, add_destination(outbox, account, fields)


def order_mail(outbox, blobs, account, destination, record=RECORD, data=PDF) -> None:
    order(outbox, blobs, account, destination, data=data)
    with outbox.database.session() as session:
        [(payload,)] = session.execute(
            webhook_deliveries.select().with_only_columns(webhook_deliveries.c.payload)
        )
        source = FileSource.decode(payload)
        found = {f"record.{path}": value for path, value in record.items()}
        payload = source.replace(values={**(source.values or {}), **found}).encode()
        session.execute(update(webhook_deliveries).values(payload=payload))


@pytest.mark.parametrize("scheme", ["smtp", "smtps", "smtp+plain"])
def test_a_pdf_is_mailed_to_the_recipient_of_its_record(
    outbox, blobs, deliver, serve, trusted, scheme
) -> None:
    tls = {"smtp": {"tls_context": trusted, "require_starttls": True}}
    server, port = serve(**tls.get(scheme, {"ssl_context": trusted} if scheme == "smtps" else {}))
    user = "billing%40example.org@" if scheme == "smtp" else ""
    account, destination = add(outbox, port, scheme=scheme, user=user, secret="a secret")
    data = PDF + bytes(2_000_000)
    order_mail(outbox, blobs, account, destination, data=data)
    outcomes = deliver()
    wait_until(lambda: outcomes)
    [entry] = outbox.read(destination)
    assert (entry.kind, entry.status, entry.attempts[0].status) == ("smtp", "delivered", 250)
    [envelope], [mail] = server.envelopes, server.mails
    assert (envelope.mail_from, envelope.rcpt_tos) == ("billing@example.org", ["bo@example.com"])
    assert mail["from"] == MAIL["sender"]
    assert (mail["to"], mail["subject"]) == ("bo@example.com", "Invoice 7")
    assert mail["message-id"] == f"<{entry.id}@example.org>"
    text = mail.get_body().get_content()
    assert text.splitlines() == ["Dear Bo Ångström,", "invoice 7 is attached."]
    [attached] = mail.iter_attachments()
    assert (attached.get_content_type(), attached.get_filename()) == (
        "application/pdf",
        "invoice 7.pdf",
    )
    assert attached.get_content() == data
    assert server.users == ([b"billing@example.org"] if user else [])
    assert server.is_secure == [scheme != "smtp+plain"]


def test_what_is_refused_for_now_is_retried_as_the_same_mail(outbox, blobs, deliver, serve) -> None:
    server, port = serve("451 4.7.1 greylisted, come again")
    account, destination = add(outbox, port)
    order_mail(outbox, blobs, account, destination)
    outcomes = deliver()
    wait_until(lambda: outcomes == ["retried"])
    [entry] = outbox.read(destination)
    assert (entry.status, entry.attempts[0].status) == ("pending", 451)
    assert entry.attempts[0].error == "4.7.1 greylisted, come again"
    with outbox.database.session() as session:
        session.execute(update(webhook_deliveries).values(next_attempt_at=now()))
    wait_until(lambda: outcomes == ["retried", "delivered"])
    with outbox.database.session() as session:
        webhooks.redeliver(session, account, entry.id, at=now())
    wait_until(lambda: len(outcomes) == 3)
    assert {mail["message-id"] for mail in server.mails} == {f"<{entry.id}@example.org>"}


@pytest.mark.parametrize(
    ("reply", "record", "status", "told"),
    [
        ("550 5.1.1 no such mailbox", {}, 550, "5.1.1 no such mailbox"),
        ("250", {"customer.email": None}, None, "no value for {record.customer.email}"),
        ("250", {"customer.email": ""}, None, "no value for {record.customer.email}"),
        ("250", {"number": None}, None, "no value for {record.number}"),
        ("250", {"customer.email": "bo"}, None, "'bo' is not accepted as an address"),
        ("250", {"customer.email": "a@x.org, b@x.org"}, None, "is not accepted as an address"),
        ("250", {"customer.email": "a@x.org\r\nBcc: b@x.org"}, None, "is not accepted"),
        ("250", {"customer.email": f"a@{'x' * 60}.{'y' * 60}.{'z' * 60}.{'w' * 20}"}, None, "199"),
    ],
)  # fmt: skip
def test_what_is_refused_for_good_is_not_retried(
    outbox, blobs, deliver, serve, reply, record, status, told
) -> None:
    server, port = serve(reply)
    account, destination = add(outbox, port)
    order_mail(outbox, blobs, account, destination, RECORD | record)
    outcomes = deliver()
    wait_until(lambda: outcomes)
    [entry] = outbox.read(destination)
    assert (entry.status, entry.attempts[0].status, len(entry.attempts)) == ("failed", status, 1)
    assert told in entry.error
    assert server.envelopes == []


def test_values_of_a_record_add_no_header(outbox, blobs, deliver, serve) -> None:
    server, port = serve()
    account, destination = add(outbox, port, attachment="{record.number}")
    number = "7\r\nBcc: eve@example.com\r\n\r\n.\r\nMAIL FROM:<eve@example.com>/../x\u2028\x00"
    order_mail(outbox, blobs, account, destination, RECORD | {"number": number})
    outcomes = deliver()
    wait_until(lambda: outcomes)
    assert outcomes == ["delivered"], outbox.read(destination)
    [envelope], [mail] = server.envelopes, server.mails
    assert envelope.rcpt_tos == ["bo@example.com"]
    assert mail["bcc"] is None
    assert mail["subject"].startswith("Invoice 7 Bcc: eve@example.com")
    [attached] = mail.iter_attachments()
    assert "/" not in attached.get_filename()
    assert attached.get_content() == PDF


def test_markdown_is_mailed_as_text_and_as_html(outbox, blobs, deliver, serve) -> None:
    server, port = serve()
    text = "# Invoice {record.number}\n\nDear {record.customer.name},\n\n- [Pay]({record.url}) <b>"
    account, destination = add(outbox, port, text=text, markdown=True)
    name, url = "*Bo* <script> [x](https://evil.example) &", "javascript:alert(1)"
    order_mail(outbox, blobs, account, destination, RECORD | {"customer.name": name, "url": url})
    outcomes = deliver()
    wait_until(lambda: outcomes)
    assert outcomes == ["delivered"], outbox.read(destination)
    [mail] = server.mails
    assert mail.get_content_type() == "multipart/mixed"
    assert next(mail.iter_parts()).get_content_type() == "multipart/alternative"
    plain, shown = (mail.get_body((kind,)).get_content() for kind in ("plain", "html"))
    assert plain.splitlines()[::2][:2] == ["# Invoice 7", f"Dear {name},"]
    assert shown.splitlines()[0] == "<h1>Invoice 7</h1>"
    assert "Dear *Bo* &lt;script&gt; [x](https://evil.example) &amp;," in shown
    assert '<li><a href="#harmful-link">Pay</a> &lt;b&gt;</li>' in shown
    [attached] = mail.iter_attachments()
    assert attached.get_content() == PDF


@pytest.mark.parametrize(
    ("pattern", "shown"),
    [
        ("[Open]({link})", '<p><a href="https://f.example.org/links/a">Open</a></p>'),
        ("[Open](mailto:{mail})", '<p><a href="mailto:a@example.org">Open</a></p>'),
        ("[Open]({script}:{mail})", '<p><a href="#harmful-link">Open</a></p>'),
        ('[Open]({link} "{tag}")', 'title="&quot;&gt;&lt;b&gt;"'),
        ("`{tag}` {tag}", "<p><code>&quot;&gt;&lt;b&gt;</code> &quot;&gt;&lt;b&gt;</p>"),
        ("<a href='{link}'>", "<p>&lt;a href='https://f.example.org/links/a'&gt;</p>"),
    ],
)
def test_values_in_markdown_are_text(pattern, shown) -> None:
    values = {
        "link": "https://f.example.org/links/a",
        "mail": "a@example.org",
        "script": " javascript",
        "tag": '"><b>',
    }
    assert shown in write_html(pattern, values)


def test_without_tls_nothing_is_sent(outbox, blobs, deliver, serve) -> None:
    server, port = serve()
    account, destination = add(outbox, port, scheme="smtp", user="ada@", secret="a secret")
    order_mail(outbox, blobs, account, destination)
    outcomes = deliver()
    wait_until(lambda: outcomes)
    [entry] = outbox.read(destination)
    assert (entry.status, server.envelopes, server.users) == ("pending", [], [])
    assert "STARTTLS" in entry.attempts[0].error


def test_a_certificate_that_is_not_trusted_is_refused(
    outbox, blobs, deliver, serve, trusted, tmp_path
) -> None:
    file = write_certificate(tmp_path / "other.pem", valid_for=x509.DNSName("mail.example.org"))
    other = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    other.load_cert_chain(file)
    server, port = serve(tls_context=other)
    account, destination = add(outbox, port, scheme="smtp", user="ada@", secret="a secret")
    order_mail(outbox, blobs, account, destination)
    outcomes = deliver()
    wait_until(lambda: outcomes)
    [entry] = outbox.read(destination)
    assert (entry.status, server.envelopes, server.users) == ("pending", [], [])
    assert "CERTIFICATE_VERIFY_FAILED" in entry.attempts[0].error


@pytest.mark.parametrize(
    ("way_out", "told"),
    [(None, "535"), (Outbound(), "public internet")],
    ids=["password", "address"],
)
def test_a_wrong_password_and_a_private_address_are_told(
    outbox, deliver, serve, way_out, told
) -> None:
    server, port = serve()
    account, destination = add(outbox, port, user="ada@", secret="wrong")
    with outbox.database.session() as session:
        webhooks.enqueue_test(session, Destination, account, destination, at=now())
    outcomes = deliver(way_out)
    wait_until(lambda: outcomes)
    [entry] = outbox.read(destination)
    assert told in entry.attempts[0].error
    assert server.envelopes == []


def test_a_file_that_is_too_large_for_mail_is_told(outbox, blobs, deliver, serve) -> None:
    server, port = serve()
    account, destination = add(outbox, port)
    order_mail(outbox, blobs, account, destination, data=bytes(10_500_000))
    outcomes = deliver()
    wait_until(lambda: outcomes == ["failed"])
    [entry] = outbox.read(destination)
    assert "the limit of mails" in entry.error
    assert server.envelopes == []


def test_a_test_is_mailed_to_those_who_want_reports(outbox, deliver, serve) -> None:
    server, port = serve()
    account, destination = add(outbox, port, report_to="ops@example.org")
    with outbox.database.session() as session:
        webhooks.enqueue_test(session, Destination, account, destination, at=now())
    outcomes = deliver()
    wait_until(lambda: outcomes)
    assert outcomes == ["delivered"], outbox.read(destination)
    [mail] = server.mails
    assert (mail["to"], mail["subject"]) == ("ops@example.org", "pressroom-test.txt")


def test_each_document_of_a_batch_goes_to_its_own_recipient(outbox, blobs, deliver, serve) -> None:
    server, port = serve("250", "550 no")
    account, destination = add(outbox, port)
    batch = finish_batch(outbox, blobs, account, destination, documents=4)
    with outbox.database.session() as session:
        for index in range(4):
            values = RECORD | {"customer.email": f"{index}@example.com"}
            row = update(batch_items).where(batch_items.c.index == index)
            session.execute(row.values(values=values))
    outcomes = deliver()
    wait_until(lambda: len(outcomes) == 4)
    assert sorted(statuses(outbox, account)) == ["delivered", "delivered", "delivered", "failed"]
    *mails, manifest = server.mails
    pdfs = {"0@example.com": "%PDF 0", "2@example.com": "%PDF 2", "3@example.com": "%PDF 3"}
    for mail in mails:
        [attached] = mail.iter_attachments()
        assert attached.get_content().decode() == pdfs[mail["to"]]
    assert (manifest["to"], manifest["subject"]) == ("billing@example.org", f"{batch}.ndjson")
    [lines] = manifest.iter_attachments()
    assert lines.get_content().count(b'"status":"undelivered"') == 1


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"mail": None}, "mail is required"),
        ({"url": "https://host/"}, "begins with smtp"),
        ({"url": "smtp://ada@host"}, "secret is required"),
        ({"mail": MAIL | {"sender": "Ada"}}, "is not accepted as an address"),
        ({"mail": MAIL | {"report_to": "{record.email}"}}, "is not accepted as an address"),
        ({"mail": MAIL | {"recipient": "ada@"}}, "is not accepted as an address"),
        ({"mail": MAIL | {"subject": "{number}"}}, "in mail.subject {…} is one of batch"),
        ({"mail": MAIL | {"text": "{record.number"}}, "in mail.text {…} is one of batch"),
        ({"mail": MAIL | {"text": "".join(f"{{record.a{n}}}" for n in range(31))}}, "30 values"),
    ],
)
def test_a_wrong_field_of_a_mail_is_named(fields, told) -> None:
    given = {"url": "smtp://host", "mail": MAIL} | fields
    with pytest.raises(webhooks.ServiceError) as refused:
        check_destination(DestinationRequest.of_builtins(given))
    assert refused.value.body.status == 400
    assert told in str(refused.value)
