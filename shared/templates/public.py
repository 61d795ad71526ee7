"""The public templates `service-*` that ship with the product."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Final

from sqlalchemy import insert, update

from shared.db.queries import insert_or_ignore
from shared.db.session import Session
from shared.db.tables import accounts, templates, users
from shared.db.user_refs import UserRef
from shared.templates.pinning import Reader
from shared.templates.repository import PUBLIC_ACCOUNT, find_live_sha256, store_content
from shared.templates.versions import publish_version

FOLDER: Final = Path(__file__).parent / "public_templates"
_READER: Final = Reader(PUBLIC_ACCOUNT, None)
PUBLISHER: Final = UserRef("usr_public", "Pressroom", "templates@pressroom.invalid")


def publish_public_templates(session: Session, *, at: datetime) -> None:
    """Publish the public templates of this release; repeated calls change nothing.

    Changed content, or links to changed content, become a new version, so that references to older
    versions are unaffected. Names are in order: `service-brand-parts` is there before what extends it.
    """
    _make_publisher(session, at=at)
    for file in sorted(FOLDER.glob("service-*.xml")):
        _publish(session, file.stem, file.read_text(encoding="utf-8"), at=at)


def _make_publisher(session: Session, *, at: datetime) -> None:
    """Create the account that owns the public templates; it has no key."""
    account = {
        "id": PUBLIC_ACCOUNT,
        "name": PUBLISHER.name,
        "plan": "paid",
        "max_pages": 0,
        "renewal_day": 1,
        "is_disabled": True,
        "is_email_verified": False,
        "created_at": at,
    }
    user = {
        "id": PUBLISHER.id,
        "account_id": PUBLIC_ACCOUNT,
        "name": PUBLISHER.name,
        "email": PUBLISHER.email,
    }
    session.execute(insert_or_ignore(session, accounts, account))
    session.execute(insert_or_ignore(session, users, user))


def _publish(session: Session, template_id: str, content: str, *, at: datetime) -> None:
    digest = store_content(session, content, at=at)
    held = find_live_sha256(session, PUBLIC_ACCOUNT, template_id)
    change = {"sha256": digest, "updated_at": at, "updated_by": PUBLISHER.id}
    if held is None:
        row = {
            "id": template_id,
            "account_id": PUBLIC_ACCOUNT,
            "name": _name_of(template_id),
            "created_at": at,
            "created_by": PUBLISHER.id,
        }
        session.execute(insert(templates).values(**row, **change))
    elif held != digest:
        session.execute(update(templates).where(templates.c.id == template_id).values(**change))
    publish_version(session, _READER, template_id, message="", user=PUBLISHER, at=at)


def _name_of(template_id: str) -> str:
    words = template_id.removeprefix("service-").capitalize().split("-")
    return " ".join(word.upper() if word in {"Qr", "Us"} else word for word in words)
