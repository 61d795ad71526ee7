"""Templates that extend or import others: resolution to content, and use by others."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import NamedTuple

from msgspec.structs import replace
from sqlalchemy import insert, or_, select

from shared.db.session import Session
from shared.db.tables import contents, slugs, templates, version_links
from shared.errors import ServiceError
from shared.jobs.records import PinnedTemplate
from shared.limits import MAX_LINKED_BYTES, MAX_LINKED_TEMPLATES, MAX_REFERENCE, MB
from shared.templates.links import find_links
from shared.templates.pinning import Reader, get_pinned
from shared.templates.references import TemplateReference, parse_reference
from shared.templates.repository import EMPTY_SHA256, get_content


class LinkingTemplate(NamedTuple):
    """A template whose live content extends or imports another."""

    id: str
    name: str


def pin_content(session: Session, reader: Reader, reference: TemplateReference) -> PinnedTemplate:
    """Resolve a reference to its current content, with the templates that it links to.

    A version has those that its links named when it was published.

    Raises:
        ServiceError: those of `get_pinned` and `resolve_links`.
    """
    pinned = get_pinned(session, reader, reference)
    if pinned.sha256 == EMPTY_SHA256:
        return pinned
    recorded = read_recorded_links(session, pinned)
    if recorded is not None:
        return replace(pinned, links=_without_missing(recorded))
    return replace(
        pinned, links=resolve_links(session, reader, get_content(session, pinned.sha256))
    )


def record_links(session: Session, pinned: PinnedTemplate, links: Mapping[str, str | None]) -> None:
    """Record the content that the links of a published version name."""
    if links:
        of_version = {"template_id": pinned.template_id, "version": pinned.version}
        session.execute(
            insert(version_links),
            [
                {**of_version, "reference": reference, "sha256": sha256}
                for reference, sha256 in links.items()
            ],
        )


def read_recorded_links(
    session: Session, pinned: PinnedTemplate
) -> Mapping[str, str | None] | None:
    """Return what the links of a version named when it was published, None if that is not recorded."""
    if pinned.version is None:
        return None
    query = select(version_links.c.reference, version_links.c.sha256).where(
        version_links.c.template_id == pinned.template_id, version_links.c.version == pinned.version
    )
    return dict(session.execute(query).all()) or None


def find_published_links(session: Session, reader: Reader, text: str) -> Mapping[str, str | None]:
    """Return what the links of a text to be published name, None for a link that names nothing.

    Raises:
        ServiceError: as `resolve_links`.
    """
    own = (link for link in find_links(text) if len(link) <= MAX_REFERENCE)
    return {**dict.fromkeys(own), **resolve_links(session, reader, text)}


def resolve_links(session: Session, reader: Reader, text: str) -> Mapping[str, str]:
    """Return the SHA-256 of the content of each template that a text links to, directly or not.

    The keys are references as written. A version among them has the links that were recorded with it.
    What cannot be resolved is left out, and reported by the engine.

    Raises:
        ServiceError: 400, the linked templates are too large.
    """
    found: dict[str, str] = {}
    recorded: dict[str, str] = {}
    tried: set[str] = set()
    waiting = deque(find_links(text))
    size = 0
    while waiting and len(found) < MAX_LINKED_TEMPLATES:
        written = waiting.popleft()
        if written in tried:
            continue
        tried.add(written)
        pinned = _resolve(session, reader, written)
        if pinned is None:
            continue
        content = get_content(session, pinned.sha256)
        size += len(content)
        if size > MAX_LINKED_BYTES:
            raise ServiceError(
                400,
                f"The templates that are extended or imported have more than {MAX_LINKED_BYTES // MB} MB "
                "in all.",
            )
        found[written] = pinned.sha256
        of_version = read_recorded_links(session, pinned)
        if of_version is None:
            waiting += find_links(content)
        else:
            recorded |= _without_missing(of_version)
    return recorded | found


def _without_missing(links: Mapping[str, str | None]) -> dict[str, str]:
    return {reference: sha256 for reference, sha256 in links.items() if sha256 is not None}


def _resolve(session: Session, reader: Reader, written: str) -> PinnedTemplate | None:
    try:
        pinned = get_pinned(session, reader, parse_reference(written, field="extends"))
    except ServiceError as error:
        if error.body.status >= 500:
            raise
        return None
    return None if pinned.sha256 == EMPTY_SHA256 else pinned


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
