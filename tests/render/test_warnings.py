"""The warnings of a render as its record lists them."""

from __future__ import annotations

import pytest

from shared.limits import MAX_WARNING_CODES, MAX_WARNING_TEXT
from workers.engine.diagnostics import Diagnostic, Origin, Severity, SourceLocation, SourceSpan
from workers.render.failures import summarise

PLACE = SourceLocation("p", SourceSpan(2, 3, 2, 9), Origin.TEMPLATE)


def warning(code: str, message: str = "m", *chain: SourceLocation) -> Diagnostic:
    return Diagnostic(Severity.WARNING, code, message, chain)


def test_warnings_of_one_code_are_one_entry_with_the_first_of_them():
    found = [warning("b", "1", PLACE), warning("a", "2"), warning("b", "3")]
    assert summarise(found, left_out=0) == [
        {"code": "b", "message": "1", "count": 2, "source": PLACE.to_source()},
        {"code": "a", "message": "2", "count": 1},
    ]


def test_a_render_without_warnings_has_no_entry():
    assert summarise((), left_out=0) == ()


@pytest.mark.parametrize("left_out", [0, 7])
def test_entries_and_texts_are_bounded_and_everything_is_counted(left_out: int):
    found = [warning(f"code-{at}", "x" * 10_000) for at in range(30) for _ in range(3)]
    entries = summarise(found, left_out=left_out)
    assert len(entries) == MAX_WARNING_CODES + 1
    assert max(len(entry["message"]) for entry in entries) == MAX_WARNING_TEXT
    assert entries[-1]["code"] == "more-warnings"
    assert sum(entry["count"] for entry in entries) == 90 + left_out


def test_warnings_beyond_the_engines_limit_are_counted():
    [first, more] = summarise([warning("a")], left_out=3)
    assert (first["count"], more["code"], more["count"]) == (1, "more-warnings", 3)
