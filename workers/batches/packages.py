"""The ZIPs of a run: a PDF for each set, the index of their documents, and the digests of all of them."""

from __future__ import annotations

import shutil
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, Final, cast

from msgspec.structs import replace

from shared.batches.plans import Plan, RunFile, RunSet
from shared.batches.records import Batch
from shared.batches.runs import INDEX_NUMBER, RunItem, write_index
from shared.zip_files import ZipWriter
from workers.batches.writers import make_options, read_plan_marks
from workers.engine.finish.merging import Placement
from workers.engine.merged_pdf import sort_parts

_DIGESTS: Final = "manifest-sha256.txt"  # which sha256sum -c reads


@dataclass(frozen=True, slots=True)
class Packages:
    """Writes ZIPs of a run, from `gathered`, in which the parts of documents follow each other.

    `starts` are the offsets of parts by their first document, and `part` is overwritten.
    """

    batch: Batch
    plan: Plan
    part: BinaryIO
    gathered: BinaryIO
    starts: Mapping[int, int]
    places: Mapping[int, Placement]

    def write(self, out: BinaryIO, number: int, file: RunFile) -> None:
        """Write the file of a number; a proof and a reprint have no index."""
        archive, digests = ZipWriter(), bytearray()

        def add(name: str, content: bytes) -> None:
            nonlocal digests
            crc32 = zlib.crc32(content)
            out.writelines(archive.write(name, [content], size=len(content), crc32=crc32))
            digests += f"{sha256(content).hexdigest()}  {name}\n".encode()

        for each in file.sets:
            add(cast("RunItem", each.documents[0]).entry, self._read_set(each))
        if number > INDEX_NUMBER:
            index = BytesIO()
            before = self.places[file.documents[0].index].number - 1
            items = cast("list[RunItem]", file.documents)
            write_index(
                index, self.batch, self.plan, [file], items, first_file=number, sets_before=before
            )
            add(f"index.{self.plan.index}", index.getvalue())
        add(_DIGESTS, bytes(digests))
        out.write(archive.close())

    def _read_set(self, each: RunSet) -> bytes:
        pdfs = (self._read(cast("RunItem", document)) for document in each.documents)
        if not self.plan.has_sheets:
            return next(pdfs)
        placed = ([replace(self.places[one.index], file=0)] for one in each.documents)
        out = BytesIO()
        sort_parts(
            ((fill(self.part, BytesIO(pdf)), own) for pdf, own in zip(pdfs, placed, strict=True)),
            [out],
            options=make_options(self.batch),
            is_duplex=self.plan.duplex,
            marks=read_plan_marks(self.plan),
        )
        return out.getvalue()

    def _read(self, item: RunItem) -> bytes:
        assert item.own is not None, "a document that succeeded has a place in its part"
        self.gathered.seek(self.starts[item.part_first_index] + item.own.offset)
        return self.gathered.read(item.own.length)


def fill(file: BinaryIO, stream: BinaryIO) -> Path:
    """Write a part in place of the one before it, and return its path."""
    file.seek(0)
    file.truncate()
    shutil.copyfileobj(stream, file, 256 * 1024)
    file.flush()
    return Path(f"/proc/self/fd/{file.fileno()}")
