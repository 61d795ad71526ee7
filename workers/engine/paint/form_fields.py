"""The interactive form of a document: its fields and their widgets (ISO 32000-1, 12.7).

Every field has an appearance in each of its states, as PDF/A requires (ISO 19005-2, 6.4.1), and no
action.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import uharfbuzz as hb

from workers.engine.fonts import Face
from workers.engine.layout.display import Item, Widget
from workers.engine.paint import canvas_file
from workers.engine.paint.content_stream import ContentStreamWriter, PdfResources
from workers.engine.paint.embedding import (
    FLAGS,
    make_tag,
    write_descriptor,
    write_hexadecimal,
    write_to_unicode,
)
from workers.engine.paint.structure_tree import StructureTree
from workers.engine.pdf_writer import compress, write_name, write_number, write_text
from workers.engine.syntax.names import OFF
from workers.engine.tree.node_values import FieldKind
from workers.engine.tree.nodes import FormField
from workers.engine.tree.styles.computed import Align

_FIRST, _LAST = 32, 255
# Windows code page 1252, with another space and hyphen, and bullets for the five unassigned codes
# (ISO 32000-1, D.2).
_CHARACTERS: Final = tuple(
    {0xA0: " ", 0xAD: "-"}.get(code) or bytes([code]).decode("cp1252", "ignore") or "\u2022"
    for code in range(_FIRST, _LAST + 1)
)
# A viewer finds the glyphs by the Unicode cmap; layout tables and names are not used.
_DROPPED: Final = frozenset(
    int.from_bytes(tag, "big") for tag in b"DSIG GDEF GPOS GSUB STAT gasp".split()
)
_TO_UNICODE: Final = write_to_unicode(
    [*enumerate(map(write_hexadecimal, _CHARACTERS), start=_FIRST)], digits=2
)


def write_typing_font(face: Face) -> canvas_file.WrittenObject:
    """Return a face as a simple TrueType font for typed text; its program is cached by face."""
    name, program, length, widths = face.with_cache(_make, max_entries=1)()
    descriptor = write_descriptor(face, name, program, length, is_symbolic=False)
    return canvas_file.WrittenObject(
        b"<< /Type /Font /Subtype /TrueType /BaseFont /%b /Encoding /WinAnsiEncoding"
        b" /FirstChar %d /LastChar %d /Widths [%b] /FontDescriptor "
        % (name, _FIRST, _LAST, widths),
        descriptor,
        b" /ToUnicode ",
        canvas_file.write_deflated((), _TO_UNICODE),
        b" >>",
    )


def _make(face: Face) -> tuple[bytes, bytes, int, bytes]:
    characters = {char for char in _CHARACTERS if char in face.glyphs}
    wanted = hb.SubsetInput()
    wanted.unicode_set.update(map(ord, characters))
    wanted.flags = FLAGS
    wanted.drop_table_tag_set.update(_DROPPED)
    program: bytes = hb.subset(face.hb_face, wanted).blob.data
    scale = 1000 / face.units
    widths = b" ".join(
        b"%d" % (round(face.advances[char] * scale) if char in characters else 0)
        for char in _CHARACTERS
    )
    tag = make_tag(b"typing" + face.name.encode("utf-8"))
    name = f"{tag}+{face.name}".encode("ascii")
    return name, compress(program), len(program), widths


# Field flags (ISO 32000-1, tables 221, 226, 228 and 230).
_READ_ONLY, _REQUIRED, _MULTILINE, _NO_TOGGLE_TO_OFF, _RADIO, _COMBO, _COMB = (
    1 << bit for bit in (0, 1, 12, 14, 15, 17, 24)
)
_FLAGS: Final = {
    FieldKind.MULTILINE: _MULTILINE,
    FieldKind.CHOICE: _COMBO,
    FieldKind.RADIO: _RADIO | _NO_TOGGLE_TO_OFF,
}
_TYPES: Final = {FieldKind.CHOICE: b"Ch", FieldKind.SIGNATURE: b"Sig"}
_MARKS: Final = {FieldKind.CHECKBOX: b"4", FieldKind.RADIO: b"l"}  # of ZapfDingbats, for viewers
_PRINTED: Final = 4  # annotation flag 3, which PDF/A requires (ISO 19005-2, 6.3.2)
_MAX_GROUP_LABEL: Final = 200  # characters
_QUADDING: Final = {Align.CENTER: 1, Align.RIGHT: 2, Align.DECIMAL: 2}


class FormFields:
    """The form fields of one document, added page by page."""

    def __init__(
        self, file: canvas_file.CanvasFile, resources: PdfResources, tree: StructureTree | None
    ) -> None:
        self._file = file
        self._resources = resources
        self._tree = tree
        self._fields: list[canvas_file.WrittenObject] = []
        self._widgets: list[tuple[int, canvas_file.WrittenObject]] = []  # with their pages, from 1
        self._groups: dict[str, _RadioGroup] = {}
        self._fonts: dict[Face, tuple[bytes, canvas_file.WrittenObject]] = {}
        self._appearances: dict[tuple[bytes, bytes], canvas_file.WrittenObject] = {}

    def add_page(self, widgets: Iterable[Widget], height: float) -> None:
        """Add the fields of the page under construction, which is `height` points high."""
        page = self._file.page_number
        for widget in widgets:
            written = self._write(widget, page, height)
            self._widgets.append((page, written))
            if self._tree is not None and isinstance(widget.owner, int):
                self._tree.add_field(widget.owner, page, written)

    def close(self) -> None:
        """Write the form; no field can be added afterwards."""
        if not self._widgets:
            return
        for group in self._groups.values():
            group.define()
        fields: list[canvas_file.ObjectPart] = []
        for field in self._fields:
            fields += [field, b" "]
        fonts: list[canvas_file.ObjectPart] = []
        for name, font in self._fonts.values():
            fonts += [b"/" + name + b" ", font, b" "]
        resources = [b" /DR << /Font << ", *fonts, b">> >>"] if fonts else []
        self._file.set_form([b"<< /Fields [", *fields, b"]", *resources, b" >>"], self._widgets)

    def _write(self, widget: Widget, page: int, height: float) -> canvas_file.WrittenObject:
        node: FormField = widget.node
        left, bottom = self._file.to_media_box(widget.x, height - widget.y - widget.height)
        corners = left, bottom, left + widget.width, bottom + widget.height
        parts: list[canvas_file.ObjectPart] = [
            b"<< /Type /Annot /Subtype /Widget /F %d /BS << /W 0 >> /Rect [%b] /P "
            % (_PRINTED, b" ".join(map(write_number, corners))),
            canvas_file.refer_to_page(page),
            *self._write_appearances(widget),
        ]
        if node.label:
            parts.append(b" /TU " + write_text(node.label))
            if self._tree is not None and self._tree.is_pdf2:  # ISO 14289-2, 8.10.2.3
                parts.append(b" /Contents " + write_text(node.label))
        if node.kind.is_button:
            parts.append(b" /MK << /CA (%b) >>" % _MARKS[node.kind])
        if node.kind is FieldKind.RADIO:
            return self._add_to_group(node, parts)
        parts += [b" /T ", write_text(node.name), *self._write_value(widget), b" >>"]
        field = canvas_file.WrittenObject(*parts)
        self._fields.append(field)
        return field

    def _add_to_group(
        self, node: FormField, parts: list[canvas_file.ObjectPart]
    ) -> canvas_file.WrittenObject:
        group = self._groups.get(node.name)
        if group is None:
            group = self._groups[node.name] = _RadioGroup(node.name)
            self._fields.append(group.field)
        widget = canvas_file.WrittenObject(*parts, b" /Parent ", group.field, b" >>")
        group.buttons.append((node, widget))
        return widget

    def _write_value(self, widget: Widget) -> list[canvas_file.ObjectPart]:
        """Return the entries of a field other than a radio button: type, flags, value."""
        node: FormField = widget.node
        flags = _FLAGS.get(node.kind, 0) | _common_flags([node]) | (_COMB if node.cells else 0)
        written = b" /Ff %d" % flags if flags else b""
        if node.kind is FieldKind.CHECKBOX:
            state = write_name((node.value if node.is_checked else OFF).encode())
            return [b" /FT /Btn /V %b%b" % (state, written)]
        kind = _TYPES.get(node.kind, b"Tx")
        written = b" /FT /%b%b" % (kind, written)
        if node.kind is FieldKind.SIGNATURE:
            return [written]
        if node.value:
            written += b" /V " + write_text(node.value)
        if node.max_length is not None:
            written += b" /MaxLen %d" % node.max_length
        if node.options:
            pairs = (write_text(value) + write_text(text) for value, text in node.options)
            written += b" /Opt [%b]" % b"".join(b"[%b]" % pair for pair in pairs)
        align = _QUADDING.get(node.style.paragraph.align, 0)
        if align and not node.cells:
            written += b" /Q %d" % align
        return [written, b" /DA ", self._write_default_appearance(widget)]

    def _write_default_appearance(self, widget: Widget) -> bytes:
        """Return the font, size and colour of typed text (ISO 32000-1, 12.7.3.3)."""
        face, style = widget.face, widget.node.style.text
        if face not in self._fonts:
            self._fonts[face] = b"T%d" % (len(self._fonts) + 1), write_typing_font(face)
        name, _ = self._fonts[face]
        color = canvas_file.write_fill_color(style.color).strip()
        return b"(/%b %b Tf %b)" % (name, write_number(style.size), color)

    def _write_appearances(self, widget: Widget) -> list[canvas_file.ObjectPart]:
        node: FormField = widget.node
        if not node.kind.is_button:
            return [b" /AP << /N ", self._write_appearance(widget, widget.appearances[0]), b" >>"]
        states = [self._write_appearance(widget, items) for items in widget.appearances]
        on = write_name(node.value.encode())
        state = on if node.is_checked else b"/Off"
        return [
            b" /AS %b /AP << /N << %b " % (state, on),
            states[0],
            b" /Off ",
            states[1],
            b" >> >>",
        ]

    def _write_appearance(self, widget: Widget, items: Sequence[Item]) -> canvas_file.WrittenObject:
        """Return an appearance as a form XObject; equal ones are in the file once."""
        writer = ContentStreamWriter(self._resources, width=widget.width, height=widget.height)
        content, calls = writer.paint(items)
        if not widget.node.kind.is_button:
            # What viewers replace when the value changes (ISO 32000-1, 12.7.3.3).
            content = b"/Tx BMC\nq\n%bQ\nEMC\n" % content if content else b"/Tx BMC\nEMC\n"
        size = write_number(widget.width) + b" " + write_number(widget.height)
        known = self._appearances.get((size, content))
        if known is None:
            head = b"/Type /XObject /Subtype /Form /BBox [0 0 %b] /Resources << " % size
            fonts = [b"/Font ", canvas_file.ALL_FONTS] if b" Tf\n" in content else []
            fonts.append(canvas_file.COLOR_SPACES)
            called = canvas_file.write_xobjects(calls) if calls else []
            known = canvas_file.write_deflated([head, *fonts, *called, b" >>"], content)
            self._appearances[size, content] = known
        return known


class _RadioGroup:
    """The field of a group of radio buttons, whose widgets are its children."""

    def __init__(self, name: str) -> None:
        self._name = name
        self.field = canvas_file.WrittenObject()
        self.buttons: list[tuple[FormField, canvas_file.WrittenObject]] = []

    def define(self) -> None:
        """Set the parts of the field, once all buttons are known."""
        nodes = [node for node, _ in self.buttons]
        flags = _FLAGS[FieldKind.RADIO] | _common_flags(nodes)
        checked = next((node.value for node in nodes if node.is_checked), OFF)
        labels = ", ".join(node.label for node in nodes if node.label)[:_MAX_GROUP_LABEL]
        spoken = b" /TU " + write_text(labels) if labels else b""
        kids: list[canvas_file.ObjectPart] = []
        for _, widget in self.buttons:
            kids += [widget, b" "]
        self.field.define(
            b"<< /FT /Btn /Ff %d /T %b%b /V %b /Kids ["
            % (flags, write_text(self._name), spoken, write_name(checked.encode())),
            *kids,
            b"] >>",
        )


def _common_flags(nodes: Sequence[FormField]) -> int:
    """Return the flags of a field; radio buttons share one."""
    read_only = _READ_ONLY if any(node.is_readonly for node in nodes) else 0
    return read_only | (_REQUIRED if any(node.is_required for node in nodes) else 0)
