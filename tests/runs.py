"""What runs of faults and of fuzzing ended without a find, a file each in build/proof; `make proof` publishes them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

FOLDER: Final = Path(__file__).parents[1] / "build/proof"
_SAME_SIZE: Final = 0.5  # clients send more or less while a farm is harmed


def keep_run(kind: str, name: str, **figures: Any) -> None:
    """Write the figures of a run, `faults` or `fuzzing`, in place of those of the run before of its name."""
    (FOLDER / kind).mkdir(parents=True, exist_ok=True)
    row = {"run": name, "date": datetime.now(UTC).date().isoformat(), **figures}
    file = FOLDER / kind / f"{re.sub('[^a-z0-9_]+', '-', name.lower())}.json"
    file.write_text(json.dumps(row) + "\n")


def read_runs(kind: str) -> list[dict[str, Any]]:
    """Return the figures of the runs of a kind, in the order of their names."""
    return [json.loads(file.read_text()) for file in sorted((FOLDER / kind).glob("*.json"))]


def merge_runs(
    before: Iterable[dict[str, Any]], found: Iterable[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Return the runs by name: the later one of two, unless it was smaller, as those of CI are."""
    merged: dict[str, dict[str, Any]] = {}
    for row in (*before, *found):
        known = merged.get(row["run"])
        if known is None or row.get("requests", 0) >= known.get("requests", 0) * _SAME_SIZE:
            merged[row["run"]] = row
    return list(merged.values())
