"""Entity tags of templates, and the content of a version with its header comment."""

from __future__ import annotations

import re
from typing import Final

from api.conditional_requests import Preconditions, make_etag
from shared.clock import timestamp
from shared.db.session import Session
from shared.templates.repository import TemplateRecord, lock_live
from shared.templates.versions import Version


def etag_of(record: TemplateRecord, *, content_sha256: str | None = None) -> str:
    """Return the entity tag of a template with a content, by default its live content.

    It changes with the content, the name, the slug and the number of versions.
    """
    return make_etag(record.show(), content_sha256 or record.sha256)


def check_template_preconditions(
    session: Session, account_id: str, template_id: str, preconditions: Preconditions
) -> None:
    """Check the preconditions of a change of a template, and lock it until the transaction ends.

    Raises:
        ServiceError: 412; 404, the account has no template of that id.
    """
    if preconditions.are_given:
        preconditions.check(etag_of(lock_live(session, account_id, template_id)))


# Characters that XML 1.0 does not allow, even in a comment (2.2).
_NO_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_HYPHENS: Final = re.compile("-(?=-)")


def write_content(version: Version, content: str) -> str:
    """Return a version's content with the header comment.

    No line break separates them: the digest covers everything after `-->`.
    """
    user = version.created_by
    return (
        f"<!-- Service template version {version.version}\n"
        f"sha256 {version.sha256}\n"
        f"{timestamp(version.created_at)} by {_safe(user.name)} <{_safe(user.email)}> -->"
        f"{content}"
    )


def _safe(text: str) -> str:
    # Two hyphens would end the comment (so `--` is written `- -`).
    return _HYPHENS.sub("- ", _NO_XML.sub("\ufffd", text))
