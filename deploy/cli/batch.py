"""`pressroom batch`: renders many documents on a farm, with progress; an interrupted run can be resumed."""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import time
import uuid
import zipfile
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any, Final, cast

from deploy.cli.output import CommandFailed, print_result, read_credentials
from pressroom_client import ApiError, Batch, Pressroom, PressroomError
from pressroom_client.client import find_batch_type
from pressroom_client.records import BatchOptions, Output

INTERRUPTED: Final = 130  # what shells expect after Ctrl-C
_SHOWN_ERRORS: Final = 20
_BAR: Final = 24
_SECONDS_BETWEEN_LINES: Final = 10.0
_GONE: Final = (404, 410)


def run_batch(arguments: argparse.Namespace) -> int:
    """Run a batch to its end; return 1 if a document failed, 130 if interrupted."""
    url, key = read_credentials(arguments)
    task = _Task.parse(arguments, url)
    farm = Pressroom(url, key)
    try:
        batch = _run(task, farm, Progress(sys.stderr.isatty()))
    except KeyboardInterrupt:
        print("\ninterrupted; repeat the command to resume", file=sys.stderr)
        return INTERRUPTED
    except PressroomError as error:
        hint = "" if getattr(error, "status", 0) in (401, 403) else "; repeat the command to resume"
        raise CommandFailed(f"{error}{hint}") from error
    except OSError as error:
        raise CommandFailed(
            f"{task.output} cannot be written: {error.strerror}; repeat the command to resume"
        ) from error
    _report(batch, task, farm, as_json=arguments.json)
    task.delete_state()
    return 1 if batch.failed or batch.status == "cancelled" else 0


@dataclass(frozen=True, slots=True)
class _State:
    """The state of an unfinished run, stored next to the output."""

    fingerprint: str
    idempotency_key: str
    batch_id: str | None = None


@dataclass(frozen=True, slots=True)
class _Task:
    template: str
    documents: Path
    output: Path
    is_folder: bool
    options: BatchOptions
    fingerprint: str

    @classmethod
    def parse(cls, arguments: argparse.Namespace, url: str) -> _Task:
        """Parse the arguments.

        Raises:
            CommandFailed: the documents cannot be read, or the output is of an unknown kind.
        """
        documents: Path = arguments.documents
        output = Path(arguments.output)
        is_folder = arguments.output.endswith("/") or output.is_dir()
        kinds: dict[str, Output] = {".zip": "zip", ".pdf": "merged"}
        if not is_folder and output.suffix.lower() not in kinds:
            raise CommandFailed(f"-o {arguments.output}: name a .zip, a .pdf, or a folder with a / "
                                "at its end")  # fmt: skip
        if arguments.plan is not None and not is_folder:
            raise CommandFailed(
                f"-o {arguments.output}: with --plan, name a folder with a / at its end"
            )
        try:
            find_batch_type(documents)
            with documents.open("rb") as file:
                content = hashlib.file_digest(file, "sha256").hexdigest()
        except ValueError as error:
            raise CommandFailed(str(error)) from error
        except OSError as error:
            raise CommandFailed(f"{documents} cannot be read: {error.strerror}") from error
        kind = "zip" if is_folder else kinds[output.suffix.lower()]
        if arguments.plan:
            kind = "merged"  # it is the plan that says what its files are
        names = [name for name in BatchOptions.__annotations__ if name in arguments]
        given = {name: getattr(arguments, name) for name in names}
        options = cast("BatchOptions", given | {"output": kind})
        asked = [url, arguments.template, options, content]
        fingerprint = hashlib.sha256(json.dumps(asked).encode()).hexdigest()
        return cls(arguments.template, documents, output, is_folder, options, fingerprint)

    @property
    def state_path(self) -> Path:
        """The file of the state."""
        return self.output.with_name(f".{self.output.name}.pressroom")

    def load_state(self) -> _State:
        """Return the state of an interrupted run of the same task, else a new one."""
        try:
            state = _State(**json.loads(self.state_path.read_bytes()))
        except (OSError, ValueError, TypeError):
            state = None
        if state is None or state.fingerprint != self.fingerprint:
            return _State(self.fingerprint, str(uuid.uuid4()))
        return state

    def save_state(self, state: _State) -> None:
        """Write the state atomically."""
        try:
            self.state_path.parent.mkdir(parents=True, exist_ok=True)
            partial = self.state_path.with_name(f"{self.state_path.name}.part")
            partial.write_text(json.dumps(asdict(state)))
            partial.replace(self.state_path)
        except OSError as error:
            raise CommandFailed(f"{self.state_path} cannot be written: {error.strerror}") from error

    def delete_state(self) -> None:
        """Delete the state of a finished task."""
        self.state_path.unlink(missing_ok=True)


def _run(task: _Task, farm: Pressroom, progress: Progress) -> Batch:
    batch = _resume_or_submit(task, farm)
    progress.show(batch)
    batch = farm.wait_batch(batch.id, progress=progress.show, every_seconds=progress.every_seconds)
    progress.end()
    if batch.error is not None:
        task.delete_state()  # the result never comes: the next command is a new batch
        raise CommandFailed(f"batch {batch.id} has no result: {batch.error['message']}")
    if batch.succeeded:
        _fetch(task, farm, batch, progress)
    return batch


def _resume_or_submit(task: _Task, farm: Pressroom) -> Batch:
    state = task.load_state()
    if state.batch_id is not None:
        try:
            return farm.batch(state.batch_id)
        except ApiError as error:
            if error.status not in _GONE:
                raise
            state = _State(task.fingerprint, str(uuid.uuid4()))  # expired: start again
    # Stored before the upload: only the farm knows whether an interrupted upload was accepted.
    task.save_state(state)
    options: BatchOptions = {**task.options, "idempotency_key": state.idempotency_key}
    batch = farm.submit_batch(task.template, task.documents, **options)
    task.save_state(replace(state, batch_id=batch.id))
    return batch


def _fetch(task: _Task, farm: Pressroom, batch: Batch, progress: Progress) -> None:
    if task.options["plan"] is not None:
        farm.save_run(batch.id, task.output, progress=progress.show_bytes)
        progress.end()
        return
    if not task.is_folder:
        farm.save_result(batch.id, task.output, progress=progress.show_bytes)
        progress.end()
        return
    task.output.mkdir(parents=True, exist_ok=True)
    archive = task.output / ".result.zip"
    try:
        farm.save_result(batch.id, archive, progress=progress.show_bytes)
        progress.end()
        unpack(archive, task.output)
    finally:
        archive.unlink(missing_ok=True)


def unpack(archive: Path, folder: Path) -> int:
    """Extract the files of an archive into a folder, and return their number.

    Raises:
        CommandFailed: a name in the archive is a path.
    """
    count = 0
    with zipfile.ZipFile(archive) as opened:
        for entry in opened.infolist():
            name = PurePosixPath(entry.filename)
            if len(name.parts) != 1 or name.parts[0] in ("..", "/") or "\\" in entry.filename:
                raise CommandFailed(f"the archive has an unsafe file name: {entry.filename!r}")
            partial = folder / f".{name.name}.part"
            with opened.open(entry) as source, partial.open("wb") as target:
                while chunk := source.read(256 * 1024):
                    target.write(chunk)
            partial.replace(folder / name.name)
            count += 1
    return count


def _report(batch: Batch, task: _Task, farm: Pressroom, *, as_json: bool) -> None:
    if batch.failed:
        _print_errors(batch, farm)
    result: dict[str, Any] = {
        "batch": batch.id,
        "status": batch.status,
        "documents": batch.total,
        "succeeded": batch.succeeded,
        "failed": batch.failed,
        "pages": batch.pages,
    }
    if batch.succeeded:
        result["output"] = str(task.output)
    print_result(result, as_json=as_json)


def _print_errors(batch: Batch, farm: Pressroom) -> None:
    for shown, item in enumerate(farm.items(batch.id, status="failed")):
        if shown == _SHOWN_ERRORS:
            print(f"… and {batch.failed - shown} more failed", file=sys.stderr)
            return
        message = (item.error or {}).get("message", "failed")
        print(f"document {item.index + 1}: {message}", file=sys.stderr)


class Progress:
    """Prints the progress: a bar on a terminal, a line every 10 seconds elsewhere."""

    def __init__(self, is_terminal: bool, now: Callable[[], float] = time.monotonic) -> None:
        self._is_terminal = is_terminal
        self._now = now
        self._started_at = now()
        self._first: int | None = None
        self._printed_at = -_SECONDS_BETWEEN_LINES
        self._is_open = False

    @property
    def every_seconds(self) -> float:
        """The seconds between updates."""
        return 1.0 if self._is_terminal else _SECONDS_BETWEEN_LINES

    def show(self, batch: Batch) -> None:
        """Print the progress of a batch."""
        if self._first is None:
            self._first = batch.ended
        share = batch.ended / batch.total if batch.total else 1.0
        seconds = max(self._now() - self._started_at, 0.001)
        rate = (batch.ended - self._first) / seconds
        parts = [f"{batch.ended:,}/{batch.total:,} documents", f"{share:4.0%}"]
        if rate > 0:
            left = (batch.total - batch.ended) / rate
            parts += [f"{rate:,.0f}/s", f"{int(left // 60)}:{int(left % 60):02} left"]
        if batch.failed:
            parts.append(f"{batch.failed:,} failed")
        filled = round(share * _BAR)
        bar = f"[{'#' * filled}{'.' * (_BAR - filled)}] " if self._is_terminal else ""
        self._print(bar + "  ".join(parts), is_last=batch.has_ended)

    def show_bytes(self, size: int) -> None:
        """Print the downloaded size of the result."""
        self._print(f"downloading the result: {size / 1024 / 1024:,.1f} MB")

    def end(self) -> None:
        """End the current line."""
        if self._is_open:
            print(file=sys.stderr)
        self._is_open = False
        self._printed_at = -_SECONDS_BETWEEN_LINES

    def _print(self, text: str, *, is_last: bool = False) -> None:
        if self._is_terminal:
            print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)
            self._is_open = True
        elif is_last or self._now() - self._printed_at >= _SECONDS_BETWEEN_LINES:
            print(text, file=sys.stderr, flush=True)
            self._printed_at = self._now()
