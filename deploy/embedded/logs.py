"""The log files of the farm's processes: new lines as they are written, and the most recent errors."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final


@dataclass(slots=True)
class _FollowedFile:
    name: str
    path: Path
    position: int


class LogTail:
    """Reports new lines of log files, prefixed with the name of the process."""

    def __init__(self, report: Callable[[str], None]) -> None:
        self._report = report
        self._files: list[_FollowedFile] = []

    def follow(self, name: str, path: Path) -> None:
        """Follow a file from its current end."""
        self._files.append(_FollowedFile(name, path, path.stat().st_size if path.exists() else 0))

    def show(self) -> None:
        """Report the complete lines that were added since the last call."""
        for followed in self._files:
            for line in _new_lines(followed):
                self._report(f"{followed.name:8}| {line}")


def last_lines(path: Path, *, count: int = 15) -> list[str]:
    """Return the last lines of a file, none if it does not exist."""
    if not path.exists():
        return []
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - 16_384))
        return file.read().decode("utf-8", "replace").splitlines()[-count:]


def _new_lines(followed: _FollowedFile) -> list[str]:
    if not followed.path.exists():
        return []
    with followed.path.open("rb") as file:
        file.seek(followed.position)
        added = file.read()
    whole = added[: added.rfind(b"\n") + 1]
    followed.position += len(whole)
    return whole.decode("utf-8", "replace").splitlines()


# The end of each log that is read: some thousand lines.
_TAIL_BYTES: Final = 1024 * 1024
_LEVELS: Final = ("error", "critical")
_TEXT_LINE: Final = re.compile(
    r"(?P<at>\d{4}-\d{2}-\d{2}T\S+) \[(?P<level>error|critical) *\] (?P<event>.*?) {2,}"
)
_COLOURS: Final = re.compile(r"\x1b\[[0-9;]*m")


@dataclass(frozen=True, slots=True)
class LoggedError:
    """An error line of a process's log."""

    at: str
    process: str
    event: str
    cause: str | None
    job_id: str | None
    request_id: str | None


def find_errors(logs: Path, *, count: int) -> list[LoggedError]:
    """Return the most recent errors of all processes, newest last."""
    found = [error for log in sorted(logs.glob("*.log")) for error in _errors_of(log)]
    return sorted(found, key=lambda error: error.at)[-count:]


def _errors_of(log: Path) -> Iterator[LoggedError]:
    with log.open("rb") as file:
        file.seek(max(log.stat().st_size - _TAIL_BYTES, 0))
        text = file.read().decode("utf-8", "replace")
    for line in text.splitlines():
        if any(level in line for level in _LEVELS) and (found := _read(line, log.stem)):
            yield found


def _read(line: str, process: str) -> LoggedError | None:
    if not line.startswith("{"):
        written = _TEXT_LINE.match(_COLOURS.sub("", line) + "  ")
        if written is None:
            return None
        return LoggedError(written["at"], process, written["event"], None, None, None)
    try:
        entry: dict[str, Any] = json.loads(line)
    except ValueError:
        return None
    if entry.get("level") not in _LEVELS:
        return None
    return LoggedError(
        at=str(entry.get("timestamp", "")),
        process=process,
        event=str(entry.get("event", "")),
        cause=_cause(entry),
        job_id=entry.get("job_id") or entry.get("job"),
        request_id=entry.get("request_id"),
    )


def _cause(entry: dict[str, Any]) -> str | None:
    if cause := entry.get("cause"):
        return str(cause)
    lines = str(entry.get("exception", "")).strip().splitlines()
    return lines[-1] if lines else None
