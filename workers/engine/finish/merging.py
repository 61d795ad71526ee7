"""Merging of PDFs in a single pass, with equal fonts and images written once."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from hashlib import sha256
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

import msgspec
import pikepdf

from workers.engine.finish.metadata import describe_print, list_information, write_xmp_packet
from workers.engine.pdf_writer import ObjectWriter, compress, write_information, write_references
from workers.engine.ports import Metadata

_OBJECT_BYTES: Final = 32  # around an object, and in the cross-reference stream
_ENTRY: Final = (
    b"/Prev 1000000 0 R /Next 2000000 0 R 3000000 0 R"  # of the outline; the tree of pages
)
_SMALL: Final = 400  # bytes of resources that are not told one by one
# Matches strings, to skip their content, and references in the output of qpdf.
_REFERENCE: Final = re.compile(rb"\((?:[^\\()]|\\.)*\)|<[0-9A-Fa-f]*>|\b(\d+) (\d+) R\b", re.DOTALL)


class Placement(msgspec.Struct, frozen=True, gc=False):
    """Where a document of a part goes: the file, None for none; its position in the file; and its pages."""

    file: int | None
    position: int
    pages: int
    number: int = 0  # of its set and the set's first sheet in all files, from 1
    first_sheet: int = 0
    sheets_before: int = 0  # in its set
    sheets: int = 0  # of its set
    feeders: Sequence[int] = ()  # of the inserts of its set
    is_cover: bool = False  # of documents, which are read before it


class OtherPressError(ValueError):
    """A cover is not for the press that its documents are for."""


# Returns the operators that draw the marks of a page of a document, from 1, of a width and a height; none
# for a page without marks.
DrawMarks = Callable[[Placement, int, float, float], bytes]


def distribute_parts(
    parts: Iterable[tuple[Path, Sequence[Placement] | None]],
    outs: Sequence[BinaryIO],
    metadata: Metadata,
    *,
    is_duplex: bool = False,
    draw_marks: DrawMarks = lambda *_: b"",
) -> list[int]:
    """Write the documents of all parts to files, and return the number of pages of each file.

    A part is a PDF made by `workers.engine.merged_pdf`. One part at a time is open. Equal resources of
    pages (fonts, images, groups) are written once.

    Each document goes where its placement says; a part without placements goes to the end of the first
    file. Every page is copied once, whatever the order. With `is_duplex` each document begins on a front:
    one of an odd number of pages is followed by a blank page.

    Raises:
        ValueError: there is no part, a part has no page, or a file has none.
        OtherPressError: a cover has another output intent than the documents of its file.
    """
    files: list[_MergedFile] = []
    for path, placements in parts:
        with pikepdf.open(path) as part:
            version = part.pdf_version.encode("ascii")
            files = files or [
                _MergedFile(ObjectWriter(out, version), is_duplex=is_duplex, draw_marks=draw_marks)
                for out in outs
            ]
            _distribute(part, placements, files)
    if not files:
        raise ValueError("no parts to merge")
    return [file.close(metadata) for file in files]


def measure_documents(
    part: pikepdf.Pdf, placements: Sequence[Placement], *, is_duplex: bool, draw_marks: DrawMarks
) -> list[dict[str, int]]:
    """Return the most bytes that each document of a part adds to a file, its own as "" and those of what equal
    resources share by a digest.
    """
    files = [_MergedFile(_Sizes(), is_duplex=is_duplex, draw_marks=draw_marks) for _ in placements]
    placed = [msgspec.structs.replace(each, file=at) for at, each in enumerate(placements)]
    _distribute(part, placed, files)
    return [file.measure() for file in files]


class _Sizes(ObjectWriter):
    """Keeps the objects and the sizes of streams, and writes none. Numbers are as long as in a large file."""

    def __init__(self) -> None:
        super().__init__(BytesIO())
        self.objects: dict[int, bytes] = {}
        self.streams: dict[int, int] = {}
        self._next = 1_000_000

    def reserve(self, count: int = 1) -> int:
        self._next += count
        return self._next - count

    def write_object(self, number: int, body: bytes) -> None:
        self.objects[number] = body

    def write_raw_object(self, number: int, body: bytes) -> None:
        self.streams[number] = len(body)


def _distribute(
    part: pikepdf.Pdf, placements: Sequence[Placement] | None, files: Sequence[_MergedFile]
) -> None:
    pages = [page.obj for page in part.pages]
    if not pages:
        raise ValueError("a part without pages")
    root = part.Root.get("/Outlines")
    entries = [] if root is None else list(_siblings(root))
    if placements is None:
        copy = files[0].open_copy(part, {})
        files[0].add(copy, len(files[0].runs), pages, entries)
        copy.finish()
        return
    digests: dict[int, bytes | None] = {}
    copies: dict[int, _PartCopier] = {}
    first = 0
    for placement, entry in zip(placements, entries, strict=True):
        own = pages[first : first + placement.pages]
        first += placement.pages
        if placement.file is None:
            continue
        file = files[placement.file]
        copy = copies.get(placement.file) or file.open_copy(
            part, digests, is_cover=placement.is_cover
        )
        copies[placement.file] = copy
        file.draw_marks(copy, placement, own)
        file.add(copy, placement.position, own, [entry])
    for copy in copies.values():
        copy.finish()


class _Run(NamedTuple):
    """Pages that follow one another: their node of the page tree, and the entries of the outline."""

    node: int
    pages: int
    entries: Sequence[tuple[int, bytes]]  # each without its siblings, which are known at the end
    parts: Sequence[int]  # the document parts, of a file for print


class _MergedFile:
    """One file: pages are written as they come, their order at the end."""

    def __init__(self, writer: ObjectWriter, *, is_duplex: bool, draw_marks: DrawMarks) -> None:
        self.runs: dict[int, _Run] = {}  # by position
        self._writer = writer
        self._is_duplex = is_duplex
        self._draw_marks = draw_marks
        self._saving = 0  # the stream that saves the graphics state before the content of a page
        self._catalog = writer.reserve()
        self._pages = writer.reserve()
        self._outline = writer.reserve()
        self._kept: dict[bytes, int] = {}  # object numbers of resources by digest
        self._intents: set[int] = set()  # of the parts; 0 of one that is not for print
        self._parts_root = 0  # of a file for print
        self._first: tuple[int, str] | None = None  # the first document: its position and title

    def open_copy(
        self, part: pikepdf.Pdf, digests: dict[int, bytes | None], *, is_cover: bool = False
    ) -> _PartCopier:
        """Return what copies objects of a part to this file; `digests` are shared by the files of a part."""
        copy = _PartCopier(part, self._writer, self._kept, digests)
        root = part.Root.get("/Outlines")
        if root is not None:
            copy.map_object(root, self._outline)
        intents = part.Root.get("/OutputIntents")
        copy.deduplicate_resources(intents)  # the ICC profile
        intent = 0 if intents is None else copy.number_of_equal(intents)
        if is_cover and intent not in self._intents:
            raise OtherPressError(
                "The cover has another `profile` or `output-intent` than the documents: give its template theirs."
            )
        self._intents.add(intent)
        return copy

    def add(
        self,
        copy: _PartCopier,
        position: int,
        pages: Sequence[pikepdf.Object],
        entries: Sequence[pikepdf.Object],
    ) -> None:
        """Add pages at a position, with their entries of the outline."""
        node = self._writer.reserve()
        taken = tuple(copy.take(entry, without=("/Prev", "/Next")) for entry in entries)
        for page in pages:
            copy.deduplicate_resources(page.get("/Resources"))
            copy.replace_entry(page, "/Parent", b"/Parent %d 0 R" % node)
        kids = [copy.number_of(page) for page in pages]
        blank = self._writer.reserve() if self._is_duplex and len(kids) % 2 else 0
        kids += [blank] if blank else []
        parts: Sequence[int] = ()
        if self._intents != {0}:
            self._parts_root = self._parts_root or self._writer.reserve()
            parts = self._write_parts(copy, pages, entries, last=kids[-1])
        if blank:
            self._write_blank(blank, pages[-1], node, parts)
        self._writer.write_object(
            node,
            b"<< /Type /Pages /Parent %d 0 R /Count %d /Kids [%b] >>"
            % (self._pages, len(kids), write_references(kids)),
        )
        if self._first is None or position < self._first[0]:
            self._first = position, str(entries[0].Title) if entries else ""
        self.runs[position] = _Run(node, len(kids), taken, parts)

    def _write_parts(
        self,
        copy: _PartCopier,
        pages: Sequence[pikepdf.Object],
        entries: Sequence[pikepdf.Object],
        *,
        last: int,
    ) -> list[int]:
        """Write a document part for each entry (ISO 32000-2, 14.12), and return their numbers.

        The last one ends with the page of the number `last`.
        """
        at = {page.objgen: index for index, page in enumerate(pages)}
        firsts = [at[entry.Dest[0].objgen] for entry in entries]
        numbers = []
        for entry, (first, after) in zip(entries, pairwise((*firsts, len(pages))), strict=True):
            numbers.append(self._writer.reserve())
            for page in pages[first:after]:
                copy.replace_entry(page, "/DPart", b"/DPart %d 0 R" % numbers[-1])
            end = copy.number_of(pages[after - 1]) if after < len(pages) else last
            ends = copy.number_of(pages[first]), end
            self._writer.write_object(
                numbers[-1],
                b"<< /Type /DPart /Parent %d 0 R /Start %d 0 R /End %d 0 R"
                b" /DPM << /Record << /Title %b >> >> >>"
                % (self._parts_root, *ends, entry.Title.unparse()),
            )
        return numbers

    def draw_marks(
        self, copy: _PartCopier, placement: Placement, pages: Sequence[pikepdf.Object]
    ) -> None:
        """Draw the marks of a document above the content of its pages."""
        for at, page in enumerate(pages, 1):
            left, bottom, right, top = (float(edge) for edge in page.get("/TrimBox", page.MediaBox))
            drawn = self._draw_marks(placement, at, right - left, top - bottom)
            if not drawn:
                continue
            if not self._saving:
                self._saving = self._writer.reserve()
                self._writer.write_stream(self._saving, b"", b"q\n")
            number = self._writer.reserve()
            moved = b"Q q 1 0 0 1 %.3f %.3f cm\n%bQ\n" % (left, bottom, drawn)
            self._writer.write_stream(number, b"", moved)
            old = page.get("/Contents")
            parts = [] if old is None else list(old) if isinstance(old, pikepdf.Array) else [old]
            contents = [self._saving, *(copy.number_of(part) for part in parts), number]
            copy.replace_entry(page, "/Contents", b"/Contents [%b]" % write_references(contents))

    def measure(self) -> dict[str, int]:
        """Return the sizes of the objects so far, see `measure_documents`; small resources are told as one."""
        assert isinstance(self._writer, _Sizes)
        streams, objects = self._writer.streams, self._writer.objects
        small, shared = sha256(), dict[str, int]()
        rest = 0
        for digest, number in sorted(self._kept.items()):
            size = (streams.pop(number, 0) or len(objects.pop(number))) + _OBJECT_BYTES
            if size < _SMALL:
                small.update(digest)
                rest += size
            else:
                shared[digest.hex()[:16]] = size
        shared[small.hexdigest()[:16]] = rest
        bodies = [
            *objects.values(),
            *(_ENTRY + body for run in self.runs.values() for _, body in run.entries),
        ]
        count = len(streams) + len(bodies)
        own = sum(streams.values()) + len(compress(b"".join(bodies))) + count * _OBJECT_BYTES
        return {"": own} | shared

    def close(self, metadata: Metadata) -> int:
        """Write the order of the pages and the outline, and return the number of pages.

        Raises:
            ValueError: there are no pages.
        """
        if self._first is None:
            raise ValueError("no parts to merge")
        writer = self._writer
        runs = [self.runs[position] for position in sorted(self.runs)]
        count = sum(run.pages for run in runs)
        kids = write_references([run.node for run in runs])
        writer.write_object(self._pages, b"<< /Type /Pages /Count %d /Kids [%b] >>" % (count, kids))
        more = self._write_outline([entry for run in runs for entry in run.entries])
        conformance, is_print = "", len(self._intents) == 1 and 0 not in self._intents
        if is_print:
            metadata = replace(metadata, info=replace(metadata.info, title=self._first[1]))
            conformance = describe_print(metadata, is_run=True)
            more += self._write_print([number for run in runs for number in run.parts])
        packet = writer.reserve()
        written = write_xmp_packet(metadata, conformance)
        writer.write_stream(packet, b"/Type /Metadata /Subtype /XML", written)
        writer.write_object(
            self._catalog,
            b"<< /Type /Catalog /Pages %d 0 R /Metadata %d 0 R /Lang %b%b >>"
            % (self._pages, packet, pikepdf.String(metadata.info.lang).unparse(), more),
        )
        information = writer.reserve()
        writer.write_object(
            information, write_information(list_information(metadata), is_print=is_print)
        )
        writer.close(root=self._catalog, information=information)
        return count

    def _write_print(self, parts: Sequence[int]) -> bytes:
        """Write the tree of document parts, and return what the catalog says of it and of the press."""
        root = self._writer.reserve()
        self._writer.write_object(
            self._parts_root,
            b"<< /Type /DPart /Parent %d 0 R /DParts [[%b]] >>" % (root, write_references(parts)),
        )
        self._writer.write_object(
            root,
            b"<< /Type /DPartRoot /DPartRootNode %d 0 R /RecordLevel 1 /NodeNameList [/Run /Record] >>"
            % self._parts_root,
        )
        [intents] = self._intents
        return b" /OutputIntents %d 0 R /DPartRoot %d 0 R" % (intents, root)

    def _write_outline(self, entries: Sequence[tuple[int, bytes]]) -> bytes:
        """Write the entries with their siblings, and return what the catalog says of the outline."""
        if not entries:
            self._writer.write_object(self._outline, b"null")
            return b""
        numbers = [number for number, _ in entries]
        for (number, body), before, after in zip(
            entries, [None, *numbers], [*numbers[1:], None], strict=False
        ):
            links = b"" if before is None else b"/Prev %d 0 R" % before
            links += b"" if after is None else b"/Next %d 0 R" % after
            self._writer.write_object(number, _with_entry(body, links))
        self._writer.write_object(
            self._outline,
            b"<< /First %d 0 R /Last %d 0 R /Count %d >>" % (numbers[0], numbers[-1], len(numbers)),
        )
        return b" /Outlines %d 0 R /PageMode /UseOutlines" % self._outline

    def _write_blank(
        self, number: int, before: pikepdf.Object, node: int, parts: Sequence[int]
    ) -> None:
        names = ("/MediaBox", "/BleedBox", "/TrimBox")
        boxes = {name: before[name] for name in names if name in before}
        more = pikepdf.Dictionary(boxes).unparse(resolved=True)[2:-2]
        more += b"/DPart %d 0 R" % parts[-1] if parts else b""
        self._writer.write_object(
            number, b"<< /Type /Page /Parent %d 0 R %b /Resources << >> >>" % (node, more)
        )


class _PartCopier:
    """Copies the objects that a part's pages and outline refer to, under new numbers."""

    def __init__(
        self,
        part: pikepdf.Pdf,
        writer: ObjectWriter,
        kept: dict[bytes, int],
        digests: dict[int, bytes | None],
    ) -> None:
        self._part = part
        self._writer = writer
        self._kept = kept
        self._digests = digests
        self._numbers: dict[int, int] = {}
        self._pending: list[int] = []
        self._additions: dict[int, bytes] = {}
        self._reached: set[int] = set()  # objects of resources already processed

    def map_object(self, old: pikepdf.Object, number: int) -> None:
        """Replace references to an object of the part by those to an object of the output."""
        self._numbers[old.objgen[0]] = number

    def number_of(self, old: pikepdf.Object) -> int:
        """Return the new number of an object, and schedule it for `finish`."""
        return self._new_number(old.objgen[0])

    def number_of_equal(self, old: pikepdf.Object) -> int:
        """Return the number of an equal object that was written already, else the new number of this one."""
        self._share(old.objgen[0])
        return self.number_of(old)

    def replace_entry(self, old: pikepdf.Object, key: str, entry: bytes) -> None:
        """Write another entry in place of one of a dictionary object, when it is copied."""
        if key in old:
            del old[key]
        number = old.objgen[0]
        self._additions[number] = b" ".join(filter(None, (self._additions.get(number), entry)))

    def take(self, old: pikepdf.Object, *, without: Iterable[str]) -> tuple[int, bytes]:
        """Return the new number of an object and its body without some entries, which the caller writes."""
        for key in without:
            if key in old:
                del old[key]
        number = self._numbers[old.objgen[0]] = self._writer.reserve()
        return number, self._renumber(old.unparse(resolved=True))

    def deduplicate_resources(self, resources: pikepdf.Object | None) -> None:
        """Replace each object that a resource dictionary refers to by an equal one already written."""
        if resources is None or resources.objgen[0] in self._reached:
            return
        if resources.is_indirect:
            self._reached.add(resources.objgen[0])
        for old in self._find_reachable(resources):
            self._share(old)

    def _share(self, old: int) -> None:
        """Let an object be an equal one that was written already; one in a cycle stays as it is."""
        digest = self._digest(old, frozenset())
        if digest is None or old in self._numbers:
            return
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
        """Return the numbers of the objects reachable from a resource dictionary, without itself and those
        that were reached before.
        """
        found: list[int] = []
        pending = _references(resources.unparse(resolved=True))
        while pending:
            old = pending.pop()
            if old not in self._reached:
                self._reached.add(old)
                found.append(old)
                pending += _references(_unparse(self._part.get_object(old, 0)))
        return found

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


def _siblings(root: pikepdf.Object) -> Iterator[pikepdf.Object]:
    entry = root.get("/First")
    while entry is not None:
        yield entry
        entry = entry.get("/Next")


def _with_entry(body: bytes, entry: bytes) -> bytes:
    return body[:-2] + entry + b" >>"
