"""Destinations of an account, and the deliveries of results to them, in the outbox of webhooks."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO, ClassVar, Final

import msgspec
from sqlalchemy import and_, insert, select, update

from shared.batches.plans import IndexFormat, Value
from shared.clock import ticks, timestamp
from shared.db.session import Session
from shared.db.tables import destinations, webhook_deliveries
from shared.identifiers import new_id
from shared.records import Record, ShownRecord, Timestamp, doc
from shared.webhooks import repository
from shared.webhooks.repository import DeliveryStatus, DeliveryTarget, Receiver, WebhookEvent

if TYPE_CHECKING:  # loaded by the process that uploads
    from shared.outbound import Outbound
    from shared.outbound.targets import Target

NAME_PATTERN: Final = r"^([A-Za-z0-9_{-][A-Za-z0-9._{}-]*)(/[A-Za-z0-9_{-][A-Za-z0-9._{}-]*){0,7}$"
PLACEHOLDER: Final = re.compile(r"\{([^{}]*)\}")
_RECORD: Final = re.compile(r"\{record\.([^{}]*)\}")  # of mails: a path into the payload
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9._-]+")
_MAX_VALUE: Final = 100
MAX_LINK_HOURS: Final = 144  # a day of attempts more is how long deliveries are kept
_Line = Annotated[str, msgspec.Meta(max_length=2100, pattern=r"^[^\x00-\x1f\x7f]*$")]


class DestinationKind(StrEnum):
    """The protocol of a destination."""

    S3 = "s3"
    SFTP = "sftp"
    HTTPS = "https"
    SMTP = "smtp"


class FileForm(StrEnum):
    """What a destination has of a PDF."""

    PDF = "pdf"
    PEPPOL = "peppol"

    @property
    def extension(self) -> str:
        """The end of the name of a file of it."""
        return ".pdf" if self is FileForm.PDF else ".xml"


class Mail(ShownRecord, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The mail of a file; in patterns {record.customer.email} is a value of the payload."""

    sender: Annotated[_Line, doc("Address, or Name <address>.", examples=["billing@example.org"])]
    recipient: Annotated[
        _Line,
        doc(
            "Pattern of one address. {record.customer.email} is the value at that path of the payload, here and in "
            "the patterns below; they also have the placeholders of name.",
            examples=["{record.customer.email}"],
        ),
    ]
    subject: Annotated[_Line, doc("Pattern.", examples=["Invoice {record.number}"])]
    text: Annotated[
        Annotated[str, msgspec.Meta(max_length=10_000)],
        doc(
            "Pattern of the plain text. With link_hours it has {link}, and may have {expires}, when that ends.",
            examples=["Invoice {record.number} is attached."],
        ),
    ]
    markdown: Annotated[
        bool, doc("Whether text is Markdown, of which the mail has HTML too: [Open it]({link}).")
    ] = False
    link_hours: Annotated[
        Annotated[int, msgspec.Meta(ge=1, le=MAX_LINK_HOURS)] | None,
        doc(
            "Instead of the PDF the mail has a link to it, which needs no key and ends after so many hours, and with "
            "the PDF itself. Without it the PDF is attached.",
            examples=[72],
        ),
    ] = None
    attachment: Annotated[
        _Line | None,
        doc("Pattern of the attachment's name, without extension; as name by default."),
    ] = None
    report_to: Annotated[
        _Line | None, doc("Address for tests, indexes and manifests; the sender's by default.")
    ] = None

    @property
    def patterns(self) -> Mapping[str, str]:
        """Its patterns by field."""
        names = ("recipient", "subject", "text", "attachment")
        return {name: getattr(self, name) or "" for name in names}


class DestinationRequest(ShownRecord, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A destination as it is asked for; it is stored and shown without its secret."""

    url: Annotated[
        Annotated[str, msgspec.Meta(min_length=1, max_length=2048)],
        doc(
            "s3://access-key@host/bucket/folder?region=…, sftp://user@host/folder (/~/folder: in the home of the user), "
            "https://host/folder, or smtp://user@host with STARTTLS, smtps://user@host. s3+http, and smtp+plain to "
            "private addresses, are without TLS.",
            examples=["https://files.example.org/inbox"],
        ),
    ]
    name: Annotated[
        Annotated[str, msgspec.Meta(max_length=200, pattern=NAME_PATTERN)],
        doc(
            "Pattern of the names of files, with folders; their extension is added. {job}, {batch}, {index}, {date} and "
            "{key} stand for the job, its batch, the index of the document or the number of the file, the day, and "
            "the subject. {job} by default.",
            examples=["{date}/{job}"],
        ),
    ] = "{job}"
    file: Annotated[
        FileForm,
        doc(
            "What is sent of a PDF: itself, or its UBL invoice in Peppol's envelope (Standard Business Document), as "
            "access points take it. A PDF without one is not delivered. Mails have the PDF."
        ),
    ] = FileForm.PDF
    host_key: Annotated[
        _Line | None, doc("SFTP, required: the server's host key, as ssh-keyscan prints it.")
    ] = None
    mail: Annotated[Mail | None, doc("SMTP, required: whom the files go to, and with what.")] = None
    secret: Annotated[
        Annotated[str, msgspec.Meta(max_length=8192)],
        doc(
            "S3: the secret key. SFTP: a password, or a private key in PEM. HTTPS: the value of the header "
            "Authorization. SMTP: the password of the user, if there is one. Stored encrypted, and never shown.",
            writeOnly=True,
        ),
    ] = ""

    @property
    def paths(self) -> tuple[str, ...]:
        """The paths into the payload whose values its mails need."""
        patterns = self.mail.patterns.values() if self.mail else ()
        return tuple(dict.fromkeys(_RECORD.findall("".join(patterns))))


class Destination(Receiver, frozen=True):
    """A destination of an account; its settings have no secret."""

    name: ClassVar = "destination"
    table: ClassVar = destinations
    kind: DestinationKind
    settings: DestinationRequest
    created_at: Annotated[Timestamp, doc("When it was added.")]

    def show(self) -> dict[str, Any]:
        """Return its JSON."""
        named = {"id": self.id, "kind": self.kind.value, "name": self.settings.name}
        return named | self.settings.show() | {"created_at": timestamp(self.created_at)}

    def make_test(self, account_id: str, at: datetime) -> dict[str, Any]:
        """Return the row of a test delivery: a small text file."""
        name = name_last_file(self.settings.name, ".txt", batch="pressroom-test", at=at)
        target = DeliveryTarget(account_id, self.kind, self.id)
        payload = FileSource("text/plain").encode()
        return repository.new_delivery(target, WebhookEvent.FILE_TEST, payload, at=at, name=name)


class FileSource(Record, frozen=True, omit_defaults=True):
    """The file of a delivery: a blob or a part of one, or the text of a test.

    For a batch it is the last of its files, the index or manifest, before which those from `after` on, of a run up to
    `until`, are added to the outbox; None once they are. `values` are those of the placeholders of a mail; None for a
    test, index or manifest.
    """

    media_type: str = "application/pdf"
    key: str | None = None
    offset: int = 0
    size: int = 0
    batch_id: str | None = None
    after: int | None = None
    until: int | None = None
    values: Mapping[str, Value] | None = None


@dataclass(frozen=True, slots=True)
class Address:
    """The parsed URL of a destination. `folder` is its path, after the bucket of S3."""

    kind: DestinationKind
    scheme: str
    target: Target
    user: str
    bucket: str
    folder: str
    region: str


@dataclass(frozen=True, slots=True)
class Upload:
    """A file on its way to a destination, under a name with folders. `id` is the same in each attempt."""

    outbound: Outbound
    address: Address
    settings: DestinationRequest
    id: str
    name: str
    file: BinaryIO
    source: FileSource
    give_up_at: float

    @property
    def seconds_left(self) -> float:
        """The time that is left of the attempt."""
        return max(self.give_up_at - ticks(), 0)


def address_file(
    settings: DestinationRequest, file: FileSource, **about: Any
) -> tuple[str, FileSource]:
    """Return the name of a PDF or a ZIP at a destination, and the file with the values of its mail.

    `file` has those of the payload by path; `about` is that of `name_file`.
    """
    extension = ".zip" if file.media_type == "application/zip" else settings.file.extension
    name = name_file(settings.name, extension, **about)
    if settings.mail is None:
        return name, file.replace(values=None)
    record = {f"record.{path}": value for path, value in (file.values or {}).items()}
    return name, file.replace(values={**find_values(**about), **record})


def find_values(
    *, job: str, at: datetime, batch: str | None = None, **others: Any
) -> dict[str, str]:
    """Return the values of the placeholders of names; `others` are `index` and `key`."""
    return {
        "job": job,
        "batch": batch or job,
        "index": f"{others.get('index', 0):06d}",
        "date": at.date().isoformat(),
        "key": others.get("key") or job,
    }


def name_file(pattern: str, extension: str, **about: Any) -> str:
    """Return the name of a file; see `find_values`. Unsafe characters are replaced by `_`."""
    values = find_values(**about)
    return PLACEHOLDER.sub(lambda found: _make_safe(values[found[1]]), pattern) + extension


def has_own_names(pattern: str) -> bool:
    """Return whether the names of the files of a batch are different."""
    return not {"job", "index"}.isdisjoint(PLACEHOLDER.findall(pattern))


def name_last_file(pattern: str, extension: str, *, batch: str, at: datetime) -> str:
    """Return the name of the index or manifest of a batch, in the folder that its files share."""
    shared: list[str] = []
    for folder in pattern.split("/")[:-1]:
        if not {"job", "index", "key"}.isdisjoint(PLACEHOLDER.findall(folder)):
            break
        shared.append(folder)
    return name_file("/".join([*shared, "{batch}"]), extension, job=batch, at=at)


def _make_safe(value: str) -> str:
    return _UNSAFE.sub("_", value[:_MAX_VALUE]).strip(".") or "_"


def create_destination(
    session: Session,
    account_id: str,
    kind: DestinationKind,
    settings: DestinationRequest,
    *,
    at: datetime,
) -> Destination:
    """Add a destination; its secret is encrypted (`shared.encryption`).

    Raises:
        ServiceError: 409, the account already has 20.
    """
    row = {
        "id": new_id("dest"),
        "account_id": account_id,
        "kind": kind.value,
        "settings": settings.replace(secret="").to_builtins(),
        "secret": settings.secret,
        "created_at": at,
    }
    repository.add_target(session, destinations, row)
    return Destination.of_row(row)


def enqueue_result(
    session: Session,
    destination_id: str,
    file: FileSource,
    *,
    job_id: str = "",
    key: str | None = None,
    send_at: datetime | None = None,
    at: datetime,
) -> None:
    """Insert the delivery of a job's PDF, or of a batch's index or manifest, in the unit of work that ends it.

    The other files of a batch are added by the process that delivers (`add_batch_files`). Nothing is inserted if the
    destination has been deleted. It is not due before `send_at`.
    """
    query = select(destinations).where(destinations.c.id == destination_id)
    row = session.execute(query).mappings().first()
    if row is None:
        return
    found = Destination.of_row(row)
    if file.batch_id is None:
        event = WebhookEvent.JOB_SUCCEEDED
        name, file = address_file(found.settings, file, job=job_id, at=at, key=key)
    else:
        event = WebhookEvent.BATCH_FINISHED
        kind = next(each for each in IndexFormat if each.media_type == file.media_type)
        name = name_last_file(found.settings.name, f".{kind}", batch=file.batch_id, at=at)
    delivery = repository.new_delivery(
        DeliveryTarget(row["account_id"], found.kind, found.id),
        event,
        file.encode(),
        at=max(at, send_at or at),
        source_id=file.batch_id or job_id,
        name=name,
    )
    session.execute(insert(webhook_deliveries).values(**delivery))


def find_paths(session: Session, destination_id: str) -> tuple[str, ...]:
    """Return the paths into the payload that a destination needs the values of; it may have been deleted."""
    query = select(destinations.c.settings).where(destinations.c.id == destination_id)
    settings = session.scalar(query)
    return () if settings is None else DestinationRequest.of_builtins(settings).paths


def add_batch_files(
    session: Session,
    delivery_id: str,
    source: FileSource,
    files: Sequence[tuple[str, FileSource]],
    *,
    after: int | None,
    at: datetime,
) -> None:
    """Insert deliveries of files of a batch, by name, before that of its index; `after` is where to go on.

    Nothing is done if another process has inserted them, or the batch was deleted.
    """
    columns = webhook_deliveries.c
    advanced = session.execute(
        update(webhook_deliveries)
        .where(columns.id == delivery_id, columns.payload == source.encode())
        .where(columns.status == DeliveryStatus.PENDING.value)
        .values(payload=source.replace(after=after).encode(), next_attempt_at=at, leased_until=None)
        .returning(columns.account_id, columns.kind, columns.webhook_id, columns.source_id)
    ).first()
    if advanced is None or not files:
        return
    *target, source_id = advanced
    to, event = DeliveryTarget(*target), WebhookEvent.BATCH_FINISHED
    rows = [
        repository.new_delivery(to, event, file.encode(), at=at, source_id=source_id, name=name)
        for name, file in files
    ]
    session.execute(insert(webhook_deliveries), rows)


def end_deliveries(session: Session, source_id: str) -> None:
    """Mark the pending deliveries of a job's or batch's files as failed: the files are deleted."""
    columns = webhook_deliveries.c
    session.execute(
        update(webhook_deliveries)
        .where(
            columns.source_id == source_id,
            columns.kind != repository.WEBHOOK,
            columns.status == DeliveryStatus.PENDING.value,
        )
        .values(
            status=DeliveryStatus.FAILED.value,
            next_attempt_at=None,
            last_error="the file was deleted",
        )
    )


def find_undelivered(session: Session, source_id: str, *, except_id: str) -> set[str] | None:
    """Return the names of the files of a batch that were not delivered; None while its index has to wait for some.

    A run has an index for each of its decisions, which is sent after those before: they do not wait for each other.
    """
    columns = webhook_deliveries.c
    is_later = and_(columns.payload.contains('"batch_id":'), columns.id > except_id)
    names = select(columns.name).where(
        columns.source_id == source_id,
        columns.kind != repository.WEBHOOK,
        columns.id != except_id,
        ~is_later,
    )
    # Asked every two seconds, with up to 100,000 files left: one of them is enough to wait.
    pending = names.where(columns.status == DeliveryStatus.PENDING.value).limit(1)
    if session.execute(pending).first() is not None:
        return None
    return set(session.scalars(names.where(columns.status == DeliveryStatus.FAILED.value)))
