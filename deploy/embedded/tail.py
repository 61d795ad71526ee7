"""Show what the farm's processes write to their log files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(slots=True)
class _Followed:
    name: str
    path: Path
    position: int


class LogTail:
    """Passes new lines of log files on, each with the name of the process before it."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._files: list[_Followed] = []

    def follow(self, name: str, path: Path) -> None:
        """Show what is added to `path` from now on."""
        self._files.append(_Followed(name, path, path.stat().st_size if path.exists() else 0))

    def show(self) -> None:
        """Pass on the whole lines that were added since the last call."""
        for followed in self._files:
            for line in _new_lines(followed):
                self._say(f"{followed.name:8}| {line}")


def last_lines(path: Path, *, count: int = 15) -> list[str]:
    """Give the last lines of a file, none when there is no file."""
    if not path.exists():
        return []
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - 16_384))
        return file.read().decode("utf-8", "replace").splitlines()[-count:]


def _new_lines(followed: _Followed) -> list[str]:
    if not followed.path.exists():
        return []
    with followed.path.open("rb") as file:
        file.seek(followed.position)
        added = file.read()
    whole = added[: added.rfind(b"\n") + 1]
    followed.position += len(whole)
    return whole.decode("utf-8", "replace").splitlines()
