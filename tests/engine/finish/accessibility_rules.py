"""The failure conditions of PDF/UA-1 that a program can decide, for what this engine may write.

Numbers are those of the Matterhorn Protocol 1.1, which names the conditions of ISO 14289-1. What is
not known here is refused: a kind of annotation or structure type that the engine begins to write
fails until its rule is added.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree

import pikepdf

PDFUAID = "{http://www.aiim.org/pdfua/ns/id/}"
DC = "{http://purl.org/dc/elements/1.1/}"
RDF = "{http://www.w3.org/1999/02/22-rdf-syntax-ns#}"
LANG = "{http://www.w3.org/XML/1998/namespace}lang"

HEADINGS = {f"H{level}": level for level in range(1, 7)}
# The standard structure types (PDF 1.7, 14.8.4).
STANDARD = {
    *("Document", "Part", "Art", "Sect", "Div", "BlockQuote", "Caption", "TOC", "TOCI", "Index"),
    *("NonStruct", "Private", "P", "H", *HEADINGS, "L", "LI", "Lbl", "LBody", "Table", "TR", "TH"),
    *("TD", "THead", "TBody", "TFoot", "Span", "Quote", "Note", "Reference", "BibEntry", "Code"),
    *(
        "Link",
        "Annot",
        "Ruby",
        "RB",
        "RT",
        "RP",
        "Warichu",
        "WT",
        "WP",
        "Figure",
        "Formula",
        "Form",
    ),
}
# What is allowed in an element, and what an element is allowed in.
KIDS = {
    "Table": {"TR", "THead", "TBody", "TFoot", "Caption"},
    "THead": {"TR"},
    "TBody": {"TR"},
    "TFoot": {"TR"},
    "TR": {"TH", "TD"},
    "L": {"L", "LI", "Caption"},
    "LI": {"Lbl", "LBody"},
    "TOC": {"TOC", "TOCI", "Caption"},
    "TOCI": {"Lbl", "Reference", "P", "NonStruct", "TOC"},
    "Ruby": {"RB", "RT", "RP"},
    "Warichu": {"WT", "WP"},
}
PARENTS = {
    "THead": {"Table"},
    "TBody": {"Table"},
    "TFoot": {"Table"},
    "TR": {"Table", "THead", "TBody", "TFoot"},
    "TH": {"TR"},
    "TD": {"TR"},
    "LI": {"L"},
    "LBody": {"LI"},
    "TOCI": {"TOC"},
    "RB": {"Ruby"},
    "RT": {"Ruby"},
    "RP": {"Ruby"},
    "WT": {"Warichu"},
    "WP": {"Warichu"},
}
FAMILIES = {
    **dict.fromkeys(("Table", "THead", "TBody", "TFoot", "TR", "TH", "TD"), "09-004 table"),
    **dict.fromkeys(("L", "LI", "LBody"), "09-005 list"),
    **dict.fromkeys(("TOC", "TOCI"), "09-006 contents"),
    **dict.fromkeys(("Ruby", "RB", "RT", "RP"), "09-007 ruby"),
    **dict.fromkeys(("Warichu", "WT", "WP"), "09-008 warichu"),
}
PAINTING = {
    *("f", "F", "f*", "B", "B*", "b", "b*", "S", "s", "sh", "Do", "BI", "INLINE IMAGE"),
    *("Tj", "TJ", "'", '"'),
}
SHOWING = {"Tj", "TJ", "'", '"'}
LANGUAGE = re.compile(r"[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*")
_UNMAPPED = {0, 0xFEFF, 0xFFFE}


def find_violations(data: bytes, *, promises: bool = True) -> list[str]:
    """Return the conditions that a file fails, each with its number; none when it conforms.

    One that is tagged and does not promise to conform has no identifier, and may have no title.
    """
    return sorted(set(_Checker(data, promises=promises).check()))


class _Checker:
    def __init__(self, data: bytes, *, promises: bool) -> None:
        self.pdf = pikepdf.open(io.BytesIO(data))
        self.promises = promises
        self.parents: dict[Any, Any] = {}  # by number: the element above
        self.types: dict[Any, str] = {}
        self.elements: list[Any] = []
        self.marked: dict[tuple[Any, int], Any] = {}  # stream or page, and number: its element
        self.annotations: dict[Any, Any] = {}  # by number: the element that holds it

    def check(self) -> Iterator[str]:
        root = self.pdf.Root
        if root.get("/MarkInfo", {}).get("/Marked") is not True:
            yield "01-006 MarkInfo"
        if root.get("/MarkInfo", {}).get("/Suspects"):
            yield "01-007 suspects"
        yield from self._check_metadata()
        yield from self._check_security()
        if "/StructTreeRoot" not in root:
            yield "01-005 no structure tree"
            return
        yield from self._check_roles()
        yield from self._walk(root.StructTreeRoot.get("/K", pikepdf.Array()), None)
        yield from self._check_elements()
        yield from self._check_headings()
        yield from self._check_tables()
        yield from self._check_parent_tree()
        for page in self.pdf.pages:
            yield from self._check_content(page.obj, page.obj, page.obj.get("/Resources", {}))
            yield from self._check_annotations(page.obj)
        yield from self._check_forms()
        yield from self._check_fonts()
        yield from self._check_rest()

    # --- the document ----------------------------------------------------------------------------

    def _check_metadata(self) -> Iterator[str]:
        root = self.pdf.Root
        lang = str(root.get("/Lang", ""))
        if not LANGUAGE.fullmatch(lang):
            yield "11-006 language of the document"
        if "/Metadata" not in root:
            yield "06-001 XMP metadata"
            return
        packet = root.Metadata.read_bytes()
        tree = ElementTree.fromstring(packet[packet.index(b"<x:xmpmeta") : packet.rindex(b"<?")])
        if self.promises:
            part = tree.findtext(f".//{PDFUAID}part")
            if part != "1":
                yield "06-002 identifier"
            title = tree.findtext(f".//{DC}title/{RDF}Alt/{RDF}li")
            if not (title or "").strip():
                yield "06-003 dc:title"
        preferences = root.get("/ViewerPreferences")
        if preferences is None or "/DisplayDocTitle" not in preferences:
            if self.promises:
                yield "07-001 DisplayDocTitle"
        elif preferences.DisplayDocTitle is not True:
            yield "07-002 DisplayDocTitle"

    def _check_security(self) -> Iterator[str]:
        # pikepdf's `allow` says yes for revision 4, whatever the bit is.
        if self.pdf.is_encrypted and not int(self.pdf.trailer.Encrypt.P) & 1 << 9:
            yield "26-002 extraction for accessibility"

    def _check_roles(self) -> Iterator[str]:
        roles = self.pdf.Root.StructTreeRoot.get("/RoleMap", {})
        for name, other in roles.items():
            if name.lstrip("/") in STANDARD:
                yield f"02-004 {name} is mapped"
            seen = {name}
            target = str(other)
            while target in roles and target not in seen:
                seen.add(target)
                target = str(roles[target])
            if target in seen:
                yield f"02-003 circular {name}"

    # --- the structure tree ----------------------------------------------------------------------

    def _walk(self, kids: Any, parent: Any) -> Iterator[str]:
        waiting = [(kids, parent)]
        while waiting:
            kid, above = waiting.pop()
            if isinstance(kid, pikepdf.Array):
                waiting += [(each, above) for each in reversed(list(kid))]
            elif isinstance(kid, pikepdf.Dictionary) and kid.get("/Type") == "/OBJR":
                self.annotations[kid.Obj.objgen] = above
            elif isinstance(kid, pikepdf.Dictionary) and kid.get("/Type") == "/MCR":
                stream = kid.get("/Stm", kid.get("/Pg", above.get("/Pg")))
                self.marked[stream.objgen, int(kid.MCID)] = above
            elif isinstance(kid, pikepdf.Dictionary):
                if kid.objgen in self.types:
                    yield "structure: an element is in two places"
                    continue
                if above is not None and kid.P.objgen != above.objgen:
                    yield "structure: P is not the parent"
                self.types[kid.objgen] = self._type_of(kid)
                self.parents[kid.objgen] = above
                self.elements.append(kid)
                waiting.append((kid.get("/K", pikepdf.Array()), kid))
            else:
                self.marked[above.Pg.objgen, int(kid)] = above

    def _type_of(self, element: Any) -> str:
        roles = self.pdf.Root.StructTreeRoot.get("/RoleMap", {})
        name = str(element.S)
        for _ in range(len(roles)):
            name = str(roles.get(name, name))
        return name.lstrip("/")

    def _kids_of(self, element: Any) -> list[Any]:
        kids = element.get("/K", pikepdf.Array())
        kids = list(kids) if isinstance(kids, pikepdf.Array) else [kids]
        return [kid for kid in kids if isinstance(kid, pikepdf.Dictionary) and "/S" in kid]

    def _check_elements(self) -> Iterator[str]:
        ids: set[bytes] = set()
        for element in self.elements:
            kind = self.types[element.objgen]
            if kind not in STANDARD:
                yield f"02-001 {kind} is no standard type"
            yield from self._check_nesting(element, kind)
            if kind == "Figure" and not (element.get("/Alt") or element.get("/ActualText")):
                yield "13-004 figure without Alt"
            if kind == "Formula" and not (element.get("/Alt") or element.get("/ActualText")):
                yield "17-002 formula without Alt"
            if kind == "Note":
                if "/ID" not in element:
                    yield "19-003 note without ID"
                elif bytes(element.ID) in ids:
                    yield "19-004 ID of a note is not unique"
                else:
                    ids.add(bytes(element.ID))
            lang = element.get("/Lang")
            if lang is not None and not LANGUAGE.fullmatch(str(lang)):
                yield "11-001 language"

    def _check_nesting(self, element: Any, kind: str) -> Iterator[str]:
        allowed = KIDS.get(kind)
        for kid in self._kids_of(element):
            inner = self._type_of(kid)
            if allowed is not None and inner not in allowed:
                yield f"{FAMILIES[kind]}: {inner} in {kind}"
        above = self.parents[element.objgen]
        around = None if above is None else self.types[above.objgen]
        if kind in PARENTS and around not in PARENTS[kind]:
            yield f"{FAMILIES[kind]}: {kind} in {around}"

    def _check_headings(self) -> Iterator[str]:
        before = 0
        kinds = [self.types[element.objgen] for element in self.elements]
        if "H" in kinds and HEADINGS.keys() & set(kinds):
            yield "14-007 H and Hn"
        if not self.promises:
            return  # a warning of the engine
        for kind in kinds:
            level = HEADINGS.get(kind)
            if level is None:
                continue
            if not before and level != 1:
                yield "14-002 the first heading is not H1"
            elif level > before + 1:
                yield f"14-003 H{level} after H{before}"
            before = level

    def _check_tables(self) -> Iterator[str]:
        for table in self.elements:
            if self.types[table.objgen] != "Table":
                continue
            rows = [
                row
                for part in self._kids_of(table)
                for row in ([part] if self.types[part.objgen] == "TR" else self._kids_of(part))
                if self.types.get(row.objgen) == "TR"
            ]
            cells = [cell for row in rows for cell in self._kids_of(row)]
            has_ids = any("/ID" in cell for cell in cells)
            for cell in cells:
                is_head = self.types[cell.objgen] == "TH"
                if is_head and not has_ids and "/Scope" not in _attributes(cell, "/Table"):
                    yield "15-003 TH without Scope"
            if len(set(_widths(rows, self._kids_of))) > 1:
                yield "7.2 rows of a table differ in their columns"

    def _check_parent_tree(self) -> Iterator[str]:
        """Check that the way from the content to the tree is that from the tree to the content."""
        tree = self.pdf.Root.StructTreeRoot.get("/ParentTree")
        if tree is None:
            yield "structure: no ParentTree"
            return
        nums = list(tree.get("/Nums", pikepdf.Array()))
        held = dict(zip(map(int, nums[::2]), nums[1::2], strict=True))
        streams = [page.obj for page in self.pdf.pages]
        streams += [one for one in self.pdf.objects if isinstance(one, pikepdf.Stream)]
        found: set[tuple[Any, int]] = set()
        for stream in streams:
            if "/StructParents" not in stream:
                continue
            for number, element in enumerate(held.get(int(stream.StructParents), ())):
                found.add((stream.objgen, number))
                above = self.marked.get((stream.objgen, number))
                if above is None or above.objgen != element.objgen:
                    yield "structure: ParentTree and tree differ"
        if found != self.marked.keys():
            yield "structure: ParentTree lacks content"
        for number, above in self.annotations.items():
            annotation = self.pdf.get_object(number)
            element = held.get(int(annotation.get("/StructParent", -1)))
            if element is None or element.objgen != above.objgen:
                yield "structure: ParentTree and annotation differ"

    # --- content ---------------------------------------------------------------------------------

    def _check_content(
        self, stream: Any, key: Any, resources: Any, *, is_marked: bool = False
    ) -> Iterator[str]:
        """Check that everything that is painted is marked; `is_marked` for what a mark calls."""
        open_: list[str] = []  # "artifact", "content" or "other"
        for operands, operator in pikepdf.parse_content_stream(stream):
            name = str(operator)
            if name in ("BDC", "BMC"):
                yield from self._check_mark(operands, key, open_)
            elif name == "EMC":
                if not open_:
                    yield "structure: EMC without a beginning"
                    continue
                open_.pop()
            elif name in PAINTING:
                is_inside = is_marked or "artifact" in open_ or "content" in open_
                if name == "Do":
                    yield from self._check_called(operands[0], resources, is_inside)
                elif not is_inside:
                    yield f"01-005 {name} is neither content nor an artifact"
        if open_:
            yield "structure: marked content has no end"

    def _check_mark(self, operands: Any, key: Any, open_: list[str]) -> Iterator[str]:
        """Check the beginning of a sequence of marked content, and note that it is open."""
        tag = str(operands[0])
        properties = operands[1] if len(operands) > 1 else {}
        is_content = "/MCID" in properties
        if tag == "/Artifact" and "content" in open_:
            yield "01-003 artifact in tagged content"
        if is_content and "artifact" in open_:
            yield "01-004 tagged content in an artifact"
        if is_content and (key.objgen, int(properties["/MCID"])) not in self.marked:
            yield "01-005 content that is not in the tree"
        kind = "content" if is_content else "other"
        open_.append("artifact" if tag == "/Artifact" else kind)

    def _check_called(self, name: Any, resources: Any, is_inside: bool) -> Iterator[str]:
        called = resources.XObject[str(name)]
        if "/Ref" in called:
            yield "30-001 reference XObject"
        if called.get("/Subtype") == "/Form":
            inner = called.get("/Resources", resources)
            yield from self._check_content(called, called, inner, is_marked=is_inside)
        elif not is_inside:
            yield "01-005 Do is neither content nor an artifact"

    def _check_forms(self) -> Iterator[str]:
        """Check that a form with marked content is drawn once."""
        calls: dict[Any, int] = {}
        streams = [(page.obj, page.obj.get("/Resources", {})) for page in self.pdf.pages]
        streams += [
            (one, one.get("/Resources", {}))
            for one in self.pdf.objects
            if isinstance(one, pikepdf.Stream) and one.get("/Subtype") == "/Form"
        ]
        for stream, resources in streams:
            for operands, operator in pikepdf.parse_content_stream(stream):
                if str(operator) == "Do":
                    called = resources.XObject[str(operands[0])]
                    calls[called.objgen] = calls.get(called.objgen, 0) + 1
        for number, count in calls.items():
            if count > 1 and "/StructParents" in self.pdf.get_object(number):
                yield "30-002 a form with tagged content is drawn twice"

    def _check_annotations(self, page: Any) -> Iterator[str]:
        annotations = list(page.get("/Annots", pikepdf.Array()))
        if annotations and "/Tabs" not in page:
            yield "28-008 no tab order"
        elif annotations and page.Tabs != "/S":
            yield "28-009 tab order"
        for annotation in annotations:
            kind = str(annotation.Subtype)
            if kind == "/Widget":
                yield from self._check_widget(annotation)
                continue
            if kind != "/Link":
                yield f"28-006 annotation {kind}"
                continue
            above = self.annotations.get(annotation.objgen)
            if above is None or self.types[above.objgen] != "Link":
                yield "28-011 link that is not in a Link element"
            if not str(annotation.get("/Contents", "")).strip():
                yield "28-012 link without Contents"

    def _check_widget(self, widget: Any) -> Iterator[str]:
        above = self.annotations.get(widget.objgen)
        if above is None or self.types[above.objgen] != "Form":
            yield "28-010 widget that is not in a Form element"
        elif isinstance(above.K, pikepdf.Array):
            yield "structure: a Form holds more than its widget (PDF 1.7, 14.8.4.5)"
        names = [widget.get("/TU", ""), widget.get("/Parent", {}).get("/TU", "")]
        if self.promises and not any(str(name).strip() for name in names):
            yield "28-005 form field without TU"

    # --- fonts and the rest ----------------------------------------------------------------------

    def _check_fonts(self) -> Iterator[str]:
        for font in self.pdf.objects:
            if not isinstance(font, pikepdf.Dictionary) or font.get("/Type") != "/Font":
                continue
            if font.get("/Subtype") in ("/CIDFontType0", "/CIDFontType2"):
                continue  # of a composite font
            inner = font.DescendantFonts[0] if "/DescendantFonts" in font else font
            descriptor = inner.get("/FontDescriptor", {})
            is_embedded = descriptor.keys() & {"/FontFile", "/FontFile2", "/FontFile3"}
            if font.get("/Subtype") != "/Type3" and not is_embedded:
                yield "31-009 font is not embedded"
            if inner.get("/Subtype") == "/CIDFontType2" and "/CIDToGIDMap" not in inner:
                yield "31-006 CIDToGIDMap"
            if "/ToUnicode" not in font:
                yield "31-027 ToUnicode"
            elif _UNMAPPED & set(_mapped(font.ToUnicode.read_bytes())):
                yield "31-028 ToUnicode maps to no character"

    def _check_rest(self) -> Iterator[str]:
        root = self.pdf.Root
        if "/XFA" in root.get("/AcroForm", {}):
            yield "25-001 XFA"
        for settings in root.get("/OCProperties", {}).get("/Configs", ()):
            if not str(settings.get("/Name", "")):
                yield "20-001 optional content without a name"
        for one in self.pdf.objects:
            if not isinstance(one, pikepdf.Dictionary) or one.get("/Type") != "/Filespec":
                continue
            if "/EF" in one and not {"/F", "/UF"} <= one.keys():
                yield "21-001 embedded file without F and UF"


def _attributes(element: Any, owner: str) -> dict[str, Any]:
    held = element.get("/A", pikepdf.Array())
    each = list(held) if isinstance(held, pikepdf.Array) else [held]
    return {name: value for one in each if one.get("/O") == owner for name, value in one.items()}


def _widths(rows: list[Any], kids_of: Any) -> Iterator[int]:
    """Yield the number of columns of each row, with the cells that reach into it from above."""
    reaching: list[tuple[int, int]] = []  # columns, and rows that are left
    for row in rows:
        spans = [_attributes(cell, "/Table") for cell in kids_of(row)]
        width = sum(columns for columns, _ in reaching)
        yield width + sum(int(span.get("/ColSpan", 1)) for span in spans)
        reaching = [(columns, left - 1) for columns, left in reaching if left > 1]
        reaching += [
            (int(span.get("/ColSpan", 1)), int(span["/RowSpan"]) - 1)
            for span in spans
            if int(span.get("/RowSpan", 1)) > 1
        ]


def _mapped(cmap: bytes) -> Iterator[int]:
    for section in re.findall(rb"beginbf(?:char|range)(.*?)endbf", cmap, re.DOTALL):
        for line in section.strip().splitlines():
            values = re.findall(rb"<([0-9A-Fa-f]+)>", line)
            if values:
                yield int(values[-1][:4], 16) if len(values[-1]) == 4 else 1
