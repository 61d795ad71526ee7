"""The failure conditions of PDF/UA-1 that a program can decide (ISO 14289-1).

Each is reported with its number in the Matterhorn Protocol 1.1 (`matterhorn.py` lists all 87); a few
requirements that have none are reported with their clause, and damage that no reader forgives as
"structure". Kinds of annotations and fonts that the engine does not write so far are checked as far
as the conditions go.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree

import pikepdf

from tests.engine.finish.accessibility_annotations import check_annotations, check_media_clip
from tests.engine.finish.accessibility_fonts import UsedFont, check_font
from tests.engine.finish.accessibility_tree import LANGUAGE, Tree
from tests.engine.finish.matterhorn import name

PDFUAID = "{http://www.aiim.org/pdfua/ns/id/}"
DC = "{http://purl.org/dc/elements/1.1/}"
RDF = "{http://www.w3.org/1999/02/22-rdf-syntax-ns#}"
XML = "{http://www.w3.org/XML/1998/namespace}"

SHOWING = {"Tj", "TJ", "'", '"'}
PAINTING = {
    *("f", "F", "f*", "B", "B*", "b", "b*", "S", "s", "sh", "Do", "BI", "INLINE IMAGE"),
    *SHOWING,
}
INVISIBLE = 3  # the text rendering mode that paints nothing
_REFUSED_ENCRYPTION = "some encryption dictionary parameters are missing"


def find_violations(data: bytes, *, promises: bool | None = None, password: str = "") -> list[str]:
    """Return the conditions that a file fails, each with its number; none when it conforms.

    One that is tagged and does not promise to conform has no identifier, and may have no title; if
    `promises` is None, a file with an identifier promises to conform.
    """
    try:
        pdf = pikepdf.open(io.BytesIO(data), password=password)
    except pikepdf.PdfError as error:
        if _REFUSED_ENCRYPTION not in str(error):
            raise
        return [name("26-001")]
    with pdf:
        checker = _Checker(pdf, promises=_is_promised(pdf) if promises is None else promises)
        return sorted(set(checker.check()))


def _is_promised(pdf: pikepdf.Pdf) -> bool:
    packet = pdf.Root.get("/Metadata")
    return packet is not None and PDFUAID.strip("{}").encode() in packet.read_bytes()


class _Checker:
    def __init__(self, pdf: pikepdf.Pdf, *, promises: bool) -> None:
        self.pdf = pdf
        self.promises = promises
        self.tree = Tree(pdf, promises=promises)
        self.fonts: dict[Any, UsedFont] = {}
        self.forms: dict[Any, bool] = {}  # by number: whether it has tagged content, within too

    def check(self) -> Iterator[str]:
        root = self.pdf.Root
        if root.get("/MarkInfo", {}).get("/Marked") is not True:
            yield "6.2 MarkInfo does not say that the file is tagged"
        if root.get("/MarkInfo", {}).get("/Suspects"):
            yield name("01-007")
        yield from self._check_metadata()
        # pikepdf's `allow` says yes for revision 4, whatever the bit is.
        if self.pdf.is_encrypted and not int(self.pdf.trailer.Encrypt.P) & 1 << 9:
            yield name("26-002")
        if "/StructTreeRoot" not in root:
            yield "7.1 no structure tree"
            return
        yield from self.tree.check()
        for page in self.pdf.pages:
            yield from _Content(self, page.obj).check(page.obj, page.obj.get("/Resources", {}))
            yield from check_annotations(page.obj, self.tree)
        yield from self._check_fonts()
        yield from self._check_rest()

    # --- the document ----------------------------------------------------------------------------

    def _check_metadata(self) -> Iterator[str]:
        root = self.pdf.Root
        has_language = bool(LANGUAGE.fullmatch(str(root.get("/Lang", ""))))
        if "/Outlines" in root and not has_language:
            yield name("11-003")
        if "/Metadata" not in root:
            yield name("06-001")
            return
        packet = root.Metadata.read_bytes()
        tree = ElementTree.fromstring(packet[packet.index(b"<x:xmpmeta") : packet.rindex(b"<?")])
        titles = tree.findall(f".//{DC}title/{RDF}Alt/{RDF}li")
        if titles and not has_language and titles[0].get(f"{XML}lang") == "x-default":
            yield name("11-006")
        if self.promises:
            # RDF has simple properties as elements or as attributes (ISO 16684-1, 7.9.2.2).
            written = tree.find(f".//*[@{PDFUAID}part]")
            part = (
                tree.findtext(f".//{PDFUAID}part")
                if written is None
                else written.get(f"{PDFUAID}part")
            )
            if part != ("2" if self.pdf.pdf_version == "2.0" else "1"):
                yield name("06-002")
            if not any((title.text or "").strip() for title in titles):
                yield name("06-003")
        preferences = root.get("/ViewerPreferences")
        if preferences is None or "/DisplayDocTitle" not in preferences:
            if self.promises:
                yield name("07-001")
        elif preferences.DisplayDocTitle is not True:
            yield name("07-002")

    def _check_fonts(self) -> Iterator[str]:
        for one in self.pdf.objects:
            is_font = isinstance(one, pikepdf.Dictionary) and one.get("/Type") == "/Font"
            # What is in a composite font is checked with it.
            if is_font and not str(one.get("/Subtype")).startswith("/CIDFont"):
                self.fonts.setdefault(one.objgen, UsedFont(one))
        for used in self.fonts.values():
            yield from check_font(used, promises=self.promises)

    def _check_rest(self) -> Iterator[str]:
        root = self.pdf.Root
        if any(_DYNAMIC.search(stream) for stream in _streams(root.get("/AcroForm", {}))):
            yield name("25-001")
        layers = root.get("/OCProperties", {})
        for number, settings in [
            *[("20-001", one) for one in layers.get("/Configs", ())],
            *([("20-002", layers.D)] if "/D" in layers else []),
        ]:
            if not str(settings.get("/Name", "")):
                yield name(number)
            if "/AS" in settings:
                yield name("20-003")
        for one in self.pdf.objects:
            if not isinstance(one, pikepdf.Dictionary):
                continue
            if one.get("/Type") == "/Filespec" and "/EF" in one and not {"/F", "/UF"} <= one.keys():
                yield name("21-001")
            if one.get("/S") == "/MCD":
                yield from check_media_clip(one)


_DYNAMIC = re.compile(rb"<dynamicRender\s*>\s*required\s*<")


def _streams(form: Any) -> Iterator[bytes]:
    """Yield the parts of an XFA form, which is a stream, or names and streams in turn."""
    held = form.get("/XFA", pikepdf.Array())
    for part in held if isinstance(held, pikepdf.Array) else [held]:
        if isinstance(part, pikepdf.Stream):
            yield part.read_bytes()


class _Content:
    """The content of one page, form by form."""

    def __init__(self, file: _Checker, page: Any) -> None:
        self._file = file
        self._tree = file.tree
        self._page = page
        self._font: UsedFont | None = None
        self._mode = 0
        self._element: Any | None = None  # that holds what is shown

    def check(self, stream: Any, resources: Any, *, around: str = "other") -> Iterator[str]:
        """Check that everything that is painted is marked; `around` is the mark that calls a form."""
        open_: list[tuple[str, Any]] = [(around, self._element)]
        saved: list[tuple[UsedFont | None, int]] = []
        key = stream.objgen
        self._file.forms[key] = False
        for operands, operator in pikepdf.parse_content_stream(stream):
            match str(operator):
                case "BDC" | "BMC":
                    yield from self._check_mark(operands, key, open_, resources)
                case "EMC" if len(open_) == 1:
                    yield "structure: EMC without a beginning"
                case "EMC":
                    open_.pop()
                case "q":
                    saved.append((self._font, self._mode))
                case "Q" if saved:
                    self._font, self._mode = saved.pop()
                case "Tf" if str(operands[0]) in resources.get("/Font", {}):
                    self._font = self._use(resources.Font[str(operands[0])])
                case "Tr":
                    self._mode = int(operands[0])
                case drawn if drawn in PAINTING:
                    yield from self._check_painted(drawn, operands, open_, resources, key)
        if len(open_) > 1:
            yield "structure: marked content has no end"

    def _use(self, font: Any) -> UsedFont:
        return self._file.fonts.setdefault(font.objgen, UsedFont(font))

    def _check_mark(
        self, operands: Any, key: Any, open_: list[tuple[str, Any]], resources: Any
    ) -> Iterator[str]:
        """Check the beginning of a sequence of marked content, and note that it is open."""
        tag = str(operands[0])
        properties = operands[1] if len(operands) > 1 else {}
        if isinstance(properties, pikepdf.Name):
            properties = resources.Properties[str(properties)]
        is_content = "/MCID" in properties
        element = open_[-1][1]
        if is_content:
            element = self._tree.marked.get((key, int(properties["/MCID"])))
            self._file.forms[key] = True
            if element is None:
                yield name("01-005", "it is not in the tree")
        kinds = {kind for kind, _ in open_}
        if tag == "/Artifact" and "content" in kinds:
            yield name("01-003")
        if is_content and "artifact" in kinds:
            yield name("01-004")
        if {"/ActualText", "/Alt", "/E"} & properties.keys() and not (
            LANGUAGE.fullmatch(str(properties.get("/Lang", ""))) or self._tree.has_language(element)
        ):
            yield name("11-002", tag)
        kind = "artifact" if tag == "/Artifact" else "content" if is_content else "other"
        open_.append((kind, element))

    def _check_painted(
        self, drawn: str, operands: Any, open_: list[tuple[str, Any]], resources: Any, key: Any
    ) -> Iterator[str]:
        kinds = {kind for kind, _ in open_}
        around = next((kind for kind in ("artifact", "content") if kind in kinds), "other")
        self._element = open_[-1][1]
        if drawn == "Do":
            yield from self._check_called(operands[0], resources, key, around)
            return
        if around == "other":
            yield name("01-005", drawn)
        if drawn in SHOWING:
            self._note_text(operands)
            if around != "artifact" and not self._tree.has_language(self._element):
                yield name("11-001")

    def _note_text(self, operands: Any) -> None:
        if self._font is None:
            return
        held = operands[0] if isinstance(operands[0], pikepdf.Array) else operands
        strings = {bytes(one) for one in held if isinstance(one, pikepdf.String)}
        (self._font.hidden if self._mode == INVISIBLE else self._font.shown).update(strings)
        if self._tree.is_in_formula(self._element):
            self._font.in_formulas.update(strings)

    def _check_called(self, called_as: Any, resources: Any, key: Any, around: str) -> Iterator[str]:
        called = resources.get("/XObject", {}).get(str(called_as))
        if called is None:  # an undefined name draws nothing (PDF 1.7, 8.8)
            return
        if "/Ref" in called:
            yield name("30-001")
        if called.get("/Subtype") != "/Form":
            if around == "other":
                yield name("01-005", "Do")
            return
        if called.objgen in self._file.forms:
            if self._file.forms[called.objgen]:
                yield name("30-002")
            return
        before = self._font, self._mode
        yield from self.check(called, called.get("/Resources", resources), around=around)
        self._font, self._mode = before
        self._file.forms[key] |= self._file.forms[called.objgen]
