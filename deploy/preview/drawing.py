"""Draws the pages of local files, again when one of them has changed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import islice
from pathlib import Path
from threading import Lock
from typing import Any, Final

from deploy.cli.output import CommandFailed
from shared import clock
from workers.engine.cli import Inputs
from workers.engine.diagnostics import Diagnostic
from workers.engine.ports import RenderOptions
from workers.engine.preview import PageFormat, Preview, PreviewOptions, preview

MAX_WATCHED: Final = 5_000  # files of the given folders; further ones are not noticed
# Of templates, images and fonts, as `workers.engine.cli` finds them.
_SUFFIXES: Final = frozenset(
    (".xml", ".png", ".jpg", ".jpeg", ".webp", ".svg", ".ttf", ".otf", ".ttc", ".otc", ".woff2")
)
MAX_KEPT: Final = 200  # drawn pages of one state of the files


@dataclass(frozen=True, slots=True)
class PreviewInputs:
    """The inputs of a preview: a function that reads the files, and the files and folders to watch."""

    load: Callable[[], Inputs]
    files: tuple[Path, ...]
    folders: tuple[Path, ...] = ()


@dataclass(slots=True)
class _State:
    """One state of the files, with what has been drawn of it."""

    revision: str
    inputs: Inputs | None
    error: str | None
    drawn: dict[tuple[int, float], Preview] = field(default_factory=dict)


class LocalPages:
    """The pages of local files. Thread-safe; one page is drawn at a time."""

    def __init__(self, inputs: PreviewInputs) -> None:
        self._inputs = inputs
        self._lock = Lock()
        self._state: _State | None = None

    def find_revision(self) -> str:
        """Return the digest of names, sizes and times of the files."""
        digest = sha256()
        for path in sorted(islice(self._list_files(), MAX_WATCHED)):
            try:
                found = path.stat()
                text = f"{path}\0{found.st_size}\0{found.st_mtime_ns}\0"
            except OSError:  # deleted, or replaced at this moment
                text = f"{path}\0absent\0"
            digest.update(text.encode("utf-8", "surrogateescape"))
        return digest.hexdigest()[:16]

    def describe(self) -> Mapping[str, Any]:
        """Return the revision, the number of pages, and the findings, as JSON."""
        with self._lock:
            state = self._read()
            if state.inputs is None:
                finding = {"severity": "error", "message": state.error}
                return {"revision": state.revision, "pages": 0, "findings": [finding]}
            found = self._draw(state, 1, 1.0)
            findings = [_write_finding(each, state.inputs) for each in found.findings]
            return {"revision": state.revision, "pages": found.pages, "findings": findings}

    def draw_page(self, page: int, scale: float) -> bytes | None:
        """Return a page as PNG, None if there is no such page."""
        with self._lock:
            state = self._read()
            found = self._draw(state, page, scale) if state.inputs is not None else None
            shown = None if found is None else found.page
            return shown.data if shown is not None and shown.page == page else None

    def _read(self) -> _State:
        revision = self.find_revision()
        if self._state is None or self._state.revision != revision:
            try:
                self._state = _State(revision, self._inputs.load(), None)
            except CommandFailed as error:
                self._state = _State(revision, None, str(error))
        return self._state

    def _draw(self, state: _State, page: int, scale: float) -> Preview:
        assert state.inputs is not None, "the inputs could be read"
        key = (page, scale)
        if key not in state.drawn:
            if len(state.drawn) >= MAX_KEPT:
                state.drawn.clear()
            state.drawn[key] = preview(
                state.inputs.template,
                state.inputs.payload,
                options=RenderOptions(now=clock.now()),
                preview_options=PreviewOptions(page, scale, PageFormat.PNG),
                resources=state.inputs.resources,
            )
        return state.drawn[key]

    def _list_files(self) -> Iterator[Path]:
        yield from self._inputs.files
        for folder in self._inputs.folders:
            yield from _list_folder(folder)


def _list_folder(folder: Path) -> Iterable[Path]:
    try:
        listed = (path for path in folder.iterdir() if path.suffix in _SUFFIXES)
        return [path for path in islice(listed, MAX_WATCHED) if path.is_file()]
    except OSError:
        return ()


def _write_finding(diagnostic: Diagnostic, inputs: Inputs) -> dict[str, Any]:
    written: dict[str, Any] = {
        "severity": diagnostic.severity.value,
        "message": diagnostic.text,
    }
    location = diagnostic.location
    if location is not None and location.origin in inputs.texts:
        span = location.in_own_text.span
        path, _ = inputs.texts[location.origin]
        written |= {"file": path.name, "line": span.line_start, "column": span.column_start}
    return written
