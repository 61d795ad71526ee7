"""What the workers report of each render, as increments of one Redis hash.

Worker processes come and go, so they keep no counters of their own: each outcome's numbers are
added in the step that commits it, and `shared.telemetry.metrics` reads the sums (queueing.md 6).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from shared.jobs import Allowance, JobOutcome, OutcomeStatus

STAGE_BUCKETS_SECONDS: Final = (
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0,
)  # fmt: skip
ABANDONED: Final = "abandoned"  # jobs the front gave up at their deadline
SUCCEEDED: Final = "succeeded"  # the outcome label of a render that gave a PDF

_RENDERS: Final = "renders"
_PAGES: Final = "pages"
_BUCKET: Final = "bucket"
_SUM: Final = "sum"


def count_outcome(outcome: JobOutcome, *, allowance: Allowance) -> dict[str, float]:
    """Give the increments of one committed outcome: field of the hash to amount."""
    kind = outcome.error.kind.value if outcome.error else SUCCEEDED
    increments: dict[str, float] = {_field(_RENDERS, allowance.value, kind): 1}
    if outcome.status is OutcomeStatus.SUCCEEDED:
        increments[_field(_PAGES, allowance.value)] = outcome.pages
    for stage, milliseconds in outcome.timings.items():
        seconds = milliseconds / 1000
        increments[_field(_BUCKET, stage, _bucket(seconds))] = 1
        increments[_field(_SUM, stage)] = round(seconds, 6)
    return increments


@dataclass(frozen=True, slots=True)
class StageTimes:
    """The times of one stage: how many fell in each bucket (the last is unbounded), and their sum."""

    counts: tuple[float, ...]
    sum_seconds: float


@dataclass(frozen=True, slots=True)
class FarmTotals:
    """The sums of all outcomes so far: renders by allowance and outcome, pages by allowance, stages."""

    renders: Mapping[tuple[str, str], float]
    pages: Mapping[str, float]
    stages: Mapping[str, StageTimes]
    abandoned: float


def read_totals(fields: Mapping[str, float]) -> FarmTotals:
    """Read the hash that `count_outcome` adds to."""
    stages = {parts[0] for parts, _ in _parts_of(fields, _SUM)}
    return FarmTotals(
        renders={(allowance, kind): n for (allowance, kind), n in _parts_of(fields, _RENDERS)},
        pages={allowance: n for (allowance,), n in _parts_of(fields, _PAGES)},
        stages={stage: _stage_times(fields, stage) for stage in sorted(stages)},
        abandoned=fields.get(ABANDONED, 0),
    )


def _stage_times(fields: Mapping[str, float], stage: str) -> StageTimes:
    bounds = [*(str(bound) for bound in STAGE_BUCKETS_SECONDS), "+Inf"]
    counts = tuple(fields.get(_field(_BUCKET, stage, bound), 0) for bound in bounds)
    return StageTimes(counts, fields.get(_field(_SUM, stage), 0))


def _parts_of(fields: Mapping[str, float], family: str) -> Iterator[tuple[list[str], float]]:
    for field in sorted(fields):
        head, *parts = field.split("|")
        if head == family:
            yield parts, fields[field]


def _bucket(seconds: float) -> str:
    return next((str(bound) for bound in STAGE_BUCKETS_SECONDS if seconds <= bound), "+Inf")


def _field(*parts: str) -> str:
    return "|".join(parts)
