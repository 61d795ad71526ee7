"""Resolution of a template reference to its current content, by one indexed query."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Final, cast

from redis import Redis
from sqlalchemy import ColumnElement, FromClause, RowMapping, and_, select

from shared.db.session import Session
from shared.db.tables import slugs, tags, templates, versions
from shared.errors import ServiceError
from shared.identifiers import has_id_shape
from shared.jobs.records import PinnedTemplate
from shared.queue.connection import reachable, register
from shared.telemetry.observer import NULL_OBSERVER, Cache, Observer, count_lookup
from shared.templates.references import LATEST, LIVE, TemplateReference
from shared.templates.repository import reader_account, template_not_found


@dataclass(frozen=True, slots=True)
class Reader:
    """The account and workspace that resolve a reference; slugs belong to the workspace."""

    account_id: str
    workspace_id: str | None


def get_pinned(session: Session, reader: Reader, reference: TemplateReference) -> PinnedTemplate:
    """Resolve a reference to its current content.

    Raises:
        ServiceError: 404, with `ERR_TEMPLATE_NOT_FOUND` if the reader has no such template, without a
            code if the template has no such version or tag.
    """
    row = _find(session, reader, reference)
    if row is None:
        raise template_not_found(reference.identifier)
    if reference.selector == LIVE:
        if row["deleted_at"] is not None:
            raise template_not_found(reference.identifier)
        return PinnedTemplate(row["id"], None, row["sha256"])
    if row["version"] is None:
        raise _selector_not_found(reference)
    return PinnedTemplate(row["id"], row["version"], row["version_sha256"])


def _find(session: Session, reader: Reader, reference: TemplateReference) -> RowMapping | None:
    """Return the template's row, with the selected version if there is one."""
    source, is_asked = _select_template(reader, reference.identifier)
    version_is: ColumnElement[bool]
    if reference.selector == LIVE:
        version_is = versions.c.version == 0  # numbers start at 1
    elif reference.selector == LATEST:
        version_is = versions.c.version == templates.c.version_count
    elif isinstance(reference.selector, int):
        version_is = versions.c.version == reference.selector
    else:
        tag_is = and_(tags.c.template_id == templates.c.id, tags.c.tag == reference.selector)
        source = source.outerjoin(tags, tag_is)
        version_is = versions.c.version == tags.c.version
    source = source.outerjoin(versions, and_(versions.c.template_id == templates.c.id, version_is))
    query = (
        select(
            templates.c.id,
            templates.c.sha256,
            templates.c.deleted_at,
            versions.c.version,
            versions.c.sha256.label("version_sha256"),
        )
        .select_from(source)
        .where(is_asked)
    )
    return session.execute(query).mappings().first()


def _select_template(reader: Reader, identifier: str) -> tuple[FromClause, ColumnElement[bool]]:
    # No slug has the shape of an id, so an identifier is one or the other.
    if has_id_shape(identifier):
        owner = reader_account(reader.account_id, identifier)
        return templates, and_(templates.c.id == identifier, templates.c.account_id == owner)
    held = and_(slugs.c.workspace_id == reader.workspace_id, slugs.c.slug == identifier)
    return slugs.join(templates, slugs.c.template_id == templates.c.id), held


def _selector_not_found(reference: TemplateReference) -> ServiceError:
    if reference.selector == LATEST:
        missing = f"published version yet, so {str(reference)!r} names nothing"
    elif isinstance(reference.selector, int):
        missing = f"published version {reference.selector}"
    else:
        missing = f"tag {reference.selector!r}"
    message = f"Template {reference.identifier!r} has no {missing}."
    return ServiceError(404, message)


# A pin is invalidated before its name changes. For this long after, it is not cached: longer than the
# change may wait and take, so that no reader can cache the old value again.
TOMBSTONE_SECONDS: Final = 20
# For changes without an invalidation: the public templates of a newer release.
_TTL_SECONDS: Final = 300
_MAX_PINS: Final = 10_000  # of one owner; beyond it all are dropped, and used ones are cached again

_PACKAGE: Final = "shared.templates"


class Pins:
    """The resolved value of each name of each owner, in a Redis hash for each owner.

    Of a workspace the names of its images and fonts, each with the SHA-256 of the bytes; of an account the
    references to templates, each with the template.

    Every method raises `Unavailable("queue")` if Redis does not answer.
    """

    def __init__(
        self, redis: Redis, kind: str, cache: Cache, observer: Observer = NULL_OBSERVER
    ) -> None:
        self._redis = redis
        self._put = register(redis, "put_pin", package=_PACKAGE)
        self._kind = kind
        self._cache = cache
        self._observer = observer

    def find(self, owner: str, name: str) -> str | None:
        """Return the cached value of a name, or None."""
        with reachable():
            text = cast("bytes | None", self._redis.hget(self._key(owner), name))
        count_lookup(self._observer, self._cache, is_hit=text is not None)
        return None if text is None else text.decode()

    def put(self, owner: str, name: str, value: str) -> None:
        """Cache the value of a name as read from the database, unless a change has just started."""
        with reachable():
            self._put(
                keys=[self._key(owner), self._marker(owner, name), self._marker(owner)],
                args=[name, value, _TTL_SECONDS, _MAX_PINS],
            )

    def drop(self, owner: str, name: str | None = None) -> None:
        """Invalidate a name, or all names of an owner. Call it before the change, so that none can be missed."""
        with reachable(), self._redis.pipeline() as pipe:  # in this order, so that no old pin stays
            pipe.set(self._marker(owner, name), 1, ex=TOMBSTONE_SECONDS)
            if name is None:
                pipe.delete(self._key(owner))
            else:
                pipe.hdel(self._key(owner), name)
            pipe.execute()

    def _key(self, owner: str) -> str:
        return f"pins:{self._kind}:{owner}"

    def _marker(self, owner: str, name: str | None = None) -> str:
        return f"{self._key(owner)}:changed" + ("" if name is None else f":{name}")


def write_pin(pinned: PinnedTemplate) -> str:
    """Return a template as the value of its reference."""
    return json.dumps([pinned.template_id, pinned.version, pinned.sha256, dict(pinned.links)])


def read_pin(text: str) -> PinnedTemplate:
    """Return the template that is the value of a reference."""
    return PinnedTemplate(*json.loads(text))
