"""Links to files of deliveries, which mails have in place of attachments: encrypted, and with an end."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from sqlalchemy import select, union_all

from shared.db.session import Session
from shared.db.tables import accounts, batches, destinations, jobs, webhook_deliveries
from shared.encryption import SecretCipher, SecretUnreadableError
from shared.webhooks.destinations import DestinationRequest, FileSource
from shared.webhooks.mails import name_attachment


def write_link(cipher: SecretCipher, delivery_id: str, end: datetime) -> str:
    """Return the token of a link; its first word tells it from other secrets of the cipher."""
    return cipher.encrypt(f"link {delivery_id} {int(end.timestamp())}")


def read_link(cipher: SecretCipher, token: str) -> tuple[str, datetime] | None:
    """Return the delivery of a link and its end; None for a token that was not made by `write_link`."""
    try:
        what, *told = cipher.decrypt(token).split(" ")
    except SecretUnreadableError:
        return None
    return (told[0], datetime.fromtimestamp(int(told[1]), UTC)) if what == "link" else None


def find_end(
    session: Session, source_id: str | None, *, at: datetime, hours: int
) -> datetime | None:
    """Return when a link made now ends, with its result at the latest; None if that is no longer kept."""
    query = union_all(
        select(jobs.c.expires_at).where(jobs.c.id == source_id),
        select(batches.c.expires_at)
        .where(batches.c.id == source_id)
        .where(batches.c.removed_at.is_(None)),
    )
    end = at + timedelta(hours=hours)
    # A batch that goes on after its end has no expiry for the time being.
    found = [kept_until or end for kept_until in session.scalars(query)]
    return min(found[0], end) if found and found[0] > at else None


def find_linked(
    session: Session, delivery_id: str, *, at: datetime
) -> tuple[str, FileSource, str] | None:
    """Return the account, file and name of a link; None once it or what it is of is deleted or disabled."""
    columns = webhook_deliveries.c
    query = (
        select(webhook_deliveries, destinations.c.settings)
        .join(destinations, destinations.c.id == columns.webhook_id)
        .join(accounts, accounts.c.id == destinations.c.account_id)
        .where(columns.id == delivery_id, accounts.c.is_disabled.is_(False))
    )
    row = session.execute(query).mappings().first()
    if row is None or find_end(session, row["source_id"], at=at, hours=1) is None:
        return None
    source = FileSource.decode(row["payload"])
    mail = DestinationRequest.of_builtins(row["settings"]).mail
    assert mail is not None
    return row["account_id"], source, name_attachment(mail, row["name"], source.values or {})
