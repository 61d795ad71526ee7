"""Warnings of a render in its record: one entry per code, limited in number."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from shared.limits import MAX_WARNING_CODES, MAX_WARNING_TEXT
from workers.engine.diagnostics import Diagnostic

MORE: Final = "more-warnings"


def summarise(found: Iterable[Diagnostic], *, left_out: int) -> Sequence[Mapping[str, Any]]:
    """Return an entry for each code in order of occurrence, with its count and its first warning.

    Further codes are counted in a last entry, so that the counts add up to the total.
    """
    first: dict[str, Diagnostic] = {}
    counts: dict[str, int] = {}
    for warning in found:
        first.setdefault(warning.code, warning)
        counts[warning.code] = counts.get(warning.code, 0) + 1
    if not counts and not left_out:
        return ()
    listed = list(counts)[:MAX_WARNING_CODES]
    entries = [_write(first[code], counts[code]) for code in listed]
    more = left_out + sum(counts.values()) - sum(counts[code] for code in listed)
    if more:
        text = "Further warnings, which POST /v2/validate may list"
        entries.append({"code": MORE, "message": text, "count": more})
    return entries


def _write(warning: Diagnostic, count: int) -> Mapping[str, Any]:
    text = warning.message
    if len(text) > MAX_WARNING_TEXT:
        text = text[: MAX_WARNING_TEXT - 1] + "…"
    entry: dict[str, Any] = {"code": warning.code, "message": text, "count": count}
    if warning.location is not None:
        entry["source"] = warning.location.to_source()
    return entry
