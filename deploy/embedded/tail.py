"""Follows the log files of the farm's processes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


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
