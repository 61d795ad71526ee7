"""The covers of the bundles of a run: a page of each, rendered where the run is arranged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from shared import json_text
from shared.batches.plans import Plan, RunDocument, RunFile, find_bundles
from shared.batches.records import Batch
from shared.errors import ErrorBody, ErrorKind, ServiceError, Unavailable
from workers.batches.documents import BatchContext, DocumentLimits, is_outage
from workers.batches.writers import MergedPartWriter


class Covers(NamedTuple):
    """The covers of a file of a run as one PDF, and the indexes of the documents that they stand before."""

    covered: Sequence[int] = ()
    pdf: bytes = b""


def render_covers(batch: Batch, number: int, file: RunFile, context: BatchContext) -> Covers:
    """Render the covers of a file of a run.

    Raises:
        ServiceError: one has errors or more than a page, or a part of the farm is unavailable.
    """
    plan, cover = batch.plan, batch.cover
    if plan is None or cover is None:
        return Covers()
    own = batch.replace(pinned=cover, plan=Plan(duplex=plan.duplex))
    writer = MergedPartWriter(own, context.render, what="Bundle")
    limits = DocumentLimits(context)
    bundles = find_bundles(plan, file)
    with limits.active():
        for at in range(len(bundles)):
            payload = json_text.encode(_describe(plan, number, bundles, at))
            outcome = limits.attempt(partial(writer.add, at, payload))
            if not isinstance(outcome, ErrorBody):
                if outcome.pages == 1:
                    continue
                text = f"It has {outcome.pages} pages; accepted is one."
                outcome = ErrorBody(400, text, ErrorKind.AUTHORING)
            if is_outage(outcome):
                raise Unavailable("farm")
            told = f"The cover of bundle {at + 1} of file {number}: {outcome.message}"
            raise ServiceError(outcome.status, told, kind=outcome.kind)
    made = writer.close()
    covered = [bundle.documents[0].index for bundle in bundles]
    return Covers(covered, made[0].read() if made else b"")


def _describe(plan: Plan, number: int, bundles: Sequence[RunFile], at: int) -> dict[str, Any]:
    """Return what the template of a cover is given."""
    bundle = bundles[at]
    documents = bundle.documents
    return {
        "file": number,
        "bundle": at + 1,
        "bundles": len(bundles),
        "value": "" if bundle.value is None else bundle.value,
        "sets": len(bundle.sets),
        "documents": len(documents),
        "sheets": sum(each.sheets for each in bundle.sets),
        "weight": round(sum(each.weight for each in bundle.sets), 3) if plan.weight else None,
        "first": _nest(plan, documents[0]),
        "last": _nest(plan, documents[-1]),
    }


def _nest(plan: Plan, document: RunDocument) -> Mapping[str, Any]:
    """Return the values of a document at the paths that they have in its payload, empty texts for missing ones."""
    nested: dict[str, Any] = {}
    # Missing ones first, so that none replaces a value.
    for path in sorted(plan.paths, key=lambda path: (path in document.values, path)):
        *above, name = path.split(".")
        inner = nested
        for each in above:
            if not isinstance(inner.get(each), dict):
                inner[each] = {}
            inner = inner[each]
        inner[name] = document.values.get(path, "")
    return nested
