"""Draws the pages of local files, again when one of them has changed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from secrets import token_hex
from threading import Condition, Event, Lock, Thread
from typing import Any, Final

from watchfiles import Change, watch

from shared import clock
from workers.engine.diagnostics import Diagnostic
from workers.engine.layout.pictures import SUFFIXES
from workers.engine.local_files import Inputs
from workers.engine.ports import RenderOptions
from workers.engine.preview import PageFormat, Preview, PreviewOptions, preview

# Of templates, images and fonts, as `workers.engine.local_files` finds them.
_SUFFIXES: Final = frozenset((".xml", *SUFFIXES, ".ttf", ".otf", ".ttc", ".otc", ".woff", ".woff2"))
_QUIET_MS: Final = 50  # changes within it are one: editors write a file in several steps
_MOST_GROUPED_MS: Final = 500
_READY_MS: Final = 100  # without a change the library yields this long after a watch has begun


class FileWatcher:
    """Watches named files, and the templates, images and fonts in folders; their subfolders are not.

    Folders are watched rather than files, since most editors replace a file when they save it. Folders
    that are missing, or deleted later, are watched again as soon as they are there.
    """

    def __init__(self, files: Iterable[Path], folders: Iterable[Path] = ()) -> None:
        named = [path.absolute() for path in files]
        # A link is watched where it is, and where it leads to.
        self._files = {path.parent.resolve() / path.name for path in named}
        self._files |= {path.resolve() for path in named}
        self._folders = {folder.resolve() for folder in folders}
        self._watched = self._folders | {path.parent for path in self._files}
        self._ancestors = {parent for folder in self._watched for parent in folder.parents}
        self._changed = Condition()
        self._token = token_hex(4)  # a page of an earlier server has seen none of these revisions
        self._changes = 0
        self._failure: str | None = None
        self._ready, self._stop = Event(), Event()
        self._thread = Thread(target=self._run, name="file watcher", daemon=True)

    def start(self) -> None:
        """Start to watch; every change after the return is noticed.

        Raises:
            OSError: the operating system refuses, for instance as it watches too many folders already.
        """
        self._thread.start()
        self._ready.wait()
        if self._failure is not None:
            raise OSError(self._failure)

    def stop(self) -> None:
        """End the watch, and every wait for a change."""
        self._stop.set()
        self._announce()
        self._thread.join()

    @property
    def revision(self) -> str:
        """A text that differs after each change."""
        return f"{self._token}-{self._changes}"

    @property
    def failure(self) -> str | None:
        """Why changes are no longer noticed, None while they are."""
        return self._failure

    def wait_for_change(self, seen: str | None, timeout_seconds: float) -> None:
        """Return once the revision is not `seen`, the watch has ended, or the time has passed."""
        with self._changed:
            self._changed.wait_for(
                lambda: self.revision != seen or self._stop.is_set(), timeout_seconds
            )

    def _run(self) -> None:
        while not self._stop.is_set() and self._failure is None:
            try:
                self._watch_present_folders()
            except FileNotFoundError:  # a folder was deleted before its watch began
                continue
            except (OSError, RuntimeError) as error:
                self._failure = str(error)
                self._announce()
                self._ready.set()

    def _watch_present_folders(self) -> None:
        """Watch the folders that exist until one of them appears or goes."""
        present = self._find_present()
        # Their parents tell that a folder appears or goes, those of missing ones as far as they exist.
        above = {
            next((p for p in folder.parents if p.is_dir()), folder) for folder in self._watched
        }
        has_begun = False
        for changes in watch(
            *(present | above),
            watch_filter=self._is_relevant,
            debounce=_MOST_GROUPED_MS,
            step=_QUIET_MS,
            stop_event=self._stop,
            rust_timeout=_READY_MS,
            yield_on_timeout=True,
            raise_interrupt=False,
            recursive=False,
            ignore_permission_denied=True,
        ):
            if changes or not has_begun:  # at the beginning for changes since the last watch
                self._announce()
            has_begun = True
            self._ready.set()
            # A folder may have appeared or gone before its parent was watched.
            is_stale = self._find_present() != present
            if is_stale or any(self._is_folder_event(*each) for each in changes):
                return

    def _find_present(self) -> set[Path]:
        return {folder for folder in self._watched if folder.is_dir()}

    def _announce(self) -> None:
        with self._changed:
            self._changes += 1
            self._changed.notify_all()

    def _is_relevant(self, change: Change, name: str) -> bool:
        path = Path(name)
        return (
            path in self._files
            or (path.parent in self._folders and path.suffix in _SUFFIXES)
            or self._is_folder_event(change, name)
        )

    def _is_folder_event(self, change: Change, name: str) -> bool:
        path = Path(name)
        return change is not Change.modified and (path in self._watched or path in self._ancestors)


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
    written: dict[str, Any] = {"severity": diagnostic.severity.value, "message": diagnostic.text}
    location = diagnostic.location
    if location is not None and location.origin in inputs.texts:
        span = location.in_own_text.span
        path, _ = inputs.texts[location.origin]
        written |= {"file": path.name, "line": span.line_start, "column": span.column_start}
    return written
