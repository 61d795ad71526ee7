"""`pressroom batch`: many documents through a farm, with progress, and resumed after an interruption."""

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
from typing import Any, Final

from deploy.cli.output import CommandFailed, Commands, add_json_option, print_result
from deploy.embedded.plan import operator_environment
from pressroom_client import ApiError, Batch, Pressroom, PressroomError
from pressroom_client.client import find_batch_type
from pressroom_client.records import Output

INTERRUPTED: Final = 130  # what shells expect after Ctrl-C
_SHOWN_ERRORS: Final = 20
_BAR: Final = 24
_SECONDS_BETWEEN_LINES: Final = 10.0
_GONE: Final = (404, 410)


def add_commands(commands: Commands) -> None:
    """Add `batch`."""
    parser = commands.add_parser(
        "batch",
        help="render many documents on a farm",
        description="Renders each line of an NDJSON file, or each row of a CSV file, into a template. "
        "Interrupted, the same command goes on where it was.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "template", metavar="TEMPLATE", help="id or slug, also with @version or @tag"
    )
    parser.add_argument("documents", type=Path, metavar="DATA.ndjson|DATA.csv")
    parser.add_argument(
        "-o",
        dest="output",
        required=True,
        metavar="OUT.zip|OUT.pdf|FOLDER/",
        help="a zip of PDFs, one merged PDF, or a folder for the PDFs",
    )
    parser.add_argument("--draft", action="store_true", help="against the draft allowance, marked")
    parser.add_argument("--url", help="the farm; PRESSROOM_URL unless given")
    parser.add_argument("--key", help="the API key; PRESSROOM_KEY unless given")
    add_json_option(parser)
    parser.set_defaults(run=run_batch)


def run_batch(arguments: argparse.Namespace) -> int:
    """Run a batch to its end; 1 when a document failed, 130 when interrupted."""
    environment = operator_environment()
    url = arguments.url or environment.get("PRESSROOM_URL")
    key = arguments.key or environment.get("PRESSROOM_KEY")
    if not (url and key):
        raise CommandFailed(
            "the farm is not named: give --url and --key, or set PRESSROOM_URL and PRESSROOM_KEY"
        )
    task = _Task.of(arguments, url)
    farm = Pressroom(url, key)
    try:
        batch = _run(task, farm, _Progress(sys.stderr.isatty()))
    except KeyboardInterrupt:
        print("\ninterrupted; the same command goes on where it was", file=sys.stderr)
        return INTERRUPTED
    except PressroomError as error:
        raise CommandFailed(f"{error}; the same command goes on where it was") from error
    _report(batch, task, farm, as_json=arguments.json)
    task.forget()
    return 1 if batch.failed or batch.status == "cancelled" else 0


@dataclass(frozen=True, slots=True)
class _State:
    """What a resumed command needs to know: it lies beside the output until that is there."""

    fingerprint: str
    idempotency_key: str
    batch_id: str | None = None


@dataclass(frozen=True, slots=True)
class _Task:
    template: str
    documents: Path
    output: Path
    kind: Output
    is_folder: bool
    draft: bool
    fingerprint: str

    @classmethod
    def of(cls, arguments: argparse.Namespace, url: str) -> _Task:
        """Read what is asked for.

        Raises:
            CommandFailed: the documents cannot be read, or the output is of no known kind.
        """
        documents: Path = arguments.documents
        output = Path(arguments.output)
        is_folder = arguments.output.endswith("/") or output.is_dir()
        kinds: dict[str, Output] = {".zip": "zip", ".pdf": "merged"}
        if not is_folder and output.suffix.lower() not in kinds:
            raise CommandFailed(f"-o {arguments.output}: name a .zip, a .pdf, or a folder with a / "
                                "at its end")  # fmt: skip
        try:
            find_batch_type(documents)
            with documents.open("rb") as file:
                content = hashlib.file_digest(file, "sha256").hexdigest()
        except ValueError as error:
            raise CommandFailed(str(error)) from error
        except OSError as error:
            raise CommandFailed(f"{documents} cannot be read: {error.strerror}") from error
        kind = "zip" if is_folder else kinds[output.suffix.lower()]
        asked = [url, arguments.template, kind, arguments.draft, content]
        fingerprint = hashlib.sha256(json.dumps(asked).encode()).hexdigest()
        return cls(
            arguments.template, documents, output, kind, is_folder, arguments.draft, fingerprint
        )

    @property
    def note(self) -> Path:
        """Name the file that keeps the state."""
        return self.output.with_name(f".{self.output.name}.pressroom")

    def load(self) -> _State:
        """Give the state of an interrupted run of the same task, else a fresh one."""
        try:
            state = _State(**json.loads(self.note.read_bytes()))
        except (OSError, ValueError, TypeError):
            state = None
        if state is None or state.fingerprint != self.fingerprint:
            return _State(self.fingerprint, str(uuid.uuid4()))
        return state

    def save(self, state: _State) -> None:
        """Write the state, whole or not at all."""
        try:
            self.note.parent.mkdir(parents=True, exist_ok=True)
            partial = self.note.with_name(f"{self.note.name}.part")
            partial.write_text(json.dumps(asdict(state)))
            partial.replace(self.note)
        except OSError as error:
            raise CommandFailed(f"{self.note} cannot be written: {error.strerror}") from error

    def forget(self) -> None:
        """Remove the state: the task is done."""
        self.note.unlink(missing_ok=True)


def _run(task: _Task, farm: Pressroom, progress: _Progress) -> Batch:
    batch = _find_or_submit(task, farm)
    progress.show(batch)
    batch = farm.wait_batch(batch.id, progress=progress.show, every_seconds=progress.every_seconds)
    progress.end()
    if batch.succeeded:
        _fetch(task, farm, batch, progress)
    return batch


def _find_or_submit(task: _Task, farm: Pressroom) -> Batch:
    state = task.load()
    if state.batch_id is not None:
        try:
            return farm.batch(state.batch_id)
        except ApiError as error:
            if error.status not in _GONE:
                raise
            state = _State(task.fingerprint, str(uuid.uuid4()))  # expired: begin anew
    # Written before the upload: whether an interrupted one was accepted is the farm's to know.
    task.save(state)
    batch = farm.submit_batch(
        task.template,
        task.documents,
        output=task.kind,
        draft=task.draft,
        idempotency_key=state.idempotency_key,
    )
    task.save(replace(state, batch_id=batch.id))
    return batch


def _fetch(task: _Task, farm: Pressroom, batch: Batch, progress: _Progress) -> None:
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
    """Unpack the files of an archive into a folder, whatever paths it has; gives their number.

    Raises:
        CommandFailed: a name in it leads out of the folder.
    """
    count = 0
    with zipfile.ZipFile(archive) as opened:
        for entry in opened.infolist():
            name = PurePosixPath(entry.filename)
            if len(name.parts) != 1 or name.parts[0] in ("..", "/") or "\\" in entry.filename:
                raise CommandFailed(f"the archive has a name that is no file's: {entry.filename!r}")
            partial = folder / f".{name.name}.part"
            with opened.open(entry) as source, partial.open("wb") as target:
                while piece := source.read(256 * 1024):
                    target.write(piece)
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


class _Progress:
    """Tells how far it is: a bar that is drawn over on a terminal, a line now and then elsewhere."""

    def __init__(self, is_terminal: bool, now: Callable[[], float] = time.monotonic) -> None:
        self._is_terminal = is_terminal
        self._now = now
        self._begun_at = now()
        self._first: int | None = None
        self._said_at = -_SECONDS_BETWEEN_LINES
        self._is_open = False

    @property
    def every_seconds(self) -> float:
        """Give how often there is something to show."""
        return 1.0 if self._is_terminal else _SECONDS_BETWEEN_LINES

    def show(self, batch: Batch) -> None:
        """Show a batch as it is."""
        if self._first is None:
            self._first = batch.ended
        share = batch.ended / batch.total if batch.total else 1.0
        seconds = max(self._now() - self._begun_at, 0.001)
        rate = (batch.ended - self._first) / seconds
        parts = [f"{batch.ended:,}/{batch.total:,} documents", f"{share:4.0%}"]
        if rate > 0:
            left = (batch.total - batch.ended) / rate
            parts += [f"{rate:,.0f}/s", f"{int(left // 60)}:{int(left % 60):02} left"]
        if batch.failed:
            parts.append(f"{batch.failed:,} failed")
        filled = round(share * _BAR)
        bar = f"[{'#' * filled}{'.' * (_BAR - filled)}] " if self._is_terminal else ""
        self._say(bar + "  ".join(parts), is_last=batch.has_ended)

    def show_bytes(self, size: int) -> None:
        """Show how much of the result was fetched."""
        self._say(f"fetching the result: {size / 1024 / 1024:,.1f} MB")

    def end(self) -> None:
        """Leave the line that was drawn."""
        if self._is_open:
            print(file=sys.stderr)
        self._is_open = False
        self._said_at = -_SECONDS_BETWEEN_LINES

    def _say(self, text: str, *, is_last: bool = False) -> None:
        if self._is_terminal:
            print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)
            self._is_open = True
        elif is_last or self._now() - self._said_at >= _SECONDS_BETWEEN_LINES:
            print(text, file=sys.stderr, flush=True)
            self._said_at = self._now()
