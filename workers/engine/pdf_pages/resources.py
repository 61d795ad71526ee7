"""Resources of a page (ISO 32000-1, 7.8.3), copied as far as its content uses them.

Each kind of object has a list of the entries that drawing needs; all others stay behind, among them
actions, annotations, structure, metadata and files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from workers.engine.pdf_pages.content import MAX_INSTRUCTIONS, clean_content, too_complex
from workers.engine.pdf_pages.file import PdfFile, is_name
from workers.engine.pdf_pages.filters import FLATE, DecodedBudget, check_inflated
from workers.engine.pdf_pages.layers import Layers
from workers.engine.pdf_pages.lexer import Lexer
from workers.engine.pdf_pages.objects import (
    SIMPLIFY,
    PdfObject,
    Reference,
    Stream,
    UnusablePdfError,
    damaged,
    write_atom,
    write_name,
)
from workers.engine.pdf_pages.output import ObjectBuilder, Parts, write_deflated

MAX_PIXELS: Final = 100_000_000  # of one picture, as for pictures of other formats
_MAX_NESTING: Final = 60  # of values in each other
_PIXELS_PER_INSTRUCTION: Final = 1_000  # painting a picture costs as much as so many operators

_FORM: Final = ("Type", "Subtype", "BBox", "Matrix")
_GROUP: Final = ("Type", "S", "CS", "I", "K")
_IMAGE: Final = (
    *("Type", "Subtype", "Width", "Height", "ColorSpace", "BitsPerComponent", "Intent"),
    *("ImageMask", "Mask", "Decode", "SMask", "SMaskInData", "Matte"),
)
_FILTER_PARAMETERS: Final = (
    *("Predictor", "Colors", "BitsPerComponent", "Columns", "K", "EndOfLine", "EncodedByteAlign"),
    *("Rows", "EndOfBlock", "BlackIs1", "DamagedRowsBeforeError", "ColorTransform", "JBIG2Globals"),
)
_STATE: Final = (
    *("Type", "LW", "LC", "LJ", "ML", "D", "RI", "OP", "op", "OPM", "Font", "FL", "SM", "SA"),
    *("BM", "SMask", "CA", "ca", "AIS", "TK"),
)
_SOFT_MASK: Final = ("Type", "S", "G", "BC", "TR")
_TILING: Final = ("Type", "PatternType", "PaintType", "TilingType", "BBox", "XStep", "YStep", "Matrix")
_SHADING_PATTERN: Final = ("Type", "PatternType", "Shading", "Matrix")
_FONT: Final = (
    *("Type", "Subtype", "BaseFont", "FirstChar", "LastChar", "Widths", "FontDescriptor"),
    *("Encoding", "ToUnicode", "DescendantFonts", "CIDSystemInfo", "DW", "W", "DW2", "W2"),
    *("CIDToGIDMap", "FontBBox", "FontMatrix", "CharProcs", "Resources"),
)
_CONTENT_KINDS: Final = frozenset({"XObject", "Font", "Pattern"})
_FONT_FILES: Final = ("FontFile", "FontFile2", "FontFile3")
_NEVER: Final = frozenset(
    {"Length", "F", "FFilter", "FDecodeParms", "DL", "Metadata", "AA", "A", "JS", "Parent", "OC", "AF"}
)
# Types of dictionaries that are no content: a reference to one is left out.
_OTHER_TYPES: Final = frozenset(
    {"Page", "Pages", "Catalog", "Annot", "StructElem", "StructTreeRoot", "Action", "Filespec"}
    | {"EmbeddedFile", "OBJR", "Sig", "Outlines", "XRef", "ObjStm"}
)
BLEND_MODES: Final = frozenset(
    {"Normal", "Compatible", "Multiply", "Screen", "Overlay", "Darken", "Lighten", "ColorDodge"}
    | {"ColorBurn", "HardLight", "SoftLight", "Difference", "Exclusion", "Hue", "Saturation"}
    | {"Color", "Luminosity"}
)


@dataclass(slots=True)
class Facts:
    """Facts about copied content that the standards for archives and accessibility ask for."""

    unembedded: dict[str, None] = field(default_factory=dict)  # names of fonts
    unmapped: dict[str, None] = field(default_factory=dict)  # fonts without characters for their codes
    has_cmyk: bool = False
    has_jpeg2000: bool = False
    has_unknown_blend: bool = False
    depth: int = 1


class Cost(NamedTuple):
    """The cost of drawing something once: instructions, and saved states in each other."""

    instructions: int
    depth: int


FREE: Final = Cost(0, 0)

# The parts of resources, by category and by name, both as written.
NamedResources = dict[bytes, dict[bytes, Parts]]


class CopiedContent(NamedTuple):
    """Rewritten content with the resources it uses, and the cost of drawing it."""

    data: bytes
    resources: NamedResources
    cost: Cost


def write_resources(resources: NamedResources) -> Parts:
    """Return a resource dictionary."""
    parts: Parts = [b"<< "]
    for category, named in resources.items():
        parts += [category, b" << "]
        for name, value in named.items():
            parts += [name, b" ", *value, b" "]
        parts.append(b">> ")
    return [*parts, b">>"]


class ResourceCopier:
    """Copies resources of one file into objects that refer to each other by their index."""

    def __init__(self, file: PdfFile, budget: DecodedBudget, builder: ObjectBuilder) -> None:
        self._file = file
        self._budget = budget
        self._builder = builder
        self._layers = Layers(file)
        self._known: dict[tuple[int, str], int] = {}
        self._active: set[int] = set()  # numbers of the objects being copied
        self._costs: dict[int, Cost] = {}  # of objects, by number
        self._cost = FREE  # of the object copied last
        self._nesting = 0
        self.facts = Facts()

    # --- content

    def copy_content(self, data: bytes, resources: PdfObject) -> CopiedContent:
        """Return rewritten content, the resources it uses, and the cost of drawing it."""
        categories = {
            category: self._file.resolve_dictionary(value)
            for category, value in self._file.resolve_dictionary(resources).items()
        }

        def is_hidden(category: str, name: bytes) -> bool:
            value = categories.get(category, {}).get(_read_name(name))
            if category == "XObject":
                value = self._file.resolve_dictionary(value).get("OC")
            return value is not None and self._layers.is_hidden(value)

        content = clean_content(data, is_hidden)
        self.facts.has_cmyk = self.facts.has_cmyk or content.has_cmyk
        copied: NamedResources = {}
        instructions, depth = content.instructions, content.depth
        for category, names in sorted(content.used.items()):
            for name, count in names.items():
                value = categories.get(category, {}).get(_read_name(name))
                if value is None:
                    continue
                parts, cost = self._copy_resource(category, value)
                copied.setdefault(write_name(category), {})[name] = parts
                uses = content.shown_bytes if category == "Font" else count
                instructions += cost.instructions * uses
                depth = max(depth, content.depth + 1 + cost.depth)
        if instructions > MAX_INSTRUCTIONS:
            raise too_complex()
        self.facts.depth = max(self.facts.depth, depth)
        return CopiedContent(content.data, copied, Cost(instructions, depth))

    def _copy_resource(self, category: str, value: PdfObject) -> tuple[Parts, Cost]:
        copiers: dict[str, Callable[[PdfObject], Parts]] = {
            "XObject": self._copy_xobject,
            "Font": self._copy_font,
            "ExtGState": self._copy_state,
            "Pattern": self._copy_pattern,
            "ColorSpace": self._copy_color_space,
        }
        self._cost = FREE
        parts = self._refer(value, category, copiers.get(category, self._copy_value))
        if isinstance(value, Reference):
            return parts, self._costs.get(value.number, FREE)
        return parts, self._cost

    def _refer(self, value: PdfObject, kind: str, copy: Callable[[PdfObject], Parts]) -> Parts:
        """Copy a value; one behind a reference becomes an object of its own, copied once."""
        if not isinstance(value, Reference):
            if isinstance(value, Stream):
                raise damaged("a stream has no number")
            return self._nest(value, copy)
        if kind in _CONTENT_KINDS and value.number in self._active:
            raise UnusablePdfError("The PDF has content that draws itself", advice=SIMPLIFY)
        key = (value.number, kind)
        known = self._known.get(key)
        if known is None:
            found = self._file.resolve(value)
            if found is None or is_name(_type_of(found), *_OTHER_TYPES):
                return [b"null"]
            known = self._known[key] = self._builder.reserve()
            self._active.add(value.number)
            self._cost = FREE
            self._builder.define(known, self._nest(found, copy))
            self._costs[value.number] = self._cost
            self._active.discard(value.number)
        return [known]

    def _nest(self, value: PdfObject, copy: Callable[[PdfObject], Parts]) -> Parts:
        self._nesting += 1
        if self._nesting > _MAX_NESTING:
            raise UnusablePdfError(
                f"The PDF has content nested more than {_MAX_NESTING} deep", advice=SIMPLIFY
            )
        try:
            return copy(value)
        finally:
            self._nesting -= 1

    # --- kinds of resources

    def _copy_xobject(self, value: PdfObject) -> Parts:
        if not isinstance(value, Stream):
            return [b"null"]
        match value.entries.get("Subtype"):
            case "Image":
                return self._copy_image(value)
            case "Form":
                return self._copy_form(value, self._entries(value.entries, _FORM))
            case _:
                return [b"null"]  # PostScript, which no viewer runs

    def _copy_form(self, form: Stream, head: Parts) -> Parts:
        return self.write_form(
            self._file.decode(form).data, form.entries.get("Resources"), form.entries.get("Group"), head
        )

    def write_form(self, data: bytes, resources: PdfObject, group: PdfObject, head: Parts) -> Parts:
        """Return a form of content, the resources it uses, and a transparency group."""
        content = self.copy_content(data, resources)
        entries = [*head, b" /Resources ", *write_resources(content.resources)]
        entries += self._copy_group(group)
        self._cost = content.cost
        return write_deflated(entries, content.data)

    def _copy_group(self, value: PdfObject) -> Parts:
        entries = self._file.resolve_dictionary(value)
        if not is_name(entries.get("S"), "Transparency"):
            return []
        return [b" /Group << ", *self._entries(entries, _GROUP, {"CS": self._copy_color_space}), b" >>"]

    def _copy_image(self, image: Stream) -> Parts:
        width, height = (self._file.resolve(image.entries.get(name)) for name in ("Width", "Height"))
        if not isinstance(width, int) or not isinstance(height, int) or width < 1 or height < 1:
            raise damaged("a picture has no size")
        if width * height > MAX_PIXELS:
            raise UnusablePdfError(
                f"The PDF has a picture of {width} × {height} pixels; at most "
                f"{MAX_PIXELS // 1_000_000} megapixels are drawn",
                advice="Make it smaller.",
            )
        copiers = {
            "ColorSpace": self._copy_color_space,
            "SMask": self._copy_mask,
            "Mask": self._copy_mask,
        }
        entries = self._entries(image.entries, _IMAGE, copiers)
        self._cost = Cost(1 + width * height // _PIXELS_PER_INSTRUCTION, 0)
        return self._copy_data(image, entries)

    def _copy_mask(self, value: PdfObject) -> Parts:
        """Copy a mask of a picture: another picture without a mask, or a range of colours."""
        if not isinstance(value, Stream):
            return self._copy_value(value)
        entries = {
            name: each for name, each in value.entries.items() if name not in ("SMask", "Mask")
        }
        return self._copy_image(Stream(entries, value.data))

    def _copy_state(self, value: PdfObject) -> Parts:
        entries = self._file.resolve_dictionary(value)
        modes = self._file.resolve(entries.get("BM"))
        for mode in modes if isinstance(modes, list) else [modes]:
            if mode is not None and self._file.resolve(mode) not in BLEND_MODES:
                self.facts.has_unknown_blend = True
        copiers = {"SMask": self._copy_soft_mask, "Font": self._copy_font_array}
        parts = [b"<< ", *self._entries(entries, _STATE, copiers), b" >>"]
        mask = self._file.resolve_dictionary(entries.get("SMask")).get("G")
        self._cost = self._costs.get(mask.number, FREE) if isinstance(mask, Reference) else FREE
        return parts

    def _copy_soft_mask(self, value: PdfObject) -> Parts:
        if not isinstance(value, dict):
            return self._copy_value(value)
        return [b"<< ", *self._entries(value, _SOFT_MASK, {"G": self._copy_xobject}), b" >>"]

    def _copy_font_array(self, value: PdfObject) -> Parts:
        items = self._file.resolve_list(value)
        if len(items) != 2:
            return [b"null"]
        return [b"[", *self._refer(items[0], "Font", self._copy_font), b" ", *self._copy_value(items[1]), b"]"]

    def _copy_pattern(self, value: PdfObject) -> Parts:
        if isinstance(value, Stream):
            entries = self._entries(value.entries, _TILING)
            return self.write_form(
                self._file.decode(value).data, value.entries.get("Resources"), None, entries
            )
        entries = self._entries(self._file.resolve_dictionary(value), _SHADING_PATTERN)
        return [b"<< ", *entries, b" >>"]

    def _copy_color_space(self, value: PdfObject) -> Parts:
        if is_name(value, "DeviceCMYK", "CMYK"):
            self.facts.has_cmyk = True
        if not isinstance(value, list):
            return self._copy_value(value)
        parts: Parts = [b"["]
        for item in value:
            parts += [*self._refer(item, "ColorSpace", self._copy_color_space), b" "]
        return [*parts, b"]"]

    # --- fonts

    def _copy_font(self, value: PdfObject) -> Parts:
        entries = self._file.resolve_dictionary(value)
        if not entries:
            return [b"null"]
        self._check_font(entries)
        procedures, cost = (
            self._copy_glyphs(entries) if is_name(entries.get("Subtype"), "Type3") else ([], FREE)
        )
        names = tuple(name for name in _FONT if name not in ("CharProcs", "Resources"))
        descendants = {"DescendantFonts": self._copy_descendants}
        parts = [b"<< ", *self._entries(entries, names, descendants), *procedures, b" >>"]
        self._cost = cost
        return parts

    def _copy_descendants(self, value: PdfObject) -> Parts:
        items = self._file.resolve_list(value)[:1]
        parts: Parts = [b"["]
        for item in items:
            parts += self._refer(item, "Descendant", self._copy_descendant)
        return [*parts, b"]"]

    def _copy_descendant(self, value: PdfObject) -> Parts:
        entries = self._file.resolve_dictionary(value)
        names = tuple(
            name for name in _FONT if name not in ("CharProcs", "Resources", "DescendantFonts")
        )
        return [b"<< ", *self._entries(entries, names), b" >>"]

    def _copy_glyphs(self, font: Mapping[str, PdfObject]) -> tuple[Parts, Cost]:
        """Return the glyphs of a Type 3 font (9.6.5), which are content, and the most that one costs."""
        parts: Parts = [b" /CharProcs << "]
        used: NamedResources = {}
        instructions = depth = 0
        for name, value in self._file.resolve_dictionary(font.get("CharProcs")).items():
            glyph = self._file.resolve(value)
            if not isinstance(glyph, Stream):
                continue
            content = self.copy_content(self._file.decode(glyph).data, font.get("Resources"))
            index = self._builder.reserve()
            self._builder.define(index, write_deflated([], content.data))
            parts += [write_name(name), b" ", index, b" "]
            for category, named in content.resources.items():
                used.setdefault(category, {}).update(named)
            instructions = max(instructions, content.cost.instructions)
            depth = max(depth, content.cost.depth)
        resources = write_resources(used)
        return [*parts, b">> /Resources ", *resources], Cost(instructions, depth)

    def _check_font(self, font: Mapping[str, PdfObject]) -> None:
        """Record a font that is not embedded, or whose codes have no characters."""
        kind, name = font.get("Subtype"), _display_name(self._file.resolve(font.get("BaseFont")))
        if is_name(kind, "Type3"):
            if "ToUnicode" not in font:
                self.facts.unmapped[name] = None
            return
        described = font
        if is_name(kind, "Type0"):
            descendants = self._file.resolve_list(font.get("DescendantFonts"))
            described = self._file.resolve_dictionary(descendants[0] if descendants else None)
            if "ToUnicode" not in font and is_name(font.get("Encoding"), "Identity-H", "Identity-V"):
                self.facts.unmapped[name] = None
        descriptor = self._file.resolve_dictionary(described.get("FontDescriptor"))
        if not any(isinstance(self._file.resolve(descriptor.get(file)), Stream) for file in _FONT_FILES):
            self.facts.unembedded[name] = None

    # --- values

    def _entries(
        self,
        entries: Mapping[str, PdfObject],
        names: Iterable[str],
        copiers: Mapping[str, Callable[[PdfObject], Parts]] | None = None,
    ) -> Parts:
        parts: Parts = []
        for name in names:
            value = entries.get(name)
            if value is None:
                continue
            copy = (copiers or {}).get(name, self._copy_value)
            kind = name if copiers and name in copiers else ""
            kind = {"G": "XObject", "CS": "ColorSpace"}.get(kind, kind)
            parts += [write_name(name), b" ", *self._refer(value, kind, copy), b" "]
        return parts

    def _copy_value(self, value: PdfObject) -> Parts:
        if isinstance(value, Stream):
            names = [name for name in value.entries if name not in _NEVER]
            names = [name for name in names if name not in ("Filter", "DecodeParms", "Alternate")]
            return self._copy_data(value, self._entries(value.entries, names))
        if isinstance(value, dict):
            names = [name for name in value if name not in _NEVER]
            return [b"<< ", *self._entries(value, names), b">>"]
        if isinstance(value, list):
            parts: Parts = [b"["]
            for item in value:
                parts += [*self._refer(item, "", self._copy_value), b" "]
            return [*parts, b"]"]
        if isinstance(value, Reference):
            return self._refer(value, "", self._copy_value)
        return [write_atom(value)]

    def _copy_data(self, stream: Stream, entries: Parts) -> Parts:
        """Return a stream as it is if its filter is one that viewers and archives accept, else deflated."""
        steps = self._file.read_filters(stream)
        if len(steps) == 1 and steps[0].name == FLATE:
            check_inflated(stream.data, self._budget)
            data, rest = stream.data, steps[0]
        else:
            data, rest = self._file.decode(stream)
        if rest is None:
            return write_deflated(entries, data)
        self.facts.has_jpeg2000 = self.facts.has_jpeg2000 or rest.name == "JPXDecode"
        parameters = self._entries(rest.parameters, _FILTER_PARAMETERS)
        if rest.name == "JBIG2Decode" and isinstance(rest.parameters.get("JBIG2Globals"), Stream):
            index = self._builder.reserve()
            self._builder.define(index, self._copy_value(rest.parameters["JBIG2Globals"]))
            parameters = [b"/JBIG2Globals ", index]
        filters: Parts = [b" /Filter ", write_name(rest.name)]
        if parameters:
            filters += [b" /DecodeParms << ", *parameters, b" >>"]
        return [
            *(b"<< ", *entries, *filters),
            *(b" /Length %d >>\nstream\n" % len(data), data, b"\nendstream"),
        ]


def _read_name(written: bytes) -> str:
    return str(Lexer(written).read_name()) if written.startswith(b"/") else ""


def _type_of(value: PdfObject) -> PdfObject:
    if isinstance(value, Stream):
        return value.entries.get("Type")
    return value.get("Type") if isinstance(value, dict) else None


def _display_name(name: PdfObject) -> str:
    """Return the name of a font for messages, without the prefix of a subset."""
    text = "".join(c for c in str(name) if c.isascii() and c.isprintable())[:60] or "without a name"
    head, plus, rest = text.partition("+")
    return rest if plus and len(head) == 6 and head.isupper() else text

