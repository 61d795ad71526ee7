"""The metric files of the front's processes: reading them as one, and keeping them few.

`prometheus_client` has each process write a file of each kind. Its own reader took 27 ms for three
processes that had used every route, and it keeps the files of ended processes for ever.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple

from prometheus_client.mmap_dict import MmapedDict
from prometheus_client.multiprocess import mark_process_dead
from prometheus_client.utils import floatToGoString

from shared.telemetry import metrics
from shared.telemetry.metrics import Kind, Spec

_KINDS: Final = {"counter": Kind.COUNTER, "histogram": Kind.HISTOGRAM, "gauge": Kind.GAUGE}
_SUMMED: Final = ("counter", "histogram")
_ENDED: Final = "ended"  # stands where the others' process id stands
_LOCK: Final = "lock"
_SPECS: Final[Mapping[str, Spec]] = {spec.full_name: spec for spec in metrics.ALL}


def clear_metrics_dir(metrics_dir: str) -> None:
    """Empty the folder of an earlier front; for the front's master process, before it forks."""
    folder = Path(metrics_dir)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)


def forget_process(pid: int, metrics_dir: str) -> None:
    """Take back the live values of a front process that has ended and keep its counts.

    The counts of all ended processes lie in one file of each kind, so that a scrape reads as many
    files as there are processes and not as there ever were: 512 files took it 148 ms
    (queueing.md 6).
    """
    folder = Path(metrics_dir)
    with _held(folder, fcntl.LOCK_EX):
        mark_process_dead(pid, metrics_dir)  # type: ignore[no-untyped-call]
        for kind in _SUMMED:
            _absorb(folder / f"{kind}_{pid}.db", into=folder / f"{kind}_{_ENDED}.db")


def write_text(folder: Path) -> str:
    """Write the sums over all files as Prometheus text."""
    with _held(folder, fcntl.LOCK_SH):
        files = sorted(folder.glob("*.db"))
        sums = {
            kind: _add_up(file for file in files if file.name.startswith(prefix))
            for prefix, kind in _KINDS.items()
        }
    return "".join(part for kind, found in sums.items() for part in _write_kind(kind, found))


class _Series(NamedTuple):
    """One key of a file: the metric, what of it, its labels as text, and a bucket's bound."""

    metric: str
    name: str
    labels: str
    bound: float | None


@lru_cache(maxsize=50_000)  # as many as there are series: their labels come from closed sets
def _parse(key: str) -> _Series:
    metric, name, labels, _ = json.loads(key)
    bound = labels.pop("le", None)
    text = ",".join(f'{label}="{_escape(labels[label])}"' for label in sorted(labels))
    return _Series(metric, name, text, None if bound is None else float(bound))


def _escape(value: str) -> str:
    return value.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")


def _write_kind(kind: Kind, sums: Mapping[str, float]) -> Iterator[str]:
    by_metric: defaultdict[str, list[tuple[_Series, float]]] = defaultdict(list)
    for key, value in sums.items():
        series = _parse(key)
        by_metric[series.metric].append((series, value))
    for metric in sorted(by_metric):
        spec = _SPECS[metric]
        head = spec.series[0] if kind is Kind.COUNTER else metric
        yield f"# HELP {head} {spec.text}\n# TYPE {head} {kind}\n"
        if kind is Kind.HISTOGRAM:
            yield from _write_histogram(metric, by_metric[metric])
        else:
            for series, value in by_metric[metric]:
                yield _line(series.name, series.labels, value)


def _write_histogram(metric: str, found: Iterable[tuple[_Series, float]]) -> Iterator[str]:
    buckets: defaultdict[str, dict[float, float]] = defaultdict(dict)
    totals: dict[str, float] = {}
    for series, value in found:
        if series.bound is None:
            totals[series.labels] = value
        else:
            buckets[series.labels][series.bound] = value
    for labels, counts in buckets.items():
        running = 0.0
        for bound in sorted(counts):
            running += counts[bound]
            le = f'le="{floatToGoString(bound)}"'  # type: ignore[no-untyped-call]
            yield _line(f"{metric}_bucket", f"{le},{labels}" if labels else le, running)
        yield _line(f"{metric}_count", labels, running)
        yield _line(f"{metric}_sum", labels, totals.get(labels, 0.0))


def _line(name: str, labels: str, value: float) -> str:
    return f"{name}{{{labels}}} {value!r}\n" if labels else f"{name} {value!r}\n"


def _add_up(files: Iterable[Path]) -> dict[str, float]:
    sums: defaultdict[str, float] = defaultdict(float)
    for file in files:
        # A live gauge's file goes with its process, also between the listing and the reading; a
        # killed process may leave its last entry half written.
        with suppress(FileNotFoundError, RuntimeError):
            for key, value, _, _ in MmapedDict.read_all_values_from_file(str(file)):  # type: ignore[no-untyped-call]
                sums[key] += value
    return sums


def _absorb(ended: Path, *, into: Path) -> None:
    if not ended.exists():
        return
    draft = into.with_suffix(".draft")
    draft.unlink(missing_ok=True)
    written = MmapedDict(str(draft))  # type: ignore[no-untyped-call]
    for key, value in _add_up((into, ended)).items():
        written.write_value(key, value, 0.0)  # type: ignore[no-untyped-call]
    written.close()  # type: ignore[no-untyped-call]
    # A master killed between these two is followed by one that empties the folder.
    draft.replace(into)
    ended.unlink()


@contextmanager
def _held(folder: Path, how: int) -> Iterator[None]:
    """Keep a scrape from seeing a process twice, or not at all, while it is absorbed."""
    descriptor = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, how)
        yield
    finally:
        os.close(descriptor)
