"""The result of a run, in one line for the report."""

from __future__ import annotations

from itertools import pairwise

from tests.faults.history import History

TITLE = f"{'row':<62} {'200':>6} {'202':>6} {'5xx':>5} {'broken':>6} {'faults':>6} {'longest':>8} {'gap':>6}"


def describe(row: str, history: History, faults: int) -> str:
    """Return the line: answers by status, faults, and in seconds the longest answer and the longest
    time without one that was a success.
    """
    good = sorted(
        (entry for entry in history if entry.status in (200, 201, 202)),
        key=lambda entry: entry.ended,
    )
    longest = max((entry.ended - entry.started for entry in good), default=0.0)
    gap = max((after.ended - before.ended for before, after in pairwise(good)), default=0.0)
    refused = sum(entry.status is not None and entry.status >= 500 for entry in history)
    return (
        f"{row:<62} {history.count(200):>6} {history.count(202):>6} {refused:>5} "
        f"{history.count(None):>6} {faults:>6} {longest:>8.1f} {gap:>6.1f}"
    )
