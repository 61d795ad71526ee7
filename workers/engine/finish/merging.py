"""Merging of PDFs in a single pass, with equal fonts and images written once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO, Final

import pikepdf

from workers.engine.finish.metadata import write_document_information, write_xmp_packet
from workers.engine.pdf_writer import ObjectWriter
from workers.engine.ports import Metadata

# Matches strings, to skip their content, and references in the output of qpdf.
_REFERENCE: Final = re.compile(rb"\((?:[^\\()]|\\.)*\)|<[0-9A-Fa-f]*>|\b(\d+) (\d+) R\b", re.DOTALL)


def merge_parts(parts: Iterable[Path], out: BinaryIO, metadata: Metadata) -> int:
    """Write the pages of all parts as one PDF and return their number.

    A part is a PDF made by `workers.engine.merged_pdf`. One part at a time is open. Equal resources of
    pages (fonts, images, groups) are written once. The outlines of the parts are concatenated.

    Raises:
        ValueError: there is no part, or a part has no page.
    """
    return _PdfMerger(ObjectWriter(out)).join(parts, metadata)


class _PdfMerger:
    def __init__(self, writer: ObjectWriter) -> None:
        self._writer = writer
        self._catalog = writer.reserve()
        self._pages = writer.reserve()
        self._outline = writer.reserve()
        self._kids: list[bytes] = []
        self._kept: dict[bytes, int] = {}  # object numbers of resources by digest
        self._page_count = 0
        self._entry_count = 0
        self._first_entry = 0
        self._last_entry: tuple[int, bytes] | None = None  # written once its next sibling is known

    def join(self, parts: Iterable[Path], metadata: Metadata) -> int:
        for part in parts:
            with pikepdf.open(part) as opened:
                self._add(opened)
        if not self._kids:
            raise ValueError("no parts to merge")
        self._close(metadata)
        return self._page_count

    def _add(self, part: pikepdf.Pdf) -> None:
        pages = [page.obj for page in part.pages]
        if not pages:
            raise ValueError("a part without pages")
        node = self._writer.reserve()
        copy = _PartCopier(part, self._writer, self._kept)
        copy.map_object(part.Root.Pages, node)
        for page in pages:
            _remove_defaults(page)
            copy.deduplicate_resources(page.get("/Resources"))
        self._add_entries(part, copy)
        numbers = [copy.number_of(page) for page in pages]
        copy.finish()
        kids = b" ".join(b"%d 0 R" % number for number in numbers)
        self._writer.write_object(
            node,
            b"<< /Type /Pages /Parent %d 0 R /Count %d /Kids [%b] >>"
            % (self._pages, len(pages), kids),
        )
        self._kids.append(b"%d 0 R" % node)
        self._page_count += len(pages)

    def _add_entries(self, part: pikepdf.Pdf, copy: _PartCopier) -> None:
        root = part.Root.get("/Outlines")
        entries = [] if root is None else list(_siblings(root))
        if root is None or not entries:
            return
        copy.map_object(root, self._outline)
        first, last = copy.number_of(entries[0]), copy.number_of(entries[-1])
        before = self._last_entry
        if before is None:
            self._first_entry = first
        else:
            self._writer.write_object(before[0], _with_entry(before[1], b"/Next %d 0 R" % first))
            copy.add_entry(entries[0], b"/Prev %d 0 R" % before[0])
        self._last_entry = last, copy.defer_object(entries[-1])
        self._entry_count += len(entries)

    def _close(self, metadata: Metadata) -> None:
        writer = self._writer
        outline = b""
        if self._last_entry is not None:
            writer.write_object(*self._last_entry)
            outline = b" /Outlines %d 0 R /PageMode /UseOutlines" % self._outline
        writer.write_object(
            self._outline,
            b"<< /First %d 0 R /Last %d 0 R /Count %d >>"
            % (self._first_entry, self._last_entry[0], self._entry_count)
            if self._last_entry is not None
            else b"null",
        )
        writer.write_object(
            self._pages,
            b"<< /Type /Pages /Count %d /Kids [%b] >>" % (self._page_count, b" ".join(self._kids)),
        )
        packet = writer.reserve()
        writer.write_stream(packet, b"/Type /Metadata /Subtype /XML", write_xmp_packet(metadata))
        writer.write_object(
            self._catalog,
            b"<< /Type /Catalog /Pages %d 0 R /Metadata %d 0 R /Lang %b%b >>"
            % (self._pages, packet, pikepdf.String(metadata.lang).unparse(), outline),
        )
        information = writer.reserve()
        writer.write_object(information, write_document_information(metadata))
        writer.close(root=b"%d 0 R" % self._catalog, information=b"%d 0 R" % information)


class _PartCopier:
    """Copies the objects that a part's pages and outline refer to, under new numbers."""

    def __init__(self, part: pikepdf.Pdf, writer: ObjectWriter, kept: dict[bytes, int]) -> None:
        self._part = part
        self._writer = writer
        self._kept = kept
        self._numbers: dict[int, int] = {}
        self._pending: list[int] = []
        self._additions: dict[int, bytes] = {}
        self._digests: dict[int, bytes | None] = {}
        self._deduplicated: set[int] = set()  # resource dictionaries already processed

    def map_object(self, old: pikepdf.Object, number: int) -> None:
        """Replace references to an object of the part by those to an object of the output."""
        self._numbers[old.objgen[0]] = number

    def number_of(self, old: pikepdf.Object) -> int:
        """Return the new number of an object, and schedule it for `finish`."""
        return self._new_number(old.objgen[0])

    def add_entry(self, old: pikepdf.Object, entry: bytes) -> None:
        """Add an entry to a dictionary object when it is copied."""
        self._additions[old.objgen[0]] = entry

    def defer_object(self, old: pikepdf.Object) -> bytes:
        """Return the body of an object, which the caller must write under its new number."""
        self.number_of(old)
        self._pending.remove(old.objgen[0])
        return self._body(old.objgen[0], old)

    def deduplicate_resources(self, resources: pikepdf.Object | None) -> None:
        """Replace each object that a resource dictionary refers to by an equal one already written."""
        if resources is None or resources.objgen[0] in self._deduplicated:
            return
        if resources.is_indirect:
            self._deduplicated.add(resources.objgen[0])
        for old in self._find_reachable(resources):
            digest = self._digest(old, frozenset())
            if digest is None or old in self._numbers:
                continue
            if digest in self._kept:
                self._numbers[old] = self._kept[digest]
            else:
                self._kept[digest] = self._new_number(old)

    def finish(self) -> None:
        """Copy all scheduled objects, and those that they refer to."""
        while self._pending:
            old = self._pending.pop()
            found = self._part.get_object(old, 0)
            number = self._numbers[old]
            if isinstance(found, pikepdf.Stream):
                entries = self._renumber(_stream_entries(found))[2:-2]
                self._writer.write_stream(number, entries.strip(), found.read_raw_bytes())
            else:
                self._writer.write_object(number, self._body(old, found))

    def _body(self, old: int, found: pikepdf.Object) -> bytes:
        body = self._renumber(found.unparse(resolved=True))
        return _with_entry(body, self._additions[old]) if old in self._additions else body

    def _renumber(self, body: bytes) -> bytes:
        return _REFERENCE.sub(self._new_reference, body)

    def _new_reference(self, match: re.Match[bytes]) -> bytes:
        return b"%d 0 R" % self._new_number(int(match[1])) if match[1] else match[0]

    def _new_number(self, old: int) -> int:
        number = self._numbers.get(old)
        if number is None:
            number = self._numbers[old] = self._writer.reserve()
            self._pending.append(old)
        return number

    def _find_reachable(self, resources: pikepdf.Object) -> list[int]:
        """Return the numbers of the objects reachable from a resource dictionary, without itself."""
        seen: dict[int, None] = {}
        pending = _references(resources.unparse(resolved=True))
        while pending:
            old = pending.pop()
            if old not in seen:
                seen[old] = None
                pending += _references(_unparse(self._part.get_object(old, 0)))
        return list(seen)

    def _digest(self, old: int, above: frozenset[int]) -> bytes | None:
        """Return a digest of an object and all that it refers to, None for one in a cycle."""
        if old in above:
            return None
        if old not in self._digests:
            found = self._part.get_object(old, 0)
            written = _unparse(found)
            below = [self._digest(child, above | {old}) for child in _references(written)]
            self._digests[old] = None if None in below else _digest_of(found, written, below)
        return self._digests[old]


def _digest_of(found: pikepdf.Object, written: bytes, below: list[bytes | None]) -> bytes:
    digest = sha256(_REFERENCE.sub(_without_reference, written))
    for part in below:
        digest.update(part or b"")
    if isinstance(found, pikepdf.Stream):
        digest.update(found.read_raw_bytes())
    return digest.digest()


def _without_reference(match: re.Match[bytes]) -> bytes:
    return b"R" if match[1] else match[0]


def _references(body: bytes) -> list[int]:
    return [int(match[1]) for match in _REFERENCE.finditer(body) if match[1]]


def _unparse(found: pikepdf.Object) -> bytes:
    return _stream_entries(found) if isinstance(found, pikepdf.Stream) else found.unparse(True)


def _stream_entries(stream: pikepdf.Stream) -> bytes:
    entries = pikepdf.Dictionary(dict(stream.stream_dict.items()))
    del entries["/Length"]
    return entries.unparse()


def _remove_defaults(page: pikepdf.Object) -> None:
    """Delete page entries with default values, and the obsolete `ProcSet` (PDF 1.7, 7.7.3.3, 14.2)."""
    for name in ("/Rotate", "/Trans"):
        if name in page and not page[name]:
            del page[name]
    resources = page.get("/Resources")
    if resources is not None and "/ProcSet" in resources:
        del resources["/ProcSet"]


def _siblings(root: pikepdf.Object) -> Iterator[pikepdf.Object]:
    entry = root.get("/First")
    while entry is not None:
        yield entry
        entry = entry.get("/Next")


def _with_entry(body: bytes, entry: bytes) -> bytes:
    return body[:-2] + entry + b" >>"
