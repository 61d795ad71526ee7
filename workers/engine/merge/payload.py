"""One entry to merging: a prepared template and a payload give a merged tree and its data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from workers.engine.diagnostics import Findings
from workers.engine.merge.declarations import Declarations
from workers.engine.ports import Payload
from workers.engine.syntax.nodes import Element, SyntaxTree


@dataclass(frozen=True, slots=True)
class PreparedSource:
    """A checked tree and what its data section declares: all that does not depend on a payload.

    `findings` are the parser's, the checks' and the declarations'; `root` is None when the text
    is not a well-formed `document`.
    """

    root: Element | None
    declarations: Declarations
    findings: Findings


@dataclass(frozen=True, slots=True)
class Merged:
    """What build takes: the tree, and the data merged, converted and checked.

    `source` is the template itself for a JSON, CSV or absent payload, so what was compiled from
    it may be reused; an XML or Markdown payload makes a new one. With `is_data_sound` False the
    data have errors already told: evaluating over them would only tell them again.
    """

    source: PreparedSource
    root: Element
    data: dict[str, Any]
    is_data_sound: bool
    payload_sha256: str | None


def prepare(tree: SyntaxTree) -> PreparedSource:
    """Check a tree and read its data section, once for all renders of it."""
    raise NotImplementedError


def merge_payload(
    template: PreparedSource | None, payload: Payload | None, findings: Findings
) -> Merged | None:
    """Merge a payload into a template, or take a complete XML payload on its own.

    Adds every finding of the source, the payload and the data to `findings`. Gives None when
    there is no tree to go on with; the findings then have an error that says why.
    """
    raise NotImplementedError
