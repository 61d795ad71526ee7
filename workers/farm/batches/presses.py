"""What a slice makes of its documents: PDFs one after the other, or one PDF of them all."""

from __future__ import annotations

import tempfile
import zlib
from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime
from io import BytesIO
from typing import BinaryIO, Final, Protocol, cast

from shared.batches.csv_rows import Fault
from shared.batches.records import Batch, Ended, Output, Place
from shared.clock import ticks
from shared.limits import MB
from shared.telemetry import metrics
from workers.engine.merged import MergedPart
from workers.engine.pipeline import PreparedTemplate
from workers.engine.ports import FontFile, ImageAwayError, RenderOptions, Resources, Stage
from workers.farm.batches.documents import to_payload
from workers.farm.remote import DocumentFullError
from workers.farm.run import Farm
from workers.farm.warnings import summarise

_SPOOL_BYTES: Final = 8 * MB  # a larger part waits on disk
_REMOTE_BYTES_KEPT: Final = 32 * MB  # of images at addresses, for the documents of a part


class Press(Protocol):
    """Takes documents one by one; `size` is roughly what it holds."""

    @property
    def size(self) -> int:
        """Give the number of bytes made so far, as far as known."""

    def add(self, index: int, document: bytes | Fault) -> Ended:
        """Render a document.

        Raises what the engine raises, and `ServiceError` for a document that is none.
        """

    def close(self) -> tuple[BinaryIO, int] | None:
        """Give what was made and its size, None when there is nothing."""

    def discard(self) -> None:
        """Let go of what was made."""


def open_press(batch: Batch, farm: Farm) -> Press:
    """Make the press of a batch's output.

    Raises:
        Unavailable: the database is away.
    """
    template = farm.templates.get(batch.pinned.sha256)
    if batch.output is Output.MERGED:
        return MergedPress(batch, farm, template)
    return FilePress(batch, farm, template)


class FilePress:
    """PDFs of their own, one after the other."""

    def __init__(self, batch: Batch, farm: Farm, template: PreparedTemplate) -> None:
        self._farm = farm
        self._template = template
        self._options = make_options(batch)
        self._surroundings = _Surroundings(farm, batch)
        self._file = tempfile.SpooledTemporaryFile(max_size=_SPOOL_BYTES)  # noqa: SIM115 - closed by whoever stores it
        self.size = 0

    def add(self, index: int, document: bytes | Fault) -> Ended:
        """Render a document; see `Press.add`."""
        payload = to_payload(document)
        self._surroundings.begin_document()
        rendered = self._farm.render(
            self._template,
            payload,
            options=self._options,
            resources=self._surroundings,
            watch=self._surroundings,
        )
        self._surroundings.end_document()
        place = Place(self.size, len(rendered.pdf), zlib.crc32(rendered.pdf))
        self._file.write(rendered.pdf)
        self.size += len(rendered.pdf)
        warnings = summarise(rendered.warnings, left_out=rendered.warnings_left_out)
        return Ended(index, rendered.pages, rendered.filename, place=place, warnings=warnings)

    def close(self) -> tuple[BinaryIO, int] | None:
        """Give what was made; see `Press.close`."""
        self._surroundings.tell_stages(self._farm)
        if not self.size:
            self.discard()
            return None
        self._file.seek(0)
        return cast("BinaryIO", self._file), self.size

    def discard(self) -> None:
        """Let go of what was made."""
        self._file.close()


class MergedPress:
    """One PDF of all documents; fonts and images are in it once."""

    def __init__(self, batch: Batch, farm: Farm, template: PreparedTemplate) -> None:
        self._farm = farm
        self._surroundings = _Surroundings(farm, batch)
        self._part = MergedPart(
            template,
            options=make_options(batch),
            resources=self._surroundings,
            watch=self._surroundings,
        )
        self.size = 0  # known at the end only

    def add(self, index: int, document: bytes | Fault) -> Ended:
        """Render a document into the PDF; see `Press.add`."""
        payload = to_payload(document)
        self._surroundings.begin_document()
        added = self._part.add(payload, name=f"Document {index + 1}")
        self._surroundings.end_document()
        warnings = summarise(added.warnings, left_out=added.warnings_left_out)
        return Ended(index, added.pages, added.filename, warnings=warnings)

    def close(self) -> tuple[BinaryIO, int] | None:
        """Give the PDF; see `Press.close`."""
        self._surroundings.tell_stages(self._farm)
        pdf = self._part.close()
        return None if pdf is None else (BytesIO(pdf), len(pdf))

    def discard(self) -> None:
        """Let go of what was made."""


class _Surroundings:
    """The engine's resources and watch for the documents of one part.

    A stored image is looked up once for all of them, which saves each a round trip to Redis, and an
    address is asked once, whatever came of it: a letterhead's server must not be called a hundred
    thousand times a night. The bounds on images at addresses are those of one document.
    """

    def __init__(self, farm: Farm, batch: Batch) -> None:
        self._images = farm.images
        self._batch = batch
        self._stored: Resources = self._make_resources()
        self._asked: dict[str, bytes | ImageAwayError | None] = {}
        self._room = _REMOTE_BYTES_KEPT
        self._seconds = defaultdict[Stage, list[float]](list)
        self.begin_document()

    def begin_document(self) -> None:
        self._remote: Resources | None = None
        self._entered: list[tuple[Stage, float]] = []

    def find_image(self, name: str) -> bytes | None:
        return self._stored.find_image(name)

    def find_remote_image(self, address: str) -> bytes | None:
        found = self._asked[address] if address in self._asked else self._ask(address)
        if isinstance(found, ImageAwayError):
            raise found
        return found

    def find_font(self, name: str) -> FontFile | None:
        return self._stored.find_font(name)

    def list_fonts(self) -> Sequence[str]:
        return self._stored.list_fonts()

    def _ask(self, address: str) -> bytes | ImageAwayError | None:
        self._remote = self._remote or self._make_resources()
        try:
            found = self._remote.find_remote_image(address)
        except DocumentFullError:
            raise
        except ImageAwayError as error:
            self._asked[address] = error
            return error
        if found is not None and len(found) <= self._room:
            self._room -= len(found)
            self._asked[address] = found
        return found

    def _make_resources(self) -> Resources:
        return self._images.of_account(self._batch.account_id, self._batch.workspace_id)

    def enter(self, stage: Stage) -> None:
        self._entered.append((stage, ticks()))

    def end_document(self) -> None:
        """Keep how long its stages took; those of a document that failed are not counted."""
        ended_at = ticks()
        for stage, entered_at in reversed(self._entered):
            self._seconds[stage].append(ended_at - entered_at)
            ended_at = entered_at

    def tell_stages(self, farm: Farm) -> None:
        """Count how long each stage of each document took."""
        for stage, seconds in self._seconds.items():
            farm.tally.observe_all(metrics.STAGE_SECONDS, seconds, stage.value)
        self._seconds.clear()


def make_options(batch: Batch) -> RenderOptions:
    """Give what the renders of a batch are told: the instant it was accepted, not of this run."""
    return RenderOptions(
        datetime.fromtimestamp(batch.created_at.timestamp(), UTC),
        is_draft=batch.is_draft,
        template_id=batch.pinned.template_id,
        template_version=batch.pinned.version,
        template_sha256=batch.pinned.sha256,
    )
