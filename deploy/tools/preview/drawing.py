"""Draws the pages of local files, again when one of them has changed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from threading import Event, Lock
from typing import Any, Final

from shared import clock
from workers.engine.diagnostics import Diagnostic
from workers.engine.layout.pictures import SUFFIXES
from workers.engine.local_files import InputError, Inputs
from workers.engine.ports import RenderOptions
from workers.engine.preview import PageFormat, Preview, PreviewOptions, preview

# Of templates, images and fonts, as `workers.engine.local_files` finds them.
_SUFFIXES: Final = frozenset((".xml", *SUFFIXES, ".ttf", ".otf", ".ttc", ".otc", ".woff", ".woff2"))
_LOOK_SECONDS: Final = 0.2
_MOST_BUSY: Final = 20  # a look is a twentieth of the time at most, however many files there are


class WatchedFiles:
    """Named files, and the templates, images and fonts in folders; not those in their subfolders.

    They are looked at while a page waits, which also notices changes on network folders and in files that an
    editor replaces, and folders that are made again.
    """

    def __init__(self, files: Iterable[Path], folders: Iterable[Path] = ()) -> None:
        self._files, self._folders = tuple(files), tuple(folders)
        self._stop = Event()

    def stop(self) -> None:
        """End every wait for a change."""
        self._stop.set()

    @property
    def revision(self) -> str:
        """A text that differs after each change."""
        return sha256(repr(sorted(self._read_states())).encode()).hexdigest()[:24]

    def wait_for_change(self, seen: str | None, timeout_seconds: float) -> None:
        """Return once the revision is not `seen`, the watch has ended, or the time has passed."""
        give_up_at = clock.ticks() + timeout_seconds
        while (began := clock.ticks()) < give_up_at and self.revision == seen:
            if self._stop.wait(max(_LOOK_SECONDS, (clock.ticks() - began) * _MOST_BUSY)):
                return

    def _read_states(self) -> Iterator[tuple[str, int, int, int]]:
        for path in self._files:
            with suppress(OSError):  # it is missing at present
                yield _read_state(path)
        for folder in self._folders:
            with suppress(OSError):
                for path in folder.iterdir():
                    if path.suffix in _SUFFIXES:
                        yield _read_state(path)


def _read_state(path: Path) -> tuple[str, int, int, int]:
    """Return what of a file differs after a change, also one that keeps its size."""
    state = path.stat()
    return str(path), state.st_mtime_ns, state.st_size, state.st_ino


MAX_KEPT: Final = 200  # drawn pages of one state of the files


@dataclass(slots=True)
class _State:
    """One state of the files, with what has been drawn of it."""

    revision: str
    inputs: Inputs | None
    error: str | None
    drawn: dict[tuple[int, float], Preview] = field(default_factory=dict)


class LocalPages:
    """The pages of local files. Thread-safe; one page is drawn at a time.

    `load` reads the files; it raises `InputError`, which the page shows.
    """

    def __init__(self, load: Callable[[], Inputs], files: WatchedFiles) -> None:
        self.files = files
        self._load = load
        self._lock = Lock()
        self._state: _State | None = None

    def describe(self) -> Mapping[str, Any]:
        """Return the revision, the number of pages, and the findings, as JSON."""
        with self._lock:
            state = self._read()
            if state.inputs is None:
                pages, findings = 0, [_write_error(state.error)]
            else:
                found = self._draw(state, 1, 1.0)
                pages = found.pages
                findings = [_write_finding(each, state.inputs) for each in found.findings]
        return {"revision": state.revision, "pages": pages, "findings": findings}

    def draw_page(self, page: int, scale: float) -> bytes | None:
        """Return a page as PNG, None if there is no such page."""
        with self._lock:
            state = self._read()
            found = self._draw(state, page, scale) if state.inputs is not None else None
            shown = None if found is None else found.page
            return shown.data if shown is not None and shown.page == page else None

    def _read(self) -> _State:
        # Before the files are read, so that a change meanwhile has another revision.
        revision = self.files.revision
        if self._state is None or self._state.revision != revision:
            try:
                self._state = _State(revision, self._load(), None)
            except InputError as error:
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


def _write_error(message: str | None) -> dict[str, Any]:
    return {"severity": "error", "message": message}


def _write_finding(diagnostic: Diagnostic, inputs: Inputs) -> dict[str, Any]:
    written: dict[str, Any] = {"severity": diagnostic.severity.value, "message": diagnostic.text}
    location = diagnostic.location
    if location is not None and location.origin in inputs.texts:
        span = location.in_own_text.span
        path, _ = inputs.texts[location.origin]
        written |= {"file": path.name, "line": span.line_start, "column": span.column_start}
    return written
