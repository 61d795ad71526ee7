"""Destinations of an account, and the deliveries of results to them, in the outbox of webhooks."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, Final

import msgspec
from sqlalchemy import delete, func, insert, select, update

from shared.db.session import Session
from shared.db.tables import accounts, destinations, webhook_deliveries
from shared.errors import ServiceError
from shared.identifiers import new_id
from shared.records import Record, ShownRecord, Timestamp, doc
from shared.webhooks.repository import (
    Delivery,
    DeliveryStatus,
    DeliveryTarget,
    WebhookEvent,
    check_not_tested,
    find_delivery,
    new_delivery,
)

if TYPE_CHECKING:  # whoever ends jobs does not load what connects to servers
    from shared.outbound.uploads import Address

MAX_DESTINATIONS: Final = 20  # for each account
MAX_SECRET: Final = 8192
_PEM: Final = "-----BEGIN"  # of a private key
PLACEHOLDERS: Final = ("job", "batch", "index", "date", "key")
NAME_PATTERN: Final = r"^([A-Za-z0-9_{-][A-Za-z0-9._{}-]*)(/[A-Za-z0-9_{-][A-Za-z0-9._{}-]*){0,7}$"
MAIL_PATTERN: Final = r"^[^\s@<>,;:\"\x00-\x1f\x7f-\uffff]{1,64}@[A-Za-z0-9.-]{1,190}$"
_PLACEHOLDER: Final = re.compile(r"\{([^{}]*)\}")
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9._-]+")
_MAX_VALUE: Final = 100
_HOST_KEY: Final = re.compile(r"(ssh-|ecdsa-sha2-)[a-z0-9-]{3,40} [A-Za-z0-9+/]{40,2000}={0,2}\Z")


class DestinationKind(StrEnum):
    """The protocol of a destination."""

    S3 = "s3"
    SFTP = "sftp"
    HTTPS = "https"
    SMTP = "smtp"


_Name = Annotated[str, msgspec.Meta(max_length=200, pattern=NAME_PATTERN)]
_Mail = Annotated[str, msgspec.Meta(max_length=254, pattern=MAIL_PATTERN)]


class DestinationSettings(Record, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What a request says of a destination, without its secret."""

    url: Annotated[str, msgspec.Meta(min_length=1, max_length=2048)]
    name: _Name = "{job}"
    host_key: str | None = None
    sender: _Mail | None = None
    recipient: _Mail | None = None
    subject: Annotated[str, msgspec.Meta(max_length=200, pattern=r"^[^\x00-\x1f\x7f]*$")] | None = (
        None
    )


class Destination(ShownRecord, frozen=True):
    """A destination of an account, without its secret."""

    id: str
    kind: DestinationKind
    url: str
    name: Annotated[
        str,
        doc(
            "Pattern of the names of files, with folders; their extension is added. {job}, {batch}, {index}, "
            "{date} and {key} stand for the job, the batch, the index of its document or the number of its "
            "file, the day, and the subject."
        ),
    ]
    created_at: Annotated[Timestamp, doc("When it was added.")]
    host_key: Annotated[str | None, doc("SFTP: the host key of the server, as in known_hosts.")] = (
        None
    )
    sender: Annotated[str | None, doc("SMTP: the address that e-mails come from.")] = None
    recipient: Annotated[
        str | None, doc("SMTP: the address that e-mails go to, unless a request names another.")
    ] = None
    subject: Annotated[str | None, doc("SMTP: the subject; the name of the file by default.")] = (
        None
    )


class DeliveryOrder(Record, frozen=True, omit_defaults=True):
    """Where the results of a job or batch go: a destination, and the recipient of an e-mail."""

    destination: str
    recipient: str | None = None


class FileSource(Record, frozen=True, omit_defaults=True):
    """The file of a delivery: a blob or a part of one, or the text of a test.

    For a batch it is the last of its files, the index or manifest, before which those from `after` on are
    added to the outbox; None once they are.
    """

    media_type: str = "application/pdf"
    key: str | None = None
    offset: int = 0
    size: int = 0
    recipient: str | None = None
    batch_id: str | None = None
    after: int | None = None


def parse_destination(fields: Mapping[str, Any]) -> tuple[DestinationSettings, str, Address]:
    """Read a destination, its secret and its address from the JSON of a request.

    Raises:
        ServiceError: 400, with the field and what is accepted.
    """
    secret = fields.get("secret", "")
    from shared.outbound.uploads import parse_address

    is_text = isinstance(secret, str) and len(secret) <= MAX_SECRET
    if not is_text or not (secret.startswith(_PEM) or secret.isprintable()):
        raise _invalid(f"the field secret must be text of up to {MAX_SECRET:,} characters")
    try:
        rest = {name: value for name, value in fields.items() if name != "secret"}
        settings = msgspec.convert(rest, DestinationSettings)
    except msgspec.ValidationError as error:
        raise _invalid(str(error)) from None
    try:
        address = parse_address(settings.url)
    except ValueError as error:
        raise _invalid(f"the field url is not allowed: {error}") from None
    _check_name(settings.name)
    _check_kind(DestinationKind(address.kind), settings, secret)
    return settings, secret, address


def _check_kind(kind: DestinationKind, settings: DestinationSettings, secret: str) -> None:
    from shared.outbound.uploads import load_private_key

    if kind in (DestinationKind.S3, DestinationKind.SFTP) and not secret:
        raise _invalid("the field secret is required")
    if kind is DestinationKind.SFTP:
        if not _HOST_KEY.match(settings.host_key or ""):
            raise _invalid(
                "the field host_key is required: the key of the server, such as ssh-ed25519 AAAA…, as "
                "ssh-keyscan prints it"
            )
        if secret.startswith(_PEM):
            try:
                load_private_key(secret)
            except ValueError as error:
                raise _invalid(f"the field secret is not accepted: {error}") from None
    if kind is DestinationKind.HTTPS and not secret.isascii():
        raise _invalid("the field secret, sent as Authorization, must be ASCII")
    if kind is DestinationKind.SMTP and settings.sender is None:
        raise _invalid("the field sender is required")


def _check_name(name: str) -> None:
    found = _PLACEHOLDER.findall(name)
    rest = _PLACEHOLDER.sub("", name)
    if unknown := [each for each in found if each not in PLACEHOLDERS]:
        raise _invalid(
            f"the field name has {{{unknown[0]}}}; accepted are {', '.join(PLACEHOLDERS)}"
        )
    if "{" in rest or "}" in rest:
        raise _invalid("the field name has a brace without its other")
    if not {"job", "key"} & set(found) and not {"batch", "index"} <= set(found):
        raise _invalid(
            "the field name must contain {job}, {key}, or both {batch} and {index}: files of equal names "
            "replace each other"
        )


def _invalid(text: str) -> ServiceError:
    return ServiceError(400, f"Invalid destination: {text}.")


def name_file(
    pattern: str,
    extension: str,
    *,
    job: str,
    at: datetime,
    batch: str | None = None,
    index: int = 0,
    key: str | None = None,
) -> str:
    """Return the name of a file; characters that are not safe everywhere are replaced by `_`."""
    values = {
        "job": job,
        "batch": batch or job,
        "index": f"{index:06d}",
        "date": at.date().isoformat(),
        "key": key or job,
    }
    return _PLACEHOLDER.sub(lambda found: _make_safe(values[found[1]]), pattern) + extension


def name_last_file(pattern: str, extension: str, *, batch: str, at: datetime) -> str:
    """Return the name of the index or manifest of a batch, in the folder that its files share."""
    shared: list[str] = []
    for folder in pattern.split("/")[:-1]:
        if not {"job", "index", "key"}.isdisjoint(_PLACEHOLDER.findall(folder)):
            break
        shared.append(folder)
    return name_file("/".join([*shared, "{batch}"]), extension, job=batch, at=at)


def _make_safe(value: str) -> str:
    return _UNSAFE.sub("_", value[:_MAX_VALUE]).strip(".") or "_"


def create_destination(
    session: Session,
    account_id: str,
    settings: DestinationSettings,
    kind: DestinationKind,
    *,
    secret: str,
    at: datetime,
) -> Destination:
    """Add a destination; `secret` is encrypted (`shared.encryption`).

    Raises:
        ServiceError: 409, the account already has `MAX_DESTINATIONS`.
    """
    session.execute(
        select(accounts.c.id).where(accounts.c.id == account_id).with_for_update()
    ).one()
    own = destinations.c.account_id == account_id
    count = select(func.count()).select_from(destinations).where(own)
    if (session.scalar(count) or 0) >= MAX_DESTINATIONS:
        raise ServiceError(
            409, f"The account has {MAX_DESTINATIONS} destinations, the limit; delete one first."
        )
    row = {
        "id": new_id("dest"),
        "account_id": account_id,
        "kind": kind.value,
        "settings": settings.to_builtins(),
        "secret": secret,
        "created_at": at,
    }
    session.execute(insert(destinations).values(**row))
    return _read(row)


def list_destinations(session: Session, account_id: str) -> Sequence[Destination]:
    """Return an account's destinations, oldest first."""
    query = (
        select(destinations)
        .where(destinations.c.account_id == account_id)
        .order_by(destinations.c.created_at, destinations.c.id)
    )
    return [_read(row) for row in session.execute(query).mappings()]


def find_destination(session: Session, account_id: str, destination_id: str) -> Destination:
    """Return one of an account's destinations.

    Raises:
        ServiceError: 404, the account has no destination of that id.
    """
    query = select(destinations).where(*_own(account_id, destination_id))
    row = session.execute(query).mappings().one_or_none()
    if row is None:
        raise _not_found(destination_id)
    return _read(row)


def delete_destination(session: Session, account_id: str, destination_id: str) -> None:
    """Delete a destination and its log; pending deliveries are discarded.

    Raises:
        ServiceError: 404, the account has no destination of that id.
    """
    if not session.execute(delete(destinations).where(*_own(account_id, destination_id))).rowcount:
        raise _not_found(destination_id)
    columns = webhook_deliveries.c
    session.execute(delete(webhook_deliveries).where(columns.webhook_id == destination_id))


def check_order(
    session: Session, account_id: str, destination_id: str, recipient: str | None
) -> DeliveryOrder:
    """Return the order of a request that names a destination.

    Raises:
        ServiceError: 404, the account has no destination of that id; 400 for the recipient.
    """
    found = find_destination(session, account_id, destination_id)
    is_mail = found.kind is DestinationKind.SMTP
    if recipient is not None and not (is_mail and re.search(MAIL_PATTERN, recipient)):
        raise ServiceError(
            400, "Invalid recipient: accepted is an e-mail address, with a destination of SMTP."
        )
    if is_mail and recipient is None and found.recipient is None:
        raise ServiceError(
            400, "The destination names no recipient: send one as the query parameter recipient."
        )
    return DeliveryOrder(destination_id, recipient)


def enqueue_test(
    session: Session, account_id: str, destination_id: str, *, at: datetime
) -> Delivery:
    """Insert the delivery of a small text file to a destination, and return it.

    Raises:
        ServiceError: 404, the account has no destination of that id; 409, its previous test is pending, or
            it names no recipient.
    """
    session.execute(
        select(destinations.c.id).where(*_own(account_id, destination_id)).with_for_update()
    ).one_or_none()
    found = find_destination(session, account_id, destination_id)
    if found.kind is DestinationKind.SMTP and found.recipient is None:
        raise ServiceError(409, "The destination names no recipient that a test could be sent to.")
    check_not_tested(session, destination_id)
    name = name_last_file(found.name, ".txt", batch="pressroom-test", at=at)
    source = FileSource("text/plain")
    row = new_delivery(
        DeliveryTarget(account_id, found.kind, found.id), WebhookEvent.FILE_TEST, source.encode(),
        at=at, name=name,
    )  # fmt: skip
    session.execute(insert(webhook_deliveries).values(**row))
    return find_delivery(session, account_id, row["id"])


def enqueue_job(
    session: Session,
    account_id: str,
    order: Mapping[str, Any],
    *,
    job_id: str,
    file: FileSource,
    at: datetime,
) -> None:
    """Insert the delivery of a job's PDF, in the unit of work that ends the job."""
    found = _find_ordered(session, account_id, order)
    if found is None:
        return
    name = name_file(found.name, ".pdf", job=job_id, at=at)
    source = file.replace(recipient=order.get("recipient"))
    row = new_delivery(
        DeliveryTarget(account_id, found.kind, found.id), WebhookEvent.JOB_SUCCEEDED, source.encode(),
        at=at, source_id=job_id, name=name,
    )  # fmt: skip
    session.execute(insert(webhook_deliveries).values(**row))


def enqueue_batch(
    session: Session,
    account_id: str,
    order: Mapping[str, Any],
    *,
    batch_id: str,
    extension: str,
    at: datetime,
) -> None:
    """Insert the delivery of a batch's index or manifest, in the unit of work that finishes the batch.

    Its files are added in turns by the process that delivers (`add_batch_files`).
    """
    found = _find_ordered(session, account_id, order)
    if found is None:
        return
    name = name_last_file(found.name, extension, batch=batch_id, at=at)
    media_type = "text/csv" if extension == ".csv" else "application/x-ndjson"
    source = FileSource(media_type, recipient=order.get("recipient"), batch_id=batch_id, after=-1)
    row = new_delivery(
        DeliveryTarget(account_id, found.kind, found.id), WebhookEvent.BATCH_FINISHED, source.encode(),
        at=at, source_id=batch_id, name=name,
    )  # fmt: skip
    session.execute(insert(webhook_deliveries).values(**row))


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

    Nothing is done if another process has inserted them.
    """
    columns = webhook_deliveries.c
    going_on = source.replace(after=after)
    advanced = session.execute(
        update(webhook_deliveries)
        .where(columns.id == delivery_id, columns.payload == source.encode())
        .values(payload=going_on.encode(), next_attempt_at=at, leased_until=None)
        .returning(columns.account_id, columns.kind, columns.webhook_id, columns.source_id)
    ).first()
    if advanced is None or not files:
        return
    target = DeliveryTarget(advanced.account_id, advanced.kind, advanced.webhook_id)
    rows = [
        new_delivery(
            target, WebhookEvent.BATCH_FINISHED,
            file.encode(), at=at, source_id=advanced.source_id, name=name,
        )
        for name, file in files
    ]  # fmt: skip
    session.execute(insert(webhook_deliveries), rows)


def find_unended(session: Session, source_id: str, *, except_id: str) -> tuple[int, set[str]]:
    """Return how many other deliveries of a batch are pending, and the names of those that failed."""
    columns = webhook_deliveries.c
    query = select(columns.status, columns.name).where(
        columns.source_id == source_id,
        columns.id != except_id,
        columns.status != DeliveryStatus.DELIVERED.value,
    )
    rows = session.execute(query).all()
    failed = {row.name for row in rows if row.status == DeliveryStatus.FAILED.value}
    return len(rows) - len(failed), failed


def _find_ordered(
    session: Session, account_id: str, order: Mapping[str, Any]
) -> Destination | None:
    query = select(destinations).where(*_own(account_id, order["destination"]))
    row = session.execute(query).mappings().first()
    return None if row is None else _read(row)  # deleted since the request


def _read(row: Mapping[Any, Any]) -> Destination:
    return Destination.of_row(
        row["settings"], name=row["settings"].get("name", "{job}"), **{
            name: row[name] for name in ("id", "kind", "created_at")
        }
    )  # fmt: skip


def _own(account_id: str, destination_id: str) -> tuple[Any, Any]:
    return destinations.c.id == destination_id, destinations.c.account_id == account_id


def _not_found(destination_id: str) -> ServiceError:
    return ServiceError(404, f"The account has no destination {destination_id!r}.")
