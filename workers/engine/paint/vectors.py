"""Vector images as PDF objects: forms, shadings, patterns, masks and states (PDF 1.7, 8 and 11)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Final

from workers.engine.layout.fonts import Face
from workers.engine.layout.images.prepared import PreparedImage
from workers.engine.layout.svg.canvas import numbers
from workers.engine.layout.svg.drawing import Form, Gradient, State, Tile, VectorImage
from workers.engine.paint.objects import PdfFile, Slot
from workers.engine.paint.shaped import ShapedFont

# What the document shares with its drawings: where an image is, and the name of a font.
FindImage = Callable[[PreparedImage], bytes]
UseFont = Callable[[Face], tuple[bytes, list[str]]]
UseShapedFont = Callable[[Face], ShapedFont]

_RGB, _GRAY = b"/DeviceRGB", b"/DeviceGray"


class VectorWriter:
    """Writes the vector images of one document, each form once.

    Fonts are embedded after the last page, so resources are written by `close`.
    """

    def __init__(
        self,
        file: PdfFile,
        *,
        find_image: FindImage,
        use_font: UseFont,
        use_shaped_font: UseShapedFont,
    ) -> None:
        self._file = file
        self._use_shaped_font = use_shaped_font
        self._find_image = find_image
        self._use_font = use_font
        self._forms: dict[int, tuple[Form, bytes]] = {}
        self._open: list[tuple[Slot, Form, list[tuple[bytes, bytes]]]] = []
        self._shaped: dict[int, list[bytes]] = {}  # names of the fonts of forms, by their identity

    def add_image(self, image: VectorImage) -> bytes:
        """Write a vector image as a form in a unit square, as images are, and give its reference."""
        left, bottom, right, top = image.form.box
        matrix = b"/Matrix [%b] " % numbers((1 / (right - left), 0, 0, 1 / (top - bottom), 0, 0))
        return self._write(image.form, matrix)

    def close(self, fonts: dict[bytes, bytes]) -> None:
        """Write the resources; `fonts` are the references of the document's fonts by name."""
        for slot, form, parts in self._open:
            named = []
            for name, (face, _) in form.fonts.items():
                assert isinstance(face, Face)
                named.append((name, fonts[self._use_font(face)[0]]))
            named += [(name, fonts[name]) for name in self._shaped.get(id(form), ())]
            if named:
                parts.append((b"/Font", dictionary(named)))
            slot.body = dictionary(parts)

    def _add(self, form: Form) -> bytes:
        """Write a form in the units of what draws it, and give its reference."""
        known = self._forms.get(id(form))
        if known is None:
            known = self._forms[id(form)] = (form, self._write(form, b""))
        return known[1]

    def _write(self, form: Form, matrix: bytes) -> bytes:
        slot, resources = self._file.reserve()
        self._open.append((slot, form, self._describe(form)))
        group = b" /Group << /S /Transparency /CS /DeviceRGB >>" if form.is_group else b""
        return self._file.add_deflated(
            b"/Type /XObject /Subtype /Form /BBox [%b] %b/Resources %b%b"
            % (numbers(form.box), matrix, resources, group),
            self._content_of(form),
        )

    def _content_of(self, form: Form) -> bytes:
        """Give the content of a form with its shaped text, in codes of this document."""
        if not form.shaped:
            return form.content
        parts: list[bytes] = []
        names: dict[bytes, None] = {}
        done = 0
        for at, face, size, matrix, clusters in form.shaped:
            font = self._use_shaped_font(face)
            names[font.name] = None
            place = b"0 Tc %b %b Tf %b Tm " % (font.name, numbers((size,)), numbers(matrix))
            parts += [form.content[done:at], place, font.write(clusters)]
            done = at
        self._shaped[id(form)] = list(names)
        return b"".join(parts) + form.content[done:]

    def _describe(self, form: Form) -> list[tuple[bytes, bytes]]:
        """Write what a form names, but for its fonts, which are only noted."""
        for face, texts in form.fonts.values():
            assert isinstance(face, Face)
            self._use_font(face)[1].extend(texts)
        found = {
            b"/ExtGState": [(name, self._state(state)) for name, state in form.states.items()],
            b"/Pattern": [(name, self._pattern(item)) for name, item in form.patterns.items()],
            b"/Shading": [(name, self._shading(item)) for name, item in form.shadings.items()],
            b"/XObject": [
                (name, self._add(item) if isinstance(item, Form) else self._find_image(item))
                for name, item in form.pictures.items()
            ],
        }
        return [(kind, dictionary(entries)) for kind, entries in found.items() if entries]

    def _state(self, state: State) -> bytes:
        entries = []
        if state.fill is not None:
            entries.append((b"/ca", numbers((state.fill,))))
        if state.stroke is not None:
            entries.append((b"/CA", numbers((state.stroke,))))
        if state.mask is not None:
            kind = b"/Luminosity" if state.is_luminosity else b"/Alpha"
            mask = b"<< /Type /Mask /S %b /G %b >>" % (kind, self._add(state.mask))
            entries.append((b"/SMask", mask))
        return dictionary(entries)

    def _pattern(self, pattern: Gradient | Tile) -> bytes:
        if isinstance(pattern, Gradient):
            return self._file.add(
                b"<< /Type /Pattern /PatternType 2 /Matrix [%b] /Shading %b >>"
                % (numbers(pattern.matrix), self._shading(pattern))
            )
        slot, resources = self._file.reserve()
        self._open.append((slot, pattern.form, self._describe(pattern.form)))
        return self._file.add_deflated(
            b"/Type /Pattern /PatternType 1 /PaintType 1 /TilingType 1 /BBox [%b] /XStep %b"
            b" /YStep %b /Matrix [%b] /Resources %b"
            % (
                numbers(pattern.form.box),
                numbers((pattern.width,)),
                numbers((pattern.height,)),
                numbers(pattern.matrix),
                resources,
            ),
            self._content_of(pattern.form),
        )

    def _shading(self, gradient: Gradient) -> bytes:
        space = _RGB if len(gradient.stops[0][1]) == 3 else _GRAY
        return self._file.add(
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


def dictionary(entries: Iterable[tuple[bytes, bytes]]) -> bytes:
    """Write a dictionary."""
    return b"<< " + b" ".join(b"%b %b" % entry for entry in entries) + b" >>"
