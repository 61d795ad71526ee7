"""Templates that extend or import others: resolution to content, and use by others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from sqlalchemy import or_, select

from shared.db.pinning import Reader, get_pinned
from shared.db.session import Session
from shared.db.tables import contents, slugs, templates
from shared.db.templates import EMPTY_SHA256, get_content
from shared.errors import ServiceError
from shared.jobs import PinnedTemplate
from shared.limits import MAX_LINKED_BYTES, MAX_LINKED_TEMPLATES, MB
from shared.references import TemplateReference, parse_reference
from shared.template_links import find_links


class LinkingTemplate(NamedTuple):
    """A template whose live content extends or imports another."""

    id: str
    name: str


def pin_content(session: Session, reader: Reader, reference: TemplateReference) -> PinnedTemplate:
    """Resolve a reference to its current content, with the templates that it links to.

    Raises:
        ServiceError: those of `get_pinned` and `resolve_links`.
    """
    pinned = get_pinned(session, reader, reference)
    if pinned.sha256 == EMPTY_SHA256:
        return pinned
    return replace(
        pinned, links=resolve_links(session, reader, get_content(session, pinned.sha256))
    )


def resolve_links(session: Session, reader: Reader, text: str) -> Mapping[str, str]:
    """Return the SHA-256 of the content of each template that a text links to, directly or not.

    The keys are references as written. What cannot be resolved is left out, and reported by the engine.

    Raises:
        ServiceError: 400, the linked templates are too large.
    """
    found: dict[str, str] = {}
    tried: set[str] = set()
    waiting = list(find_links(text))
    size = 0
    while waiting and len(found) < MAX_LINKED_TEMPLATES:
        written = waiting.pop()
        if written in tried:
            continue
        tried.add(written)
        sha256 = _resolve(session, reader, written)
        if sha256 is None:
            continue
        content = get_content(session, sha256)
        size += len(content)
        if size > MAX_LINKED_BYTES:
            raise ServiceError(
                400,
                f"The templates that are extended or imported have more than {MAX_LINKED_BYTES // MB} MB "
                "in all.",
            )
        found[written] = sha256
        waiting += find_links(content)
    return found


def _resolve(session: Session, reader: Reader, written: str) -> str | None:
    try:
        reference = parse_reference(written, field="extends")
        sha256 = get_pinned(session, reader, reference).sha256
    except ServiceError as error:
        if error.body.status >= 500:
            raise
        return None
    return None if sha256 == EMPTY_SHA256 else sha256


def find_linking(
    session: Session, account_id: str, template_id: str, *, limit: int
) -> list[LinkingTemplate]:
    """Return the account's other templates whose live content links to a template, by id or slug."""
    names = {
        template_id,
        *session.scalars(select(slugs.c.slug).where(slugs.c.template_id == template_id)),
    }
    query = (
        select(templates.c.id, templates.c.name, contents.c.content)
        .join(contents, contents.c.sha256 == templates.c.sha256)
        .where(
            templates.c.account_id == account_id,
            templates.c.deleted_at.is_(None),
            templates.c.id != template_id,
            or_(*(contents.c.content.contains(f"{name}@", autoescape=True) for name in names)),
        )
        .order_by(templates.c.id)
    )
    linking = []
    for found_id, name, content in session.execute(query):
        if any(link.partition("@")[0] in names for link in find_links(content)):
            linking.append(LinkingTemplate(found_id, name))
            if len(linking) == limit:
                break
    return linking
