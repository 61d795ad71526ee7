"""Resources of a page (ISO 32000-1, 7.8.3), copied as far as its content uses them.

Each kind of object has a list of the entries that drawing needs; all others stay behind, among them
actions, annotations, structure, metadata and files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import ceil, hypot
from typing import Final, NamedTuple

from workers.engine.pdf_pages.archive_checks import (
    check_font,
    check_jpeg2000,
    check_text,
    find_descriptor,
    has_private_characters,
)
from workers.engine.pdf_pages.content import (
    MAX_INSTRUCTIONS,
    MAX_PIXELS,
    PIXELS_PER_INSTRUCTION,
    CleanContent,
    clean_content,
    too_complex,
    too_many_pixels,
)
from workers.engine.pdf_pages.file import (
    FLATE,
    Decoded,
    DecodedBudget,
    Layers,
    PdfFile,
    check_inflated,
    is_name,
    read_numbers,
)
from workers.engine.pdf_pages.objects import (
    ENTRIES,
    FONT_FILES,
    SIMPLIFY,
    IndirectReference,
    ObjectBuilder,
    Parts,
    PdfObject,
    Stream,
    UnusablePdfError,
    damaged,
    read_name,
    write_atom,
    write_deflated,
    write_name,
    write_stream,
)
from workers.engine.pdf_writer import PreparedObject
from workers.engine.prepared_images import UPRIGHT

_VALUE: Final = frozenset(ENTRIES["value"])
_MAX_NESTING: Final = 60  # of values in each other
_OF_GLYPHS: Final = ("CharProcs", "Resources")  # of a Type 3 font
_CMYK: Final = 4  # components of a colour space
_BYTES_PER_INSTRUCTION: Final = 4  # of a mesh of colours
UNBOUNDED: Final = 100_000.0  # the diagonal of content that is not clipped


@dataclass(slots=True)
class Facts:
    """Facts about copied content that the standards for archives and accessibility ask for."""

    unembedded: dict[str, None] = field(default_factory=dict)  # names of fonts
    # Fonts without characters for their codes.
    unmapped: dict[str, None] = field(default_factory=dict)
    has_cmyk: bool = False
    breaches: dict[str, None] = field(default_factory=dict)  # of PDF/A, by clauses of ISO 19005-2
    has_overprint_mode: bool = False
    has_icc_cmyk: bool = False
    depth: int = 1  # nesting of graphics states inside the form of the page


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
    """Copies resources of one file into objects that refer to each other."""

    def __init__(self, file: PdfFile, budget: DecodedBudget, builder: ObjectBuilder) -> None:
        self._file = file
        self._budget = budget
        self._builder = builder
        self._layers = Layers(file)
        self._known: dict[tuple[int, str], PreparedObject] = {}
        self._active: set[int] = set()  # numbers of the objects being copied
        self._costs: dict[int, Cost] = {}  # of objects, by number
        self._cost = FREE  # of the object copied last
        self._shown: dict[str, tuple[PdfObject, dict[bytes, bool]]] = {}  # by font
        self._nesting = 0
        self.facts = Facts()

    # --- content

    def copy_content(
        self, data: bytes, resources: PdfObject, diagonal: float = UNBOUNDED
    ) -> CopiedContent:
        """Return rewritten content, the resources it uses, and the cost of drawing it.

        `diagonal` is that of the box to which the content is clipped, in its own units.
        """
        categories = {
            category: self._file.resolve_dictionary(value)
            for category, value in self._file.resolve_dictionary(resources).items()
        }

        def is_hidden(category: str, name: bytes) -> bool:
            value = categories.get(category, {}).get(_read_name(name))
            if category == "XObject":
                value = self._file.resolve_dictionary(value).get("OC")
            return value is not None and self._layers.is_hidden(value)

        self._budget.take_content(len(data))
        content = clean_content(data, is_hidden)
        self.facts.has_cmyk = self.facts.has_cmyk or content.has_cmyk
        if content.has_lzw:
            self._breach("data in LZW (6.1.7.2)")
        self._record_text(content, categories.get("Font", {}))
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
                if category == "Pattern":
                    uses *= self._count_tiles(value, diagonal)
                    cost = cost._replace(instructions=max(cost.instructions, 1))
                instructions += cost.instructions * uses
                depth = max(depth, content.depth + 1 + cost.depth)
        if instructions > MAX_INSTRUCTIONS:
            raise too_complex()
        self.facts.depth = max(self.facts.depth, depth)
        return CopiedContent(content.data, copied, Cost(instructions, depth))

    def _record_text(self, content: CleanContent, fonts: Mapping[str, PdfObject]) -> None:
        for name, operands in content.shown.items():
            font = fonts.get(_read_name(name))
            if font is None:
                self._breach("text in a font that its content does not set (6.2.11.5)")
                continue
            _, shown = self._shown.setdefault(repr(font), (font, {}))
            for operand, is_visible in operands.items():
                shown[operand] = shown.get(operand, False) or is_visible

    def check_texts(self) -> None:
        """Record what all text that was copied breaks in its fonts."""
        for font, shown in self._shown.values():
            entries = self._file.resolve_dictionary(font)
            self._breach(*check_text(self._file, self._budget, entries, shown))

    def _breach(self, *found: str) -> None:
        self.facts.breaches.update(dict.fromkeys(found))

    def _count_tiles(self, value: PdfObject, diagonal: float) -> int:
        pattern = self._file.resolve(value)
        if not isinstance(pattern, Stream):
            return 1
        steps = read_numbers(self._file, [pattern.entries.get(name) for name in ("XStep", "YStep")])
        cell = read_numbers(self._file, self._file.resolve_list(pattern.entries.get("BBox")))
        if len(steps) != 2 or len(cell) != 4:
            raise damaged("a pattern has no size")
        matrix = read_numbers(self._file, self._file.resolve_list(pattern.entries.get("Matrix")))
        return count_tiles((steps[0], steps[1]), cell, matrix, diagonal)

    def _copy_resource(self, category: str, value: PdfObject) -> tuple[Parts, Cost]:
        copiers: dict[str, Callable[[PdfObject], Parts]] = {
            "XObject": self._copy_xobject,
            "Font": self._copy_font,
            "ExtGState": self._copy_state,
            "Pattern": self._copy_pattern,
            "ColorSpace": self._copy_color_space,
            "Shading": self._copy_shading,
        }
        self._cost = FREE
        parts = self._refer(value, category, copiers.get(category, self._copy_value))
        if isinstance(value, IndirectReference):
            return parts, self._costs.get(value.number, FREE)
        return parts, self._cost

    def _refer(self, value: PdfObject, kind: str, copy: Callable[[PdfObject], Parts]) -> Parts:
        """Copy a value; one behind a reference becomes an object of its own, copied once."""
        if not isinstance(value, IndirectReference):
            if isinstance(value, Stream):
                raise damaged("a stream has no number")
            return self._nest(value, copy)
        if value.number in self._active:
            raise UnusablePdfError("The PDF has content that draws itself", advice=SIMPLIFY)
        key = (value.number, kind)
        known = self._known.get(key)
        if known is None:
            found = self._file.resolve(value)
            if found is None or is_name(_type_of(found), *ENTRIES["other-types"]):
                return [b"null"]
            self._active.add(value.number)
            self._cost = FREE
            known = self._known[key] = self._builder.make(self._nest(found, copy))
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
                return self._copy_form(value, self._entries(value.entries, ENTRIES["form"]))
            case _:
                return [b"null"]  # PostScript, which no viewer runs

    def _copy_form(self, form: Stream, head: Parts) -> Parts:
        return self.write_form(self._file.decode(form).data, form.entries, head)

    def write_form(
        self,
        data: bytes,
        entries_of: Mapping[str, PdfObject],
        head: Parts,
        box: Sequence[float] = (),
    ) -> Parts:
        """Return a form of content with the resources it uses and its transparency group.

        `entries_of` is the dictionary of the content; `head` are the entries of the form.
        """
        box = box or read_numbers(self._file, self._file.resolve_list(entries_of.get("BBox")))
        diagonal = hypot(box[2] - box[0], box[3] - box[1]) if len(box) == 4 else UNBOUNDED
        content = self.copy_content(data, entries_of.get("Resources"), diagonal)
        entries = [*head, b" /Resources ", *write_resources(content.resources)]
        if "PatternType" not in entries_of:
            entries += self._copy_group(entries_of.get("Group"))
        self._cost = content.cost
        return write_deflated(entries, content.data)

    def _copy_group(self, value: PdfObject) -> Parts:
        if not is_name(self._file.resolve_dictionary(value).get("S"), "Transparency"):
            return []
        return [
            b" /Group ",
            *self._dictionary(value, ENTRIES["group"], {"CS": self._copy_color_space}),
        ]

    def _copy_image(self, image: Stream) -> Parts:
        width, height = (
            self._file.resolve(image.entries.get(name)) for name in ("Width", "Height")
        )
        if not isinstance(width, int) or not isinstance(height, int) or width < 1 or height < 1:
            raise damaged("a picture has no size")
        if width * height > MAX_PIXELS:
            raise too_many_pixels(width, height)
        copiers = {
            "ColorSpace": self._copy_color_space,
            "SMask": self._copy_mask,
            "Mask": self._copy_mask,
        }
        entries = self._entries(image.entries, ENTRIES["image"], copiers)
        self._cost = Cost(1 + width * height // PIXELS_PER_INSTRUCTION, 0)
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
            if mode is not None and self._file.resolve(mode) not in ENTRIES["blend-modes"]:
                self._breach("blend modes of its own (6.2.10)")
        if "Font" in entries:
            self._breach("a font that a graphics state sets (6.2.11.5)")
        overprints = any(self._file.resolve(entries.get(name)) is True for name in ("OP", "op"))
        if overprints and self._file.resolve(entries.get("OPM")) == 1:
            self.facts.has_overprint_mode = True
        copiers = {"SMask": self._copy_soft_mask, "Font": self._copy_font_array}
        parts = self._dictionary(entries, ENTRIES["state"], copiers)
        mask = self._file.resolve_dictionary(entries.get("SMask")).get("G")
        self._cost = (
            self._costs.get(mask.number, FREE) if isinstance(mask, IndirectReference) else FREE
        )
        return parts

    def _copy_soft_mask(self, value: PdfObject) -> Parts:
        if not isinstance(value, dict):
            return self._copy_value(value)
        return self._dictionary(value, ENTRIES["soft-mask"], {"G": self._copy_xobject})

    def _copy_font_array(self, value: PdfObject) -> Parts:
        items = self._file.resolve_list(value)
        if len(items) != 2:
            return [b"null"]
        font = self._refer(items[0], "Font", self._copy_font)
        return [b"[", *font, b" ", *self._copy_value(items[1]), b"]"]

    def _copy_pattern(self, value: PdfObject) -> Parts:
        if isinstance(value, Stream):
            entries = self._entries(value.entries, ENTRIES["tiling"])
            return self.write_form(self._file.decode(value).data, value.entries, entries)
        return self._dictionary(value, ENTRIES["shading-pattern"], {"Shading": self._copy_shading})

    def _copy_shading(self, value: PdfObject) -> Parts:
        entries = self._file.resolve_dictionary(value)
        parts = self._entries(entries, ENTRIES["shading"], {"ColorSpace": self._copy_color_space})
        if not isinstance(value, Stream):
            return [b"<< ", *parts, b" >>"]
        self._cost = Cost(1 + len(value.data) // _BYTES_PER_INSTRUCTION, 0)
        return self._copy_data(value, parts)

    def _copy_color_space(self, value: PdfObject) -> Parts:
        if is_name(value, "DeviceCMYK", "CMYK"):
            self.facts.has_cmyk = True
        if isinstance(value, dict):
            return self._copy_colorants(value)
        if isinstance(value, Stream) and self._file.resolve(value.entries.get("N")) == _CMYK:
            self.facts.has_icc_cmyk = True
        if not isinstance(value, list):
            return self._copy_value(value)
        parts: Parts = [b"["]
        for item in value:
            parts += [*self._refer(item, "ColorSpace", self._copy_color_space), b" "]
        return [*parts, b"]"]

    def _copy_colorants(self, value: PdfObject) -> Parts:
        """Copy the attributes of a DeviceN space, or a dictionary of other spaces."""
        entries = self._file.resolve_dictionary(value)
        if not any(name in entries for name in ENTRIES["colorants"]):
            return self._copy_value(value)
        colors = {"ColorSpace": self._copy_color_space}
        # Their dictionaries have the names of the colorants.
        hints = dict.fromkeys(
            ("Solidities", "DotGain"), partial(self._copy_members, "", self._copy_value)
        )
        copiers: dict[str, Callable[[PdfObject], Parts]] = {
            "Colorants": partial(self._copy_members, "ColorSpace", self._copy_color_space),
            "Process": partial(self._dictionary, names=ENTRIES["process"], copiers=colors),
            "MixingHints": partial(self._dictionary, names=ENTRIES["mixing-hints"], copiers=hints),
        }
        return self._dictionary(entries, ENTRIES["colorants"], copiers)

    def _copy_members(
        self, kind: str, copy: Callable[[PdfObject], Parts], value: PdfObject
    ) -> Parts:
        """Copy a dictionary with names of its own."""
        parts: Parts = [b"<< "]
        for name, each in self._file.resolve_dictionary(value).items():
            parts += [write_name(name), b" ", *self._refer(each, kind, copy), b" "]
        return [*parts, b">>"]

    # --- fonts

    def _copy_font(self, value: PdfObject) -> Parts:
        entries = self._file.resolve_dictionary(value)
        if not entries:
            return [b"null"]
        self._check_font(entries)
        is_drawn = is_name(entries.get("Subtype"), "Type3")
        procedures, cost = self._copy_glyphs(entries) if is_drawn else ([], FREE)
        names = [name for name in ENTRIES["font"] if name not in _OF_GLYPHS]
        descendants = {"DescendantFonts": self._copy_descendants}
        parts = [b"<< ", *self._entries(entries, names, descendants), *procedures, b" >>"]
        self._cost = cost
        return parts

    def _copy_descendants(self, value: PdfObject) -> Parts:
        items = self._file.resolve_list(value)[:1]
        found = [self._refer(item, "Descendant", self._copy_descendant) for item in items]
        return [b"[", *(part for parts in found for part in parts), b"]"]

    def _copy_descendant(self, value: PdfObject) -> Parts:
        entries = self._file.resolve_dictionary(value)
        without = (*_OF_GLYPHS, "DescendantFonts")
        names = [name for name in ENTRIES["font"] if name not in without]
        parts = [b"<< ", *self._entries(entries, names)]
        if is_name(entries.get("Subtype"), "CIDFontType2") and "CIDToGIDMap" not in entries:
            parts.append(b" /CIDToGIDMap /Identity")  # the default, which PDF/A wants to be stated
        return [*parts, b" >>"]

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
            written = self._builder.make(write_deflated([], content.data))
            parts += [write_name(name), b" ", written, b" "]
            for category, named in content.resources.items():
                used.setdefault(category, {}).update(named)
            instructions = max(instructions, content.cost.instructions)
            depth = max(depth, content.cost.depth)
        resources = write_resources(used)
        return [*parts, b">> /Resources ", *resources], Cost(instructions, depth)

    def _check_font(self, font: Mapping[str, PdfObject]) -> None:
        """Record a font that is not embedded, whose codes have no characters, or that breaks PDF/A."""
        self._breach(*check_font(self._file, font))
        kind, name = font.get("Subtype"), _display_name(self._file.resolve(font.get("BaseFont")))
        characters = self._file.resolve(font.get("ToUnicode"))
        is_identity = is_name(font.get("Encoding"), "Identity-H", "Identity-V")
        needs_map = is_name(kind, "Type3") or (is_name(kind, "Type0") and is_identity)
        is_private = isinstance(characters, Stream) and has_private_characters(
            self._file.decode(characters).data
        )
        if is_private or (needs_map and "ToUnicode" not in font):
            self.facts.unmapped[name] = None
        if is_name(kind, "Type3"):
            return
        descriptor = find_descriptor(self._file, font)
        if not any(
            isinstance(self._file.resolve(descriptor.get(file)), Stream) for file in FONT_FILES
        ):
            self.facts.unembedded[name] = None

    # --- values

    def _dictionary(
        self,
        value: PdfObject,
        names: Iterable[str],
        copiers: Mapping[str, Callable[[PdfObject], Parts]] | None = None,
    ) -> Parts:
        entries = self._file.resolve_dictionary(value)
        return [b"<< ", *self._entries(entries, names, copiers), b">>"]

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
            names = [name for name in value.entries if name in _VALUE]
            return self._copy_data(value, self._entries(value.entries, names))
        if isinstance(value, dict):
            return self._dictionary(value, [name for name in value if name in _VALUE])
        if isinstance(value, list):
            parts: Parts = [b"["]
            for item in value:
                parts += [*self._refer(item, "", self._copy_value), b" "]
            return [*parts, b"]"]
        if isinstance(value, IndirectReference):
            return self._refer(value, "", self._copy_value)
        return [write_atom(value)]

    def _copy_data(self, stream: Stream, entries: Parts) -> Parts:
        """Return a stream as it is if its filter is one that viewers and archives accept, else deflated."""
        steps = self._file.read_filters(stream)
        if len(steps) == 1 and steps[0].name == FLATE:
            check_inflated(stream.data, self._budget)
            decoded = Decoded(stream.data, steps[0])
        else:
            decoded = self._file.decode(stream)
        data, rest = decoded
        if rest is None:
            return write_deflated(entries, data)
        parameters = self._entries(rest.parameters, ENTRIES["filter-parameters"])
        if rest.name == "JBIG2Decode" and isinstance(rest.parameters.get("JBIG2Globals"), Stream):
            shared = self._builder.make(self._copy_value(rest.parameters["JBIG2Globals"]))
            parameters = [b"/JBIG2Globals ", shared]
        if rest.name == "JPXDecode":
            self._breach(*check_jpeg2000(data))
        filters: Parts = [b" /Filter ", write_name(rest.name)]
        if parameters:
            filters += [b" /DecodeParms << ", *parameters, b" >>"]
        return write_stream([*entries, *filters], data)


def _read_name(written: bytes) -> str:
    return str(read_name(written)) if written.startswith(b"/") else ""


def _type_of(value: PdfObject) -> PdfObject:
    if isinstance(value, Stream):
        return value.entries.get("Type")
    return value.get("Type") if isinstance(value, dict) else None


def _display_name(name: PdfObject) -> str:
    """Return the name of a font for messages, without the prefix of a subset."""
    text = (
        "".join(c for c in str(name or "") if c.isascii() and c.isprintable())[:60]
        or "without a name"
    )
    head, plus, rest = text.partition("+")
    return rest if plus and len(head) == 6 and head.isupper() else text


# --- tiles ------------------------------------------------------------------------------------

_MAX_TILES: Final = 1_000_000  # of one pattern on its content


def count_tiles(
    steps: tuple[float, float], cell: Sequence[float], matrix: Sequence[float], diagonal: float
) -> int:
    """Return how many cells cover content of a diagonal, both in the units of the content.

    Counted across the distance between parallel rows, so that sheared and overlapping cells count.

    Raises:
        UnusablePdfError: there are too many, or the cells have no size.
    """
    a, b, c, d = (matrix if len(matrix) == 6 else UPRIGHT)[:4]
    along, up = hypot(a, b), hypot(c, d)
    area = abs(a * d - b * c)
    across, down = abs(steps[0]), abs(steps[1])
    if not (area and across and down):
        raise _too_fine()
    reach = diagonal + (along * abs(cell[2] - cell[0]) + up * abs(cell[3] - cell[1]))
    columns, rows = reach * up / (across * area), reach * along / (down * area)
    if not columns * rows < _MAX_TILES:
        raise _too_fine()
    return ceil(columns + 1) * ceil(rows + 1)


def _too_fine() -> UnusablePdfError:
    return UnusablePdfError("The PDF has a pattern that is repeated too often", advice=SIMPLIFY)
