"""Results reach destinations on real servers: S3, SFTP and HTTPS; nothing is lost when a process dies."""

from __future__ import annotations

import io
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from lxml import etree
from sqlalchemy import insert

from deploy.embedded.loopback import free_port
from shared.batches.records import BatchOutput, BatchStatus
from shared.batches.repository import read_batch
from shared.clock import now
from shared.db.tables import batch_items, batch_parts, batches
from shared.outbound import Outbound, connections
from shared.webhooks import destinations
from shared.webhooks import repository as webhooks
from shared.webhooks.destinations import Destination, DestinationRequest, FileSource
from shared.webhooks.repository import DeliveryStatus
from shared.webhooks.uploads import check_destination
from tests.bench.feeding import make_batch
from tests.certificates import write_certificate
from tests.golden.case import OPTIONS
from tests.s3 import _running, rclone_binary
from tests.waiting import wait_until
from tests.webhooks.conftest import CIPHER
from workers.engine.pipeline import render
from workers.engine.ports import Payload, PayloadKind

pytestmark = pytest.mark.services
ROOT = Path(__file__).parents[2]
PDF = b"%PDF-1.7 of a job"
MAIL = {"sender": "a@example.org", "recipient": "b@example.org", "subject": "", "text": ""}


@dataclass
class Place:
    """A server, the destination that leads to it, and what it has received, by name, and by which keys."""

    kind: str
    fields: dict[str, Any]
    folder: Path | None = None
    received: dict[str, list[bytes]] = field(default_factory=dict)
    keys: dict[str, set[str]] = field(default_factory=dict)

    def files(self) -> dict[str, bytes]:
        if self.folder is None:
            return {name: bodies[-1] for name, bodies in self.received.items()}
        found = {}
        for path in self.folder.rglob("[!.]*"):
            # A repeated upload removes the file that it replaces.
            with suppress(FileNotFoundError, IsADirectoryError):
                found[str(path.relative_to(self.folder))] = path.read_bytes()
        return found


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    file = tmp_path_factory.mktemp("certificate") / "place.pem"
    return write_certificate(file, valid_for=x509.IPAddress(IPv4Address("127.0.0.1")))


@pytest.fixture(scope="module")
def trusted(certificate) -> Iterator[ssl.SSLContext]:
    """Trust the certificate, and return the context of servers that have it."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SSL_CERT_FILE", str(certificate))
        connections.tls_context.cache_clear()
        yield context
    connections.tls_context.cache_clear()


@pytest.fixture(scope="module")
def host_key(tmp_path_factory) -> tuple[Path, str]:
    key = Ed25519PrivateKey.generate()
    file = tmp_path_factory.mktemp("sftp") / "host"
    formats = serialization.PrivateFormat.OpenSSH, serialization.NoEncryption()
    file.write_bytes(key.private_bytes(serialization.Encoding.PEM, *formats))
    file.chmod(0o600)
    public = key.public_key().public_bytes(
        serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH
    )
    return file, public.decode()


@contextmanager
def s3_place(folder, **_) -> Iterator[Place]:
    port = free_port()
    # Uploads at the same time that each make the folder are refused by rclone with 500.
    (folder / "letters/in").mkdir(parents=True)
    command = [rclone_binary(), "serve", "s3", str(folder), "--addr", f"127.0.0.1:{port}"]
    with _running([*command, "--auth-key", "ada,a secret/with+signs"], port):
        url = f"s3+http://ada@127.0.0.1:{port}/letters/in"
        fields = {"url": url, "secret": "a secret/with+signs"}
        yield Place("s3", fields, folder / "letters/in")


@contextmanager
def sftp_place(folder, *, host_key, **_) -> Iterator[Place]:
    port = free_port()
    folder.mkdir()
    file, public = host_key
    command = [rclone_binary(), "serve", "sftp", str(folder), "--addr", f"127.0.0.1:{port}"]
    with _running([*command, "--user", "ada", "--pass", "secret", "--key", str(file)], port):
        url = f"sftp://ada@127.0.0.1:{port}/in"
        yield Place("sftp", {"url": url, "secret": "secret", "host_key": public}, folder / "in")


@contextmanager
def https_place(_, *, trusted, draw=lambda *_: None, **__) -> Iterator[Place]:
    """Run a server of which `draw` decides, given the kinds of failures, how it fails an attempt."""
    place = Place("https", {"secret": "Bearer secret"})

    class Handler(BaseHTTPRequestHandler):
        def do_PUT(self) -> None:
            size = int(self.headers["Content-Length"])
            body = self.rfile.read(size)
            assert self.headers["Authorization"] == "Bearer secret"
            failure = draw("500", "503", "no answer", "late answer") if len(body) == size else "500"
            if failure not in ("500", "503"):
                name = self.path.removeprefix("/in/")
                place.received.setdefault(name, []).append(body)
                place.keys.setdefault(name, set()).add(self.headers["Idempotency-Key"])
            if failure == "no answer":
                return
            if failure == "late answer":
                self.rfile.read(1)  # until the client gives up
                return
            self.send_response(int(failure or 201))
            if failure == "503":
                self.send_header("Retry-After", "1")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.socket = trusted.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    place.fields["url"] = f"https://127.0.0.1:{server.server_port}/in/"
    yield place
    server.shutdown()
    server.server_close()


PLACES = {"s3": s3_place, "sftp": sftp_place, "https": https_place}


@pytest.fixture(params=PLACES)
def place(request, tmp_path, host_key, trusted) -> Iterator[Place]:
    with PLACES[request.param](tmp_path / "place", host_key=host_key, trusted=trusted) as place:
        yield place


@pytest.fixture
def sftp(tmp_path, host_key) -> Iterator[Place]:
    with sftp_place(tmp_path / "place", host_key=host_key) as place:
        yield place


def add_destination(outbox, account, fields) -> str:
    settings = DestinationRequest.of_builtins(fields)
    address = check_destination(settings)
    settings = settings.replace(secret=CIPHER.encrypt(settings.secret))
    with outbox.database.session() as session:
        made = destinations.create_destination(session, account, address.kind, settings, at=now())
    return made.id


def order(outbox, blobs, account, destination, job="job_1", data=PDF, send_at=None) -> None:
    blobs.put(f"jobs/{job}/pdf", io.BytesIO(data), len(data))
    with outbox.database.session() as session:
        file = FileSource(key=f"jobs/{job}/pdf", size=len(data))
        destinations.enqueue_result(
            session, destination, file, job_id=job, send_at=send_at, at=now()
        )


def finish_batch(outbox, blobs, account, destination, *, documents, padding=0) -> str:
    """Record a batch that has ended, whose second document failed, and order its delivery."""
    batch = make_batch(account, now()).replace(
        total=documents, output=BatchOutput.FILES, status=BatchStatus.FINISHED
    )
    texts = [f"%PDF {index}".encode() + bytes(padding) for index in range(documents)]
    blobs.put(f"batches/{batch.id}/parts/0", io.BytesIO(b"".join(texts)), sum(map(len, texts)))
    with outbox.database.session() as session:
        session.execute(insert(batches).values(batch.to_builtins() | {"charset": None}))
        part = {"batch_id": batch.id, "first_index": 0, "count": documents, "created_at": now()}
        key = f"batches/{batch.id}/parts/0"
        session.execute(insert(batch_parts).values(**part, blob_key=key, bytes=1))
        at = 0
        for index, text in enumerate(texts):
            place = {"offset": at, "length": len(text), "crc32": 0, "part_first_index": 0}
            row: dict[str, Any] = {"batch_id": batch.id, "index": index, "status": "succeeded"}
            if index == 1:
                row |= {"status": "failed", "error": {"message": "no such field"}}
            session.execute(insert(batch_items).values(**row, **({} if index == 1 else place)))
            at += len(text)
        file = FileSource("application/x-ndjson", batch_id=batch.id, after=-1)
        destinations.enqueue_result(session, destination, file, at=now())
    return read_batch(batch.to_builtins()).id


def render_golden(case: str) -> bytes:
    source = (ROOT / f"tests/golden/cases/{case}.xml").read_bytes()
    return render(None, Payload(PayloadKind.XML, source), options=OPTIONS).pdf


def statuses(outbox, account) -> list[str]:
    with outbox.database.snapshot() as session:
        found, _ = webhooks.list_deliveries(session, account_id=account, limit=1000)
    return [each.status.value for each in found]


def test_a_pdf_arrives_whole_under_its_name(place, outbox, deliver, blobs) -> None:
    account = outbox.add_account()
    destination = add_destination(outbox, account, {**place.fields, "name": "{date}/{job}"})
    data = PDF + bytes(3_000_000)
    order(outbox, blobs, account, destination, data=data)
    outcomes = deliver()
    wait_until(lambda: outcomes)
    [entry] = outbox.read(destination)
    assert entry.status is DeliveryStatus.DELIVERED, entry
    assert place.files() == {f"{now().date().isoformat()}/job_1.pdf": data}
    assert (entry.kind, entry.source_id) == (place.kind, "job_1")


def test_an_invoice_arrives_in_its_envelope_for_peppol(sftp, outbox, deliver, blobs) -> None:
    account = outbox.add_account()
    destination = add_destination(outbox, account, {**sftp.fields, "file": "peppol"})
    order(outbox, blobs, account, destination, data=render_golden("einvoice-ubl"))
    order(outbox, blobs, account, destination, job="job_2", data=render_golden("einvoice"))
    order(outbox, blobs, account, destination, job="job_3")
    order(outbox, blobs, account, destination, job="job_4", data=PDF + bytes(20 * 1024 * 1024))
    deliver()
    wait_until(lambda: sorted(statuses(outbox, account)) == ["delivered"] + 3 * ["failed"])
    assert {entry.attempts[0].error for entry in outbox.read(destination) if entry.attempts[0].error} == {
        'there is no invoice for Peppol: its invoice is not UBL: write it with syntax="ubl" or profile="peppol"',
        "there is no invoice for Peppol: the PDF is damaged and cannot be read",
        "there is no invoice for Peppol: the PDF has more than 20,971,520 bytes",
    }  # fmt: skip
    [(name, content)] = sftp.files().items()
    assert name == "job_1.xml"
    header, invoice = etree.fromstring(content)
    parties = header.xpath("*[local-name()='Sender' or local-name()='Receiver']/*/text()")
    assert parties == ["0208:0123456749", "9957:FR12345678901"]
    scopes = header.xpath("*[local-name()='BusinessScope']/*/*/text()")
    assert scopes == [
        "DOCUMENTID",
        (
            "urn:oasis:names:specification:ubl:schema:xsd:CreditNote-2::CreditNote##urn:cen.eu:en16931:2017"
            "#compliant#urn:fdc:peppol.eu:2017:poacc:billing:3.0::2.1"
        ),
        "busdox-docid-qns",
        "PROCESSID",
        "urn:fdc:peppol.eu:2017:poacc:billing:01:1.0",
        "cenbii-procid-ubl",
        "COUNTRY_C1",
        "BE",
    ]
    assert etree.QName(invoice).localname == "CreditNote"


def test_nothing_is_sent_before_its_moment_whichever_process_sends(
    sftp, outbox, blobs, start_process
) -> None:
    account = outbox.add_account()
    destination = add_destination(outbox, account, sftp.fields)
    send_at = now() + timedelta(seconds=8)
    order(outbox, blobs, account, destination, job="job_later", send_at=send_at)
    order(outbox, blobs, account, destination, job="job_now")
    first = start_process()
    wait_until(sftp.files)
    seen_at, files = now(), sftp.files()
    first.kill()
    first.wait()
    assert files == {"job_now.pdf": PDF} or seen_at >= send_at
    start_process()
    wait_until(lambda: statuses(outbox, account) == ["delivered"] * 2)
    assert sftp.files() == {"job_now.pdf": PDF, "job_later.pdf": PDF}
    later = max(outbox.read(destination), key=lambda entry: entry.created_at)
    assert (later.created_at, later.attempts[0].at >= send_at) == (send_at, True)


def test_a_batch_arrives_with_its_manifest_last(place, outbox, deliver, blobs) -> None:
    account = outbox.add_account()
    destination = add_destination(outbox, account, place.fields)
    batch = finish_batch(outbox, blobs, account, destination, documents=4)
    outcomes = deliver()
    wait_until(lambda: outcomes.count("delivered") == 4)
    files = place.files()
    manifest = files.pop(f"{batch}.ndjson").decode().splitlines()
    assert sorted(files.values()) == [b"%PDF 0", b"%PDF 2", b"%PDF 3"]
    assert [line.count('"file":"') for line in manifest] == [1, 0, 1, 1]
    assert '"error":"no such field"' in manifest[1]
    if place.folder is None:
        assert [len(bodies) for bodies in place.received.values()] == [1] * 4
        assert list(place.received)[-1] == f"{batch}.ndjson"


def test_a_test_file_shows_whether_a_destination_works(place, outbox, deliver) -> None:
    account = outbox.add_account()
    wrong = {"secret": "wrong"} if place.kind != "https" else {"url": "https://127.0.0.1:9/"}
    for fields in ({}, wrong):
        destination = add_destination(outbox, account, place.fields | fields)
        with outbox.database.session() as session:
            webhooks.enqueue_test(session, Destination, account, destination, at=now())
    outcomes = deliver()
    wait_until(lambda: len(outcomes) == 2)
    assert sorted(outcomes) == ["delivered", "failed"]
    assert list(place.files()) == ["pressroom-test.txt"]
    assert sorted(statuses(outbox, account)) == ["delivered", "failed"]


def test_another_host_key_is_refused_before_the_password(sftp, outbox, deliver) -> None:
    account = outbox.add_account()
    other = Ed25519PrivateKey.generate().public_key()
    openssh = serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH
    key = other.public_bytes(*openssh).decode()
    destination = add_destination(outbox, account, sftp.fields | {"host_key": key})
    with outbox.database.session() as session:
        webhooks.enqueue_test(session, Destination, account, destination, at=now())
    outcomes = deliver()
    wait_until(lambda: outcomes)
    [entry] = outbox.read(destination)
    assert f"another host key: {sftp.fields['host_key']}" in entry.attempts[0].error


def test_private_addresses_are_refused_unless_allowed(place, outbox, deliver) -> None:
    account = outbox.add_account()
    destination = add_destination(outbox, account, place.fields)
    with outbox.database.session() as session:
        webhooks.enqueue_test(session, Destination, account, destination, at=now())
    outcomes = deliver(Outbound())
    wait_until(lambda: outcomes)
    [entry] = outbox.read(destination)
    assert "public internet" in entry.attempts[0].error
    assert place.files() == {}


def test_what_failed_is_delivered_again_on_request(sftp, outbox, deliver, blobs) -> None:
    account = outbox.add_account()
    destination = add_destination(outbox, account, sftp.fields)
    order(outbox, blobs, account, destination)
    blobs.delete("jobs/job_1/pdf")
    outcomes = deliver()
    wait_until(lambda: outcomes == ["failed"])
    [entry] = outbox.read(destination)
    assert (entry.status, entry.error) == ("failed", "the file was deleted")
    blobs.put("jobs/job_1/pdf", io.BytesIO(PDF), len(PDF))
    with outbox.database.session() as session:
        webhooks.redeliver(session, account, entry.id, at=now())
    wait_until(lambda: outcomes == ["failed", "delivered"])
    assert sftp.files() == {"job_1.pdf": PDF}


def test_a_killed_process_loses_and_doubles_nothing(sftp, outbox, blobs, start_process) -> None:
    account = outbox.add_account()
    destination = add_destination(outbox, account, sftp.fields)
    batch = finish_batch(outbox, blobs, account, destination, documents=40)
    for kills in range(4):
        process = start_process()
        wanted = 40 if kills == 3 else len(sftp.files()) + 5
        wait_until(lambda wanted=wanted: len(sftp.files()) >= wanted)
        process.kill()
        process.wait()
    files = sftp.files()
    job = batch.replace("batch_", "job_")
    assert files.keys() == {f"{job}-{index}.pdf" for index in range(40) if index != 1} | {
        f"{batch}.ndjson"
    }
    assert all(
        files[f"{job}-{index}.pdf"] == f"%PDF {index}".encode() for index in range(40) if index != 1
    )


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"url": "ftp://host/"}, "begin with one of s3"),
        ({"url": "sftp://ada:pw@host/"}, "belongs into the field secret"),
        ({"url": "s3://host/bucket", "secret": "x"}, "must have a user"),
        ({"url": "s3://ada@host", "secret": "x"}, "must have a bucket"),
        ({"url": "https://ada@host/"}, "must have no user"),
        ({"url": "sftp://ada@host/", "secret": "x"}, "host_key is required"),
        ({"url": "https://host/", "name": "{index}"}, "replace each other"),
        ({"url": "https://host/", "name": "{job}{year}"}, "is one of batch"),
        ({"url": "smtp://host", "mail": MAIL, "file": "peppol"}, "file is pdf"),
    ],
)
def test_a_wrong_field_is_named(fields, told) -> None:
    with pytest.raises(webhooks.ServiceError) as refused:
        check_destination(DestinationRequest.of_builtins(fields))
    assert refused.value.body.status == 400
    assert told in str(refused.value)
