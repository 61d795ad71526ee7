"""Vector images as PDF objects: forms, shadings, patterns, masks and states (ISO 32000-1, 8 and 11)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Final

from workers.engine.fonts import Face
from workers.engine.paint.canvas_file import (
    ObjectPart,
    WrittenObject,
    refer_to_font,
    write_deflated,
    write_dictionary,
)
from workers.engine.paint.embedding import ShapedFont
from workers.engine.prepared_images import PreparedImage
from workers.engine.svg import (
    ExtGState,
    FormXObject,
    MeshShading,
    Shading,
    TilingPattern,
    VectorImage,
    format_numbers,
)

# Resources shared with the document: references to images, and fonts by face.
FindImage = Callable[[PreparedImage], ObjectPart]
UseFont = Callable[[Face], tuple[str, set[str]]]
UseShapedFont = Callable[[Face], ShapedFont]

_RGB, _GRAY = b"/DeviceRGB", b"/DeviceGray"


class VectorWriter:
    """Writes the vector images of one document, each form once."""

    def __init__(
        self, *, find_image: FindImage, use_font: UseFont, use_shaped_font: UseShapedFont
    ) -> None:
        self._use_shaped_font = use_shaped_font
        self._find_image = find_image
        self._use_font = use_font
        self._forms: dict[FormXObject, WrittenObject] = {}

    def write_image(self, image: VectorImage) -> WrittenObject:
        """Return a vector image as a form in a unit square, like a raster image."""
        left, bottom, right, top = image.form.box
        matrix = b"/Matrix [%b] " % format_numbers(
            (1 / (right - left), 0, 0, 1 / (top - bottom), 0, 0)
        )
        return self._write(image.form, matrix)

    def write_glyph(self, form: FormXObject) -> WrittenObject:
        """Return the form of a colour glyph, in font units."""
        return self._write(form, b"")

    def _find_form(self, form: FormXObject) -> WrittenObject:
        """Return a form in the units of its caller, written once."""
        known = self._forms.get(form)
        if known is None:
            known = self._forms[form] = self._write(form, b"")
        return known

    def _write(self, form: FormXObject, matrix: bytes) -> WrittenObject:
        content, resources = self._write_content(form)
        isolated = b" /I true" if form.is_isolated else b""
        group = (
            b" /Group << /S /Transparency /CS /DeviceRGB%b >>" % isolated if form.is_group else b""
        )
        entries = b"/Type /XObject /Subtype /Form /BBox [%b] %b" % (
            format_numbers(form.box),
            matrix,
        )
        return write_deflated([entries, b"/Resources ", resources, group], content)

    def _write_content(self, form: FormXObject) -> tuple[bytes, WrittenObject]:
        """Return the content of a form and its resource dictionary."""
        content, shaped_texts = self._write_shaped(form)
        found: dict[bytes, list[tuple[bytes, list[ObjectPart]]]] = {
            b"/ExtGState": [(name, self._state(state)) for name, state in form.ext_gstates.items()],
            b"/Pattern": [(name, [self._pattern(item)]) for name, item in form.patterns.items()],
            b"/Shading": [(name, [self._shading(item)]) for name, item in form.shadings.items()],
            b"/XObject": [
                (
                    name,
                    [
                        self._find_form(item)
                        if isinstance(item, FormXObject)
                        else self._find_image(item)
                    ],
                )
                for name, item in form.xobjects.items()
            ],
            b"/Font": [*self._fonts_of(form), *shaped_texts],
        }
        kinds = [(kind, write_dictionary(entries)) for kind, entries in found.items() if entries]
        return content, WrittenObject(*write_dictionary(kinds))

    def _write_shaped(
        self, form: FormXObject
    ) -> tuple[bytes, list[tuple[bytes, list[ObjectPart]]]]:
        """Return the content of a form with its shaped text in codes of this document, and the fonts."""
        parts: list[bytes] = []
        fonts: dict[str, None] = {}
        done = 0
        for at, face, size, matrix, clusters in form.shaped_texts:
            font = self._use_shaped_font(face)
            fonts[font.name] = None
            place = b"0 Tc /%b %b Tf %b Tm " % (
                font.name.encode("ascii"),
                format_numbers((size,)),
                format_numbers(matrix),
            )
            parts += [form.content[done:at], place, font.write(clusters)]
            done = at
        named = [(b"/" + name.encode("ascii"), [refer_to_font(name)]) for name in fonts]
        return b"".join([*parts, form.content[done:]]), named

    def _fonts_of(self, form: FormXObject) -> Iterator[tuple[bytes, list[ObjectPart]]]:
        for name, (face, texts) in form.fonts.items():
            known, characters = self._use_font(face)
            characters.update("".join(texts))
            yield name, [refer_to_font(known)]

    def _state(self, state: ExtGState) -> list[ObjectPart]:
        entries: list[tuple[bytes, list[ObjectPart]]] = []
        if state.opacity is not None:
            opacity = format_numbers((state.opacity,))
            entries += [(b"/ca", [opacity]), (b"/CA", [opacity])]
        if state.blend is not None:
            entries.append((b"/BM", [b"/" + state.blend]))
        if state.mask is not None:
            kind = b"/Luminosity" if state.is_luminosity else b"/Alpha"
            mask = [b"<< /Type /Mask /S %b /G " % kind, self._find_form(state.mask), b" >>"]
            entries.append((b"/SMask", mask))
        return write_dictionary(entries)

    def _pattern(self, pattern: Shading | TilingPattern) -> WrittenObject:
        if isinstance(pattern, Shading):
            return WrittenObject(
                b"<< /Type /Pattern /PatternType 2 /Matrix [%b] /Shading "
                % format_numbers(pattern.matrix),
                self._shading(pattern),
                b" >>",
            )
        content, resources = self._write_content(pattern.form)
        entries = (
            b"/Type /Pattern /PatternType 1 /PaintType 1 /TilingType 1 /BBox [%b] /XStep %b"
            b" /YStep %b /Matrix [%b] /Resources "
            % (
                format_numbers(pattern.form.box),
                format_numbers((pattern.width,)),
                format_numbers((pattern.height,)),
                format_numbers(pattern.matrix),
            )
        )
        return write_deflated([entries, resources], content)

    def _shading(self, gradient: Shading | MeshShading) -> WrittenObject:
        if isinstance(gradient, MeshShading):
            return _write_mesh(gradient)
        space = _RGB if len(gradient.stops[0][1]) == 3 else _GRAY
        return WrittenObject(
            b"<< /ShadingType %d /ColorSpace %b /Coords [%b] /Function %b /Extend [true true] >>"
            % (
                gradient.kind,
                space,
                format_numbers(gradient.coordinates),
                _function(gradient.stops),
            )
        )


def _write_mesh(mesh: MeshShading) -> WrittenObject:
    entries = (
        b"/ShadingType 4 /ColorSpace %b /BitsPerFlag 8 /BitsPerCoordinate 16 /BitsPerComponent 8"
        b" /Decode [%b%b]"
        % (
            _RGB if mesh.components == 3 else _GRAY,
            format_numbers(mesh.bounds),
            b" 0 1" * mesh.components,
        )
    )
    return write_deflated([entries], mesh.data)


_Stops = tuple[tuple[float, tuple[float, ...]], ...]
_EXPONENTIAL: Final = b"<< /FunctionType 2 /Domain [0 1] /N 1 /C0 [%b] /C1 [%b] >>"


def _function(stops: _Stops) -> bytes:
    """Return the interpolation of colour stops as stitched linear functions (ISO 32000-1, 7.10.4)."""
    stops = ((0.0, stops[0][1]), *stops) if stops[0][0] > 0 else stops
    stops = (*stops, (1.0, stops[-1][1])) if stops[-1][0] < 1 else stops
    functions = [
        _EXPONENTIAL % (format_numbers(before), format_numbers(after))
        for (_, before), (_, after) in pairwise(stops)
    ]
    if len(functions) == 1:
        return functions[0]
    bounds = [offset for offset, _ in stops[1:-1]]
    return b"<< /FunctionType 3 /Domain [0 1] /Functions [%b] /Bounds [%b] /Encode [%b] >>" % (
        b" ".join(functions),
        format_numbers(bounds),
        b" ".join([b"0 1"] * len(functions)),
    )
