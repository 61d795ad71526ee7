"""Vector images as PDF objects: forms, shadings, patterns, masks and states (PDF 1.7, 8 and 11)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Final

from workers.engine.layout.fonts import Face
from workers.engine.layout.images.prepared import PreparedImage
from workers.engine.layout.svg.canvas import numbers
from workers.engine.layout.svg.drawing import Form, Gradient, State, Tile, VectorImage
from workers.engine.paint.canvas_file import refer_to_font
from workers.engine.paint.objects import Part, Written, write_deflated, write_dictionary
from workers.engine.paint.shaped import ShapedFont

# What the document shares with its drawings: where an image is, and the names of fonts.
FindImage = Callable[[PreparedImage], Part]
UseFont = Callable[[Face], tuple[str, list[str]]]
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
        self._forms: dict[int, tuple[Form, Written]] = {}

    def write_image(self, image: VectorImage) -> Written:
        """Write a vector image as a form in a unit square, as images are."""
        left, bottom, right, top = image.form.box
        matrix = b"/Matrix [%b] " % numbers((1 / (right - left), 0, 0, 1 / (top - bottom), 0, 0))
        return self._write(image.form, matrix)

    def _find(self, form: Form) -> Written:
        """Write a form in the units of what draws it, once."""
        known = self._forms.get(id(form))
        if known is None:
            known = self._forms[id(form)] = (form, self._write(form, b""))
        return known[1]

    def _write(self, form: Form, matrix: bytes) -> Written:
        content, resources = self._write_content(form)
        group = b" /Group << /S /Transparency /CS /DeviceRGB >>" if form.is_group else b""
        entries = b"/Type /XObject /Subtype /Form /BBox [%b] %b" % (numbers(form.box), matrix)
        return write_deflated([entries, b"/Resources ", resources, group], content)

    def _write_content(self, form: Form) -> tuple[bytes, Written]:
        """Return the content of a form and its resources: what the content names."""
        content, shaped = self._write_shaped(form)
        found: dict[bytes, list[tuple[bytes, list[Part]]]] = {
            b"/ExtGState": [(name, self._state(state)) for name, state in form.states.items()],
            b"/Pattern": [(name, [self._pattern(item)]) for name, item in form.patterns.items()],
            b"/Shading": [(name, [self._shading(item)]) for name, item in form.shadings.items()],
            b"/XObject": [
                (name, [self._find(item) if isinstance(item, Form) else self._find_image(item)])
                for name, item in form.pictures.items()
            ],
            b"/Font": [*self._fonts_of(form), *shaped],
        }
        kinds = [(kind, write_dictionary(entries)) for kind, entries in found.items() if entries]
        return content, Written(*write_dictionary(kinds))

    def _write_shaped(self, form: Form) -> tuple[bytes, list[tuple[bytes, list[Part]]]]:
        """Return the content of a form with its shaped text, in codes of this document, and its fonts."""
        parts: list[bytes] = []
        fonts: dict[str, None] = {}
        done = 0
        for at, face, size, matrix, clusters in form.shaped:
            font = self._use_shaped_font(face)
            fonts[font.name] = None
            place = b"0 Tc /%b %b Tf %b Tm " % (
                font.name.encode("ascii"),
                numbers((size,)),
                numbers(matrix),
            )
            parts += [form.content[done:at], place, font.write(clusters)]
            done = at
        named = [(b"/" + name.encode("ascii"), [refer_to_font(name)]) for name in fonts]
        return b"".join([*parts, form.content[done:]]), named

    def _fonts_of(self, form: Form) -> Iterator[tuple[bytes, list[Part]]]:
        for name, (face, texts) in form.fonts.items():
            assert isinstance(face, Face)
            known, said = self._use_font(face)
            said.extend(texts)
            yield name, [refer_to_font(known)]

    def _state(self, state: State) -> list[Part]:
        entries: list[tuple[bytes, list[Part]]] = []
        if state.fill is not None:
            entries.append((b"/ca", [numbers((state.fill,))]))
        if state.stroke is not None:
            entries.append((b"/CA", [numbers((state.stroke,))]))
        if state.mask is not None:
            kind = b"/Luminosity" if state.is_luminosity else b"/Alpha"
            mask = [b"<< /Type /Mask /S %b /G " % kind, self._find(state.mask), b" >>"]
            entries.append((b"/SMask", mask))
        return write_dictionary(entries)

    def _pattern(self, pattern: Gradient | Tile) -> Written:
        if isinstance(pattern, Gradient):
            return Written(
                b"<< /Type /Pattern /PatternType 2 /Matrix [%b] /Shading "
                % numbers(pattern.matrix),
                self._shading(pattern),
                b" >>",
            )
        content, resources = self._write_content(pattern.form)
        entries = (
            b"/Type /Pattern /PatternType 1 /PaintType 1 /TilingType 1 /BBox [%b] /XStep %b"
            b" /YStep %b /Matrix [%b] /Resources "
            % (
                numbers(pattern.form.box),
                numbers((pattern.width,)),
                numbers((pattern.height,)),
                numbers(pattern.matrix),
            )
        )
        return write_deflated([entries, resources], content)

    def _shading(self, gradient: Gradient) -> Written:
        space = _RGB if len(gradient.stops[0][1]) == 3 else _GRAY
        return Written(
            b"<< /ShadingType %d /ColorSpace %b /Coords [%b] /Function %b /Extend [true true] >>"
            % (gradient.kind, space, numbers(gradient.coordinates), _function(gradient.stops))
        )


_Stops = tuple[tuple[float, tuple[float, ...]], ...]
_EXPONENTIAL: Final = b"<< /FunctionType 2 /Domain [0 1] /N 1 /C0 [%b] /C1 [%b] >>"


def _function(stops: _Stops) -> bytes:
    """Write the way from colour to colour as stitched straight pieces (PDF 1.7, 7.10.4)."""
    stops = ((0.0, stops[0][1]), *stops) if stops[0][0] > 0 else stops
    stops = (*stops, (1.0, stops[-1][1])) if stops[-1][0] < 1 else stops
    pieces = [
        _EXPONENTIAL % (numbers(before), numbers(after))
        for (_, before), (_, after) in pairwise(stops)
    ]
    if len(pieces) == 1:
        return pieces[0]
    bounds = [offset for offset, _ in stops[1:-1]]
    return b"<< /FunctionType 3 /Domain [0 1] /Functions [%b] /Bounds [%b] /Encode [%b] >>" % (
        b" ".join(pieces),
        numbers(bounds),
        b" ".join([b"0 1"] * len(pieces)),
    )
