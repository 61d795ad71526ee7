"""Draws the pages of local files, again when one of them has changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Final

from deploy.tools.preview.watching import FileWatcher
from shared import clock
from workers.engine.cli import Inputs
from workers.engine.diagnostics import Diagnostic
from workers.engine.ports import RenderOptions
from workers.engine.preview import PageFormat, Preview, PreviewOptions, preview

MAX_KEPT: Final = 200  # drawn pages of one state of the files


class UnreadableInputsError(Exception):
    """The files cannot be read or combined; the message has the reason."""


@dataclass(slots=True)
class _State:
    """One state of the files, with what has been drawn of it."""

    revision: str
    inputs: Inputs | None
    error: str | None
    drawn: dict[tuple[int, float], Preview] = field(default_factory=dict)


class LocalPages:
    """The pages of local files. Thread-safe; one page is drawn at a time.

    `load` reads the files; it raises `UnreadableInputsError`, which the page shows.
    """

    def __init__(self, load: Callable[[], Inputs], watcher: FileWatcher) -> None:
        self.watcher = watcher
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
        if self.watcher.failure is not None:
            message = f"Changes of files are no longer noticed: {self.watcher.failure}"
            findings = [_write_error(message), *findings]
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
        revision = self.watcher.revision
        if self._state is None or self._state.revision != revision:
            try:
                self._state = _State(revision, self._load(), None)
            except UnreadableInputsError as error:
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
