"""The rules of PDF/A-2, -3 and -4 for what this engine may write, checked one by one (ISO 19005-2 to -4).

These need no Java; `verapdf.py` holds files against veraPDF too. Clauses are those of ISO 19005-2. What is not known here is refused: a kind of font, colour space, annotation or action that
the engine begins to write fails until its rule is added.
"""

from __future__ import annotations

import io
import re
import unicodedata
from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree

import pikepdf
import uharfbuzz as hb
from asn1crypto import cms
from fontTools.ttLib import TTFont
from PIL import ImageCms

from tests.engine.finish.accessibility_fonts import read_unicode
from tests.engine.finish.cmaps import Encoding, read_encoding

RDF = "{http://www.w3.org/1999/02/22-rdf-syntax-ns#}"
PDFAID = "{http://www.aiim.org/pdfa/ns/id/}"
EXTENSION = "{http://www.aiim.org/pdfa/ns/extension/}"
SCHEMA = "{http://www.aiim.org/pdfa/ns/schema#}"
PROPERTY = "{http://www.aiim.org/pdfa/ns/property#}"
DC = "{http://purl.org/dc/elements/1.1/}"
PDF = "{http://ns.adobe.com/pdf/1.3/}"
XML = "{http://www.w3.org/XML/1998/namespace}"
XMP = "{http://ns.adobe.com/xap/1.0/}"
PREDEFINED = (DC, PDF, XMP, PDFAID, EXTENSION)

FILTERS = {"/FlateDecode", "/DCTDecode"}
# All modes of ISO 32000-1, 11.3.5.
BLEND_MODES = {"/Normal", "/Compatible", "/Multiply", "/Screen", "/Overlay", "/Darken", "/Lighten"}
BLEND_MODES |= {
    "/ColorDodge",
    "/ColorBurn",
    "/HardLight",
    "/SoftLight",
    "/Difference",
    "/Exclusion",
}
BLEND_MODES |= {"/Hue", "/Saturation", "/Color", "/Luminosity"}
FORBIDDEN_STATE = {"/TR", "/TR2", "/HTP", "/HTO"}
FORBIDDEN_CATALOG = {
    *("/AA", "/OpenAction", "/Requirements", "/NeedsRendering", "/OCProperties"),
    *("/Perms", "/Collection"),
}
# What signatures are of: ETSI's PAdES, and ISO's elliptic curves. ISO 32000-1 has a place for extensions
# (7.12), and ISO 19005 no rule against them.
EXTENSIONS = {"/ESIC", "/ISO_"}
LEVEL_A = {"/StructTreeRoot", "/MarkInfo", "/Lang"}
FORBIDDEN_NAMES = {"/JavaScript", "/AlternatePresentations", "/Renditions"}
RELATIONSHIPS = {"/Source", "/Data", "/Alternative", "/Supplement", "/Unspecified"}
INFORMATION = {"/Title": f"{DC}title", "/Subject": f"{DC}description", "/Author": f"{DC}creator"}
FORBIDDEN_OPERATORS = {
    **dict.fromkeys(("k", "K"), "6.2.4.3 DeviceCMYK"),
    **dict.fromkeys(("sc", "SC"), "6.2.4 colour space"),
    **dict.fromkeys(("BI", "INLINE IMAGE"), "6.2.8 inline image"),
    "ri": "6.2.6 rendering intent",
}
SHOWING = {"Tj", "TJ", "'", '"'}


def find_violations(data: bytes, part: int, *, signatures: int = 0) -> list[str]:
    """Return the rules of ISO 19005 that a file breaks, each with its clause; none when it conforms.

    `signatures` is how many updates were appended to the file, each for one signature.
    """
    return sorted(set(_Checker(data, part, signatures).check()))


class _Checker:
    def __init__(self, data: bytes, part: int, signatures: int) -> None:
        self.data = data
        self.part = part
        self.signatures = signatures
        self.pdf = pikepdf.open(io.BytesIO(data))
        self.encodings: dict[Any, Encoding] = {}
        self.codes: dict[Any, set[bytes]] = {}  # used of each font, by its object number

    def check(self) -> Iterator[str]:
        yield from self.file()
        yield from self.objects()
        yield from self.output_intent()
        yield from self.catalog()
        for page in self.pdf.pages:
            yield from self.page(page)
        yield from self.fonts()
        yield from self.metadata()
        yield from self.attachments()
        yield from self.signed()

    # --- 6.1 file structure

    def file(self) -> Iterator[str]:
        version = rb"2\.0" if self.part == 4 else rb"1\.[0-7]"
        if not re.match(rb"%%PDF-%b\n%%[\x80-\xff]{4}" % version, self.data):
            yield "6.1.2 header"
        ends = self.data.count(b"%%EOF")  # one, and one for each update (ISO 32000-1, 7.5.6)
        if not re.search(rb"%%EOF\n?\Z", self.data) or ends != 1 + self.signatures:
            yield "6.1.3 end of file"
        if len(self.pdf.trailer.get("/ID", [])) != 2 or "/Encrypt" in self.pdf.trailer:
            yield "6.1.3 trailer"
        if self.part == 4 and "/Info" in self.pdf.trailer:
            yield "6.1.3 document information"
        if re.search(rb"[^\n]endstream", self.data):
            yield "6.1.7 no end of line before endstream"
        if self.pdf.check_pdf_syntax():
            yield "6.1 syntax"
        if len(self.pdf.objects) > 8_388_607:
            yield "6.1.13 objects"

    def objects(self) -> Iterator[str]:
        for number, obj in enumerate(self.pdf.objects):
            yield from self.value(obj, number, 0)

    def value(self, obj: Any, number: int, depth: int) -> Iterator[str]:
        if depth and isinstance(obj, pikepdf.Object) and obj.is_indirect:
            return
        match obj:
            case pikepdf.Stream():
                yield from self.stream(obj)
                yield from self.members(obj, number, depth)
            case pikepdf.Dictionary():
                yield from self.dictionary(obj)
                yield from self.members(obj, number, depth)
            case pikepdf.Array():
                for item in obj:
                    yield from self.value(item, number, depth + 1)
            case pikepdf.Name():
                if len(str(obj).encode()) > 128:
                    yield "6.1.13 name"
            case pikepdf.String():
                if len(bytes(obj)) > 32_767:
                    yield "6.1.13 string"
            case int():
                if not -(2**31) <= obj < 2**31:
                    yield "6.1.13 integer"

    def members(self, obj: Any, number: int, depth: int) -> Iterator[str]:
        for key in obj.keys():  # noqa: SIM118 - iterating a pikepdf dictionary is over keys only then
            if len(key.encode()) > 128:
                yield "6.1.13 name"
            yield from self.value(obj[key], number, depth + 1)

    def stream(self, obj: Any) -> Iterator[str]:
        filters = obj.get("/Filter", [])
        names = {str(f) for f in ([filters] if isinstance(filters, pikepdf.Name) else filters)}
        if not names <= FILTERS:
            yield f"6.1.7.2 filters {names}"
        if {"/F", "/FFilter", "/FDecodeParms"} & set(obj.keys()):
            yield "6.1.7.1 external stream"
        if "/DCTDecode" not in names:
            obj.read_bytes()
        if obj.get("/Subtype") == "/Image":
            yield from self.image(obj)
        if obj.get("/Subtype") == "/Form":
            yield from self.form(obj)

    def dictionary(self, obj: Any) -> Iterator[str]:
        if obj.get("/Type") == "/ExtGState" or {"/ca", "/CA", "/BM"} & set(obj.keys()):
            if FORBIDDEN_STATE & set(obj.keys()):
                yield "6.2.5 graphics state"
            if str(obj.get("/BM", "/Normal")) not in BLEND_MODES:
                yield "6.2.10 blend mode"
        if "/S" in obj and "/D" in obj and obj.S != "/GoTo":
            yield f"6.5.1 action {obj.S}"
        if "/S" in obj and "/URI" in obj and obj.S != "/URI":
            yield f"6.5.1 action {obj.S}"
        if "/JS" in obj or obj.get("/S") in ("/JavaScript", "/Launch"):
            yield "6.5.1 script"

    # --- 6.2 graphics

    def output_intent(self) -> Iterator[str]:
        intents = self.pdf.Root.get("/OutputIntents", [])
        if len(intents) != 1:
            yield "6.2.3 output intent"
            return
        intent = intents[0]
        if intent.S != "/GTS_PDFA1" or "/OutputConditionIdentifier" not in intent:
            yield "6.2.3 output intent"
        stream = intent.DestOutputProfile
        content = stream.read_bytes()
        profile = ImageCms.ImageCmsProfile(io.BytesIO(content)).profile
        if (profile.device_class, profile.xcolor_space.strip()) != ("mntr", "RGB"):
            yield "6.2.3 profile"
        if stream.N != 3 or not profile.version < 5 or content[36:40] != b"acsp":
            yield "6.2.3 profile"
        if int.from_bytes(content[:4]) != len(content):
            yield "6.2.3 profile size"

    def color_space(self, space: Any) -> Iterator[str]:
        if isinstance(space, pikepdf.Array) and space[0] == "/Indexed":
            space = space[1]
        if not isinstance(space, pikepdf.Name) or space not in ("/DeviceGray", "/DeviceRGB"):
            yield f"6.2.4 colour space {space}"

    def image(self, obj: Any) -> Iterator[str]:
        if {"/Alternates", "/OPI"} & set(obj.keys()) or obj.get("/Interpolate", False):
            yield "6.2.8.1 image"
        if not obj.get("/ImageMask", False):
            yield from self.color_space(obj.ColorSpace)
            if obj.BitsPerComponent not in (1, 2, 4, 8, 16):
                yield "6.2.8.3 bits"

    def form(self, obj: Any) -> Iterator[str]:
        if {"/OPI", "/Ref", "/PS", "/Subtype2"} & set(obj.keys()):
            yield "6.2.9 form"
        group = obj.get("/Group")
        if group is not None and "/CS" in group:
            yield from self.color_space(group.CS)

    def page(self, page: Any) -> Iterator[str]:
        for box in ("/MediaBox", "/CropBox", "/TrimBox", "/BleedBox"):
            if box in page.obj:
                left, bottom, right, top = map(float, page.obj[box])
                if not all(3 <= side <= 14_400 for side in (right - left, top - bottom)):
                    yield f"6.1.13 {box}"
        if "/AA" in page.obj or "/PresSteps" in page.obj:
            yield "6.5.2 page"
        yield from self.content(page, page.obj.Resources, set(), 0)
        for annotation in page.obj.get("/Annots", []):
            yield from self.annotation(annotation)

    def content(self, stream: Any, resources: Any, seen: set[Any], depth: int) -> Iterator[str]:
        """Walk the operators of a page or form, and of the forms it draws."""
        font, nested = None, depth
        for operands, operator in pikepdf.parse_content_stream(stream):
            name = str(operator)
            if name in FORBIDDEN_OPERATORS:
                yield FORBIDDEN_OPERATORS[name]
            nested += (name == "q") - (name == "Q")
            if nested > 28:
                yield "6.1.13 graphics states"
            if name == "Tf":
                font = resources.Font[str(operands[0])]
            elif name in SHOWING:
                yield from self.shown(font, operands)
            elif name == "gs" and str(operands[0]) not in resources.ExtGState:
                yield "6.2.2 resources"
            elif name in ("cs", "CS") and operands[0] != "/Pattern":
                yield "6.2.4 colour space"
            elif name in ("scn", "SCN"):
                yield from self.pattern(resources.Pattern[str(operands[-1])], seen, nested)
            elif name == "sh":
                yield from self.color_space(resources.Shading[str(operands[0])].ColorSpace)
            elif name == "Do":
                yield from self.drawn(resources.XObject[str(operands[0])], seen, nested)
        if nested != depth:
            yield "6.1.13 q without Q"

    def pattern(self, pattern: Any, seen: set[Any], depth: int) -> Iterator[str]:
        if pattern.PatternType == 2:
            yield from self.color_space(pattern.Shading.ColorSpace)
        elif pattern.objgen not in seen:
            yield from self.content(pattern, pattern.Resources, {*seen, pattern.objgen}, depth)

    def drawn(self, form: Any, seen: set[Any], depth: int) -> Iterator[str]:
        if form.Subtype != "/Form" or form.objgen in seen:
            return
        if "/Resources" not in form:
            yield "6.2.2 resources of a form"
            return
        yield from self.content(form, form.Resources, {*seen, form.objgen}, depth)

    def shown(self, font: Any, operands: Any) -> Iterator[str]:
        if font is None:
            yield "6.2.11 text without a font"
            return
        used = self.codes.setdefault(font.objgen, set())
        if font.objgen not in self.encodings:
            self.encodings[font.objgen] = read_encoding(font)
        encoding = self.encodings[font.objgen]
        strings = operands[0] if isinstance(operands[0], pikepdf.Array) else operands
        for string in strings:
            if isinstance(string, pikepdf.String):
                codes = set(encoding.split(bytes(string)))
                if not all(map(encoding.has, codes)):
                    yield "6.2.11.3 half a code"
                used |= codes

    # --- 6.2.11 fonts

    def fonts(self) -> Iterator[str]:
        for obj in self.pdf.objects:
            if isinstance(obj, pikepdf.Dictionary) and obj.get("/Type") == "/Font":
                if obj.Subtype == "/Type0":
                    yield from self.font(obj)
                elif obj.Subtype == "/TrueType":
                    yield from self.simple_font(obj)
                elif obj.Subtype != "/CIDFontType2":
                    yield f"6.2.11.2 font {obj.Subtype}"

    def simple_font(self, font: Any) -> Iterator[str]:
        """Check a font of typed text: not symbolic, with a Unicode cmap and true widths."""
        descriptor = font.FontDescriptor
        if font.BaseFont != descriptor.FontName:
            yield "6.2.11.2 names of a font"
        if font.Encoding != "/WinAnsiEncoding" or descriptor.Flags & 4 or not descriptor.Flags & 32:
            yield "6.2.11.6 encoding of a font that is not symbolic"
        program = descriptor.FontFile2.read_bytes()
        if descriptor.FontFile2.Length1 != len(program):
            yield "6.2.11.4 Length1"
        face = hb.Face(program)
        tables = TTFont(io.BytesIO(program))["cmap"].tables
        if (3, 1) not in {(one.platformID, one.platEncID) for one in tables}:
            yield "6.2.11.6 cmap"
        for code, width in enumerate(font.Widths, int(font.FirstChar)):
            char = {160: " ", 173: "-"}.get(code) or bytes([code]).decode("cp1252", "replace")
            glyph = hb.Font(face).get_nominal_glyph(ord(char))
            actual = hb.Font(face).get_glyph_h_advance(glyph or 0) * 1000 / face.upem
            if glyph and abs(float(width) - actual) > 1:
                yield f"6.2.11.5 width {width} of {code} is {actual} in {font.BaseFont}"

    def font(self, font: Any) -> Iterator[str]:
        (descendant,) = font.DescendantFonts
        descriptor = descendant.FontDescriptor
        if not font.BaseFont == descendant.BaseFont == descriptor.FontName:
            yield "6.2.11.2 names of a font"
        if not re.fullmatch(r"/[A-Z]{6}\+.+", str(font.BaseFont)):
            yield "6.2.11.4 subset tag"
        if descendant.CIDSystemInfo.Ordering != "Identity":
            yield "6.2.11.3 encoding"
        if isinstance(font.Encoding, pikepdf.Stream):
            yield from self.encoding(font.Encoding, descendant)
        elif font.Encoding != "/Identity-H":
            yield "6.2.11.3 encoding"
        if "/CIDSet" in descriptor:
            yield "6.2.11.4.2 CIDSet"
        if "/FontFile2" not in descriptor:
            yield "6.2.11.4 font not embedded"
            return
        program = descriptor.FontFile2.read_bytes()
        if descriptor.FontFile2.Length1 != len(program):
            yield "6.2.11.4 Length1"
        glyphs = _glyph_map(descendant)
        face = hb.Face(program)
        widths, default = _widths(descendant)
        encoding = read_encoding(font)
        for code in self.codes.get(font.objgen, ()):
            cid = encoding.cid_of(code)
            glyph = glyphs(cid)
            if not 0 < glyph < face.glyph_count:
                yield f"6.2.11.8 .notdef for {code.hex()} in {font.BaseFont}"
                continue
            stated = widths.get(cid, default)
            actual = hb.Font(face).get_glyph_h_advance(glyph) * 1000 / face.upem
            if abs(stated - actual) > 1:
                yield f"6.2.11.5 width {stated} of {code.hex()} is {actual} in {font.BaseFont}"

    def encoding(self, cmap: Any, descendant: Any) -> Iterator[str]:
        """Check a CMap: of the same collection, horizontal, and by itself (6.2.11.3.3)."""
        own, of_font = cmap.CIDSystemInfo, descendant.CIDSystemInfo
        if (own.Registry, own.Ordering) != (of_font.Registry, of_font.Ordering):
            yield "6.2.11.3.1 collection of a CMap"
        if own.Supplement > of_font.Supplement:
            yield "6.2.11.3.1 supplement of a CMap"
        content = cmap.read_bytes()
        if b"usecmap" in content or "/UseCMap" in cmap:
            yield "6.2.11.3.3 a CMap that needs another"
        mode = re.search(rb"/WMode\s+(\d)\s+def", content)
        if int(cmap.get("/WMode", 0)) != int(mode[1] if mode else 0):
            yield "6.2.11.3.3 writing mode of a CMap"

    # --- 6.3 to 6.5

    def annotation(self, annotation: Any) -> Iterator[str]:
        if annotation.Subtype == "/Widget":
            yield from self.widget(annotation)
        elif annotation.Subtype != "/Link":
            yield f"6.3.1 annotation {annotation.Subtype}"
        flags = annotation.get("/F", 0)
        if not flags & 4 or flags & (1 | 2 | 32 | 256):
            yield "6.3.2 flags"
        if "/AA" in annotation:
            yield "6.5.2 annotation"
        action = annotation.get("/A")
        if action is not None and action.S not in ("/URI", "/GoTo"):
            yield f"6.5.1 action {action.S}"

    def widget(self, widget: Any) -> Iterator[str]:
        """Check a form field (6.3.3, 6.4.1): one appearance, for buttons by state, and no action."""
        field = widget.get("/Parent", widget)
        normal = widget.get("/AP", {}).get("/N")
        left, bottom, right, top = map(float, widget.Rect)
        if (left, bottom) == (right, top):  # a field without an area needs no appearance
            return
        if normal is None or widget.AP.keys() != {"/N"}:
            yield "6.3.3 appearance of a widget"
        elif (field.FT == "/Btn") is isinstance(normal, pikepdf.Stream):
            yield "6.3.3 states of a button"
        if "/A" in widget or "/AA" in field:
            yield "6.4.1 action of a field"

    def catalog(self) -> Iterator[str]:
        form = self.pdf.Root.get("/AcroForm", {})
        if form.get("/NeedAppearances") or "/XFA" in form:
            yield "6.4 form without appearances"
        found = FORBIDDEN_CATALOG & set(self.pdf.Root.keys())
        if found:
            yield f"6.5 catalogue {found}"
        extensions = set(self.pdf.Root.get("/Extensions", pikepdf.Dictionary()).keys())
        if not extensions <= (EXTENSIONS if self.signatures else set()):
            yield f"6.5 extensions {extensions}"
        names = set(self.pdf.Root.get("/Names", pikepdf.Dictionary()).keys())
        if names & FORBIDDEN_NAMES or not names <= {"/Dests", "/EmbeddedFiles"}:
            yield f"6.5 names {names}"

    # --- 6.6 metadata

    def metadata(self) -> Iterator[str]:
        stream = self.pdf.Root.get("/Metadata")
        if stream is None or stream.Type != "/Metadata" or stream.Subtype != "/XML":
            yield "6.6.2.1 no metadata"
            return
        if "/Filter" in stream:
            yield "6.6.2.1 filtered metadata"
        packet = stream.read_bytes().decode("utf-8")
        header = packet.partition("?>")[0]
        if "bytes=" in header or "encoding=" in header or not packet.startswith("<?xpacket begin="):
            yield "6.6.2.1 packet header"
        properties = list(_properties(_in_elements(ElementTree.fromstring(packet))))
        values = {element.tag: element for element in properties}
        if len(values) != len(properties):
            yield "6.6.2.1 a property twice"
        part, level = (values.get(f"{PDFAID}{name}") for name in ("part", "conformance"))
        is_dated = self.part < 4 or values[f"{PDFAID}rev"].text == "2020"
        levels = "ABU" if self.part < 4 else (None, "E", "F")
        stated = None if level is None else level.text
        if part is None or part.text != str(self.part) or stated not in levels or not is_dated:
            yield "6.6.4 identification"
        elif stated is None:
            return
        elif stated == "A" and not self.pdf.Root.keys() >= LEVEL_A:
            yield "6.7 logical structure"
        if stated in ("A", "U"):
            yield from self.characters(takes_private=stated == "U")
        if self.part < 4:
            yield from self.extensions(values)
        yield from self.information(values)

    def characters(self, *, takes_private: bool) -> Iterator[str]:
        """Check that fonts name the characters of all that is shown; level A takes none for private use."""
        for font in self.pdf.objects:
            codes = self.codes.get(font.objgen) if isinstance(font, pikepdf.Dictionary) else None
            if not codes:
                continue
            if "/ToUnicode" not in font:
                if font.Subtype == "/Type0":
                    yield f"6.2.11.7.2 no characters in {font.BaseFont}"
                continue
            values = read_unicode(font.ToUnicode.read_bytes())
            for code in codes:
                text = values.get(int.from_bytes(code), "")
                if not text or any(char in "\0\ufeff\ufffe" for char in text):
                    yield f"6.2.11.7.2 no character of {code.hex()} in {font.BaseFont}"
                if not takes_private and any(unicodedata.category(char) == "Co" for char in text):
                    yield f"6.2.11.7.3 private character in {font.BaseFont}"

    def extensions(self, values: dict[str, Any]) -> Iterator[str]:
        declared = set()
        container = values.get(f"{EXTENSION}schemas")
        for schema in container.iter(f"{SCHEMA}schema") if container is not None else ():
            if not schema.text:
                yield "6.6.2.3 schema without a name"
        for item in container.findall(f"{RDF}Bag/{RDF}li") if container is not None else ():
            space = item.findtext(f"{SCHEMA}namespaceURI")
            if not item.findtext(f"{SCHEMA}prefix"):
                yield "6.6.2.3 prefix"
            for one in item.findall(f"{SCHEMA}property/{RDF}Seq/{RDF}li"):
                texts = {
                    name: one.findtext(f"{PROPERTY}{name}")
                    for name in ("name", "valueType", "category", "description")
                }
                if not all(texts.values()) or texts["category"] not in ("internal", "external"):
                    yield "6.6.2.3.3 property"
                declared.add(f"{{{space}}}{texts['name']}")
        for tag in values:
            if not tag.startswith(PREDEFINED) and tag not in declared:
                yield f"6.6.2.3 undeclared {tag}"

    def information(self, values: dict[str, Any]) -> Iterator[str]:
        for name, value in self.pdf.docinfo.items():
            if name in INFORMATION:
                texts = [item.text for item in values[INFORMATION[name]].iter(f"{RDF}li")]
                if texts != [str(value)]:
                    yield f"6.6.3 {name} says otherwise"
            elif name in ("/Producer", "/Keywords"):
                if values[PDF + name[1:]].text != str(value):
                    yield f"6.6.3 {name} says otherwise"
            elif name != "/PressroomDraft":
                yield f"6.6.3 {name}"

    # --- 6.8 embedded files

    def attachments(self) -> Iterator[str]:
        associated = list(self.pdf.Root.get("/AF", []))
        tree = self.pdf.Root.get("/Names", pikepdf.Dictionary()).get("/EmbeddedFiles")
        takes_files = self.part == 3 or re.search(b"<pdfaid:conformance>[EF]<", self.data)
        if not takes_files and (tree is not None or associated):
            yield "6.8 embedded file"
        if tree is None:
            return
        names = list(tree.Names)
        if [bytes(key) for key in names[::2]] != sorted(bytes(key) for key in names[::2]):
            yield "6.8 order of names"
        for specification in names[1::2]:
            if specification.get("/AFRelationship") not in RELATIONSHIPS:
                yield "6.8 relationship"
            if not {"/F", "/UF", "/EF"} <= set(specification.keys()):
                yield "6.8 file specification"
            if specification.objgen not in [one.objgen for one in associated]:
                yield "6.8 not associated"
            file = specification.EF.F
            if not re.fullmatch(r"/[\w.+-]+/[\w.+-]+", str(file.get("/Subtype"))):
                yield "6.8 media type"
            if not re.match(r"D:\d{8}", str(file.get("/Params", {}).get("/ModDate"))):
                yield "6.8 date"

    # --- 6.4.3 signatures

    def signed(self) -> Iterator[str]:
        """Check that each signature covers all of its revision but itself, by one signer."""
        fields = self.pdf.Root.get("/AcroForm", {}).get("/Fields", [])
        values = [field.V for field in fields if field.get("/FT") == "/Sig" and "/V" in field]
        if len(values) != self.signatures:
            yield f"6.4.3 {len(values)} signatures"
        ends = {found.end() for found in re.finditer(rb"%%EOF\n?", self.data)}
        for value in values:
            start, before, after, length = map(int, value.ByteRange)
            gap = self.data[before:after]
            if start or after + length not in ends or not re.fullmatch(rb"<[0-9A-Fa-f]+>", gap):
                yield "6.4.3 range of a signature"
            content = cms.ContentInfo.load(bytes(value.Contents))["content"]
            if len(content["signer_infos"]) != 1 or not len(content["certificates"]):
                yield "6.4.3 signer"


def _glyph_map(descendant: Any) -> Any:
    glyphs = descendant.CIDToGIDMap
    if isinstance(glyphs, pikepdf.Name):
        return lambda code: code
    table = glyphs.read_bytes()
    return lambda code: int.from_bytes(table[2 * code : 2 * code + 2])


def _widths(descendant: Any) -> tuple[dict[int, float], float]:
    widths: dict[int, float] = {}
    entries = list(descendant.get("/W", []))
    while entries:
        first, second = entries.pop(0), entries.pop(0)
        if isinstance(second, pikepdf.Array):
            widths.update((int(first) + at, float(width)) for at, width in enumerate(second))
        else:
            width = float(entries.pop(0))
            widths.update(dict.fromkeys(range(int(first), int(second) + 1), width))
    return widths, float(descendant.get("/DW", 1000))


def _in_elements(packet: Any) -> Any:
    """Return XMP in one of the ways RDF has to write it: properties are elements, and structures too.

    They may be attributes also, and structures a Description inside (ISO 16684-1, 7.9.2).
    """
    for element in list(packet.iter()):
        for name, text in list(element.attrib.items()):
            if name == f"{RDF}resource":
                element.text = text
            elif name.startswith("{") and not name.startswith((RDF, XML)):
                ElementTree.SubElement(element, name).text = text
                del element.attrib[name]
    for item in packet.iter(f"{RDF}li"):
        for inner in item.findall(f"{RDF}Description"):
            item.extend(list(inner))
            item.remove(inner)
    return packet


def _properties(root: Any) -> Iterator[Any]:
    for description in root.iter(f"{RDF}Description"):
        yield from description
