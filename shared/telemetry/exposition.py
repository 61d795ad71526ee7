"""Prometheus exposition of the front: sums the metric files of its processes and merges those of ended ones."""

from __future__ import annotations

import fcntl
import json
import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple

from prometheus_client.utils import floatToGoString

from shared.telemetry import metrics
from shared.telemetry.metrics import Kind, Spec
from shared.telemetry.value_files import read_values, value_file_name, write_values

_ENDED: Final = "ended"  # in file names instead of a process id
_FILES: Final = value_file_name("*")
_SPECS: Final[Mapping[str, Spec]] = {spec.full_name: spec for spec in metrics.ALL}


def clear_metrics_dir(metrics_dir: str) -> None:
    """Empty the metrics folder; called by the front's master process before it forks.

    Errors are ignored: a front without the folder counts in memory.
    """
    folder = Path(metrics_dir)
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        for path in folder.iterdir():
            if not path.is_dir():
                path.unlink()


def forget_process(pid: int, metrics_dir: str) -> None:
    """Drop the gauges of an ended front process and keep its counters.

    The counters of all ended processes are merged into one file, so that a scrape reads one file for each
    running process: 512 files took 148 ms (queueing.md 6). If there is no space for that file, the
    counters stay in their own until the next process ends.
    """
    folder = Path(metrics_dir)
    with _held(folder, fcntl.LOCK_EX), suppress(OSError):
        (folder / value_file_name(pid)).replace(folder / value_file_name(f"{_ENDED}-{pid}"))
        _absorb(
            sorted(folder.glob(value_file_name(f"{_ENDED}*"))),
            into=folder / value_file_name(_ENDED),
        )


def write_text(
    folder: Path | None, specs: Sequence[Spec], *, in_memory: Mapping[str, float]
) -> str:
    """Return the sums over all files and this process's memory in the Prometheus text format."""
    sums: defaultdict[str, float] = defaultdict(float, in_memory)
    if folder is not None:
        with _held(folder, fcntl.LOCK_SH):
            _add_up(sorted(folder.glob(_FILES)), sums)
    by_metric: defaultdict[str, list[tuple[_Series, float]]] = defaultdict(list)
    for key, value in sums.items():
        series = _parse(key)
        by_metric[series.metric].append((series, value))
    return "".join(
        line for spec in specs for line in _write_metric(spec, by_metric[spec.full_name])
    )


class _Series(NamedTuple):
    """A parsed key: metric, series name, labels as text, and the bound of a bucket."""

    metric: str
    name: str
    labels: str
    bound: float | None


@lru_cache(maxsize=50_000)  # bounded by the number of series, whose labels come from closed sets
def _parse(key: str) -> _Series:
    metric, name, labels = json.loads(key)
    bound = labels.pop("le", None)
    text = ",".join(f'{label}="{_escape(labels[label])}"' for label in sorted(labels))
    return _Series(metric, name, text, None if bound is None else float(bound))


def _escape(value: str) -> str:
    return value.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")


def _write_metric(spec: Spec, found: Iterable[tuple[_Series, float]]) -> Iterator[str]:
    head = spec.series[0] if spec.kind is Kind.COUNTER else spec.full_name
    yield f"# HELP {head} {spec.text}\n# TYPE {head} {spec.kind}\n"
    if spec.kind is Kind.HISTOGRAM:
        yield from _write_histogram(spec.full_name, found)
    else:
        for series, value in found:
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


def _add_up(files: Iterable[Path], sums: defaultdict[str, float]) -> None:
    for file in files:
        has_ended = file.name.startswith(_ENDED)
        # A file may be removed between listing and reading.
        with suppress(FileNotFoundError):
            for key, value in read_values(file):
                if not (has_ended and _is_live(key)):
                    sums[key] += value


def _is_live(key: str) -> bool:
    return _SPECS[_parse(key).metric].kind is Kind.GAUGE


def _absorb(ended: Sequence[Path], *, into: Path) -> None:
    sums: defaultdict[str, float] = defaultdict(float)
    _add_up(ended, sums)
    draft = into.with_suffix(".draft")
    try:
        write_values(draft, sums)
    except OSError:
        draft.unlink(missing_ok=True)
        raise
    # If the master is killed between these two steps, its successor empties the folder.
    draft.replace(into)
    for file in ended:
        if file != into:
            file.unlink()


@contextmanager
def _held(folder: Path, how: int) -> Iterator[None]:
    """Lock the folder, so that a scrape sees each process exactly once while files are merged."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except (FileNotFoundError, NotADirectoryError):  # there is nothing to read
        yield
        return
    try:
        fcntl.flock(descriptor, how)
        yield
    finally:
        os.close(descriptor)
