"""Painting shapes: what fills and strokes them, with plain colours, gradients and patterns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from workers.engine.layout.images.prepared import Matrix
from workers.engine.layout.svg.canvas import Canvas, number, numbers, scale_of
from workers.engine.layout.svg.drawing import Tile
from workers.engine.layout.svg.gradients import TAGS, Paint, build_paint
from workers.engine.layout.svg.paths import Box, Segments, find_box
from workers.engine.layout.svg.reader import Node
from workers.engine.layout.svg.spot import Job, Spot
from workers.engine.layout.svg.styles import Look, find_color, font_size, opacity
from workers.engine.layout.svg.values import (
    RGB,
    read_fallback,
    to_color,
    to_length,
    to_lengths,
    to_number,
    to_reference,
)

Plain = tuple[RGB, float]
AnyPaint = Plain | Paint | Tile
BuildTile = Callable[[Node, Box | None, Spot], Tile | None]

_CONTEXT: Final = {"context-fill": "fill", "context-stroke": "stroke"}
_CAPS: Final = {"round": 1, "square": 2}
_JOINS: Final = {"round": 1, "bevel": 2}
_MAX_DASHES: Final = 64
_FEW: Final = 4  # segments of what may be a mere line
_LEAST_DASH: Final = 0.02  # units of the form: finer ones are not seen and cost a viewer minutes


class Painter:
    """Paints the shapes of one drawing; `build_tile` makes the pattern of a `pattern` element."""

    def __init__(self, job: Job, build_tile: BuildTile) -> None:
        self._job = job
        self._build_tile = build_tile

    def paint(self, segments: Segments, look: Look, spot: Spot) -> None:
        """Fill and stroke a shape."""
        if not segments or look["visibility"] != "visible":
            return
        box: list[Box | None] = []

        def find_extent() -> Box | None:
            if not box:
                box.append(find_box(segments))
            return box[0]

        fill = self.find_paint(look, "fill", find_extent, spot)
        if len(segments) <= _FEW and fill is not None and _is_flat(find_extent()):
            fill = None  # PDF would paint the inside of a line as a hair line
        stroke = self.find_paint(look, "stroke", find_extent, spot)
        is_stroked_first = look["paint-order"].startswith(("stroke", "markers stroke"))
        if is_stroked_first:
            self.stroke(segments, look, spot, stroke)
        self._fill(segments, look, spot, fill)
        if not is_stroked_first:
            self.stroke(segments, look, spot, stroke)

    def find_paint(
        self, look: Look, name: str, find_extent: Callable[[], Box | None], spot: Spot
    ) -> AnyPaint | None:
        """Give what `fill` or `stroke` paints with; None for nothing."""
        value = look[name]
        if value.lower() in _CONTEXT:
            return self._find_context_paint(_CONTEXT[value.lower()])
        reference = to_reference(value)
        if reference is None:
            outside = read_fallback(value)
            if outside is None:
                return find_color(look, name)
            if not outside:
                self._job.leave_out(f"a {name} that is outside of the file")
            return _to_plain(outside, look)
        identity, otherwise = reference
        node = self._job.identities.get(identity)
        if node is None or node.tag not in TAGS | {"pattern"}:
            if not otherwise:
                self._job.leave_out(f"the {name} #{identity[:40]}, which is not in the file")
            return _to_plain(otherwise, look)
        if node.tag == "pattern":
            return self._build_tile(node, find_extent(), spot) or _to_plain(otherwise, look)
        return build_paint(
            node,
            box=find_extent(),
            matrix=spot.matrix,
            viewport=spot.sized(look),
            area=spot.canvas.box,
            job=self._job,
            otherwise=_to_plain(otherwise, look),
        )

    def _find_context_paint(self, name: str) -> AnyPaint | None:
        """Give the paint of the element that is copied or marked, where it stands; None without one."""
        job, context = self._job, self._job.context
        if context is None:
            return None
        job.context = context.outer
        paint = self.find_paint(context.look, name, context.find_extent, context.spot)
        job.context = context
        return paint

    def _fill(self, segments: Segments, look: Look, spot: Spot, paint: AnyPaint | None) -> None:
        operator = b"f*\n" if look["fill-rule"] == "evenodd" else b"f\n"

        def draw(canvas: Canvas) -> None:
            canvas.draw_path(segments, spot.matrix, operator)

        apply_paint(spot, paint, opacity(look, "fill-opacity"), draw, is_stroke=False)

    def stroke(self, segments: Segments, look: Look, spot: Spot, paint: AnyPaint | None) -> None:
        """Draw the line of a shape."""
        if paint is None:
            return
        viewport = spot.sized(look)
        width = to_length(look["stroke-width"], viewport.diagonal, viewport.font_size)
        width = 1.0 if width is None else width
        if width <= 0:
            return
        scale = scale_of(spot.matrix)
        if look["vector-effect"] == "non-scaling-stroke":
            scale = self._job.unit
        matrix, shear = spot.matrix, None
        if scale is None:
            scale, matrix, shear = _unevenly(spot.matrix)
        if not scale > 0:
            return

        def draw(canvas: Canvas) -> None:
            if shear is not None:
                canvas.save()
                canvas.write(b"%b cm\n" % numbers(shear))
            set_line(canvas, look, spot, width, scale)
            canvas.draw_path(segments, matrix, b"S\n")
            if shear is not None:
                canvas.restore()

        apply_paint(spot, paint, opacity(look, "stroke-opacity"), draw, is_stroke=True)


def _is_flat(box: Box | None) -> bool:
    return box is not None and (box[0] == box[2] or box[1] == box[3])


def _to_plain(text: str, look: Look) -> Plain | None:
    return to_color(look["color"] if text.lower() == "currentcolor" else text)


def apply_paint(
    spot: Spot,
    paint: AnyPaint | None,
    alpha: float,
    draw: Callable[[Canvas], None],
    *,
    is_stroke: bool,
) -> None:
    """Set a paint on the canvas, and let `draw` make the marks."""
    canvas, alpha = spot.canvas, alpha * spot.alpha
    if paint is None or alpha <= 0:
        return
    if isinstance(paint, Tile):
        canvas.set_pattern(paint, is_stroke=is_stroke)
        canvas.set_opacity(alpha, alpha)
        draw(canvas)
    elif not isinstance(paint, Paint):
        color, own = paint
        if own * alpha > 0:
            canvas.set_color(color, is_stroke=is_stroke)
            canvas.set_opacity(alpha * own, alpha * own)
            draw(canvas)
    elif paint.mask is None:
        canvas.set_pattern(paint.gradient, is_stroke=is_stroke)
        canvas.set_opacity(alpha * paint.opacity, alpha * paint.opacity)
        draw(canvas)
    else:
        mask = paint.mask
        canvas.save()
        canvas.set_mask(canvas.draw_group(lambda c: c.draw_shading(mask)), is_luminosity=True)
        canvas.set_pattern(paint.gradient, is_stroke=is_stroke)
        canvas.set_opacity(alpha, alpha)
        draw(canvas)
        canvas.restore()


def set_line(canvas: Canvas, look: Look, spot: Spot, width: float, scale: float) -> None:
    """Set width, ends, corners and dashes of a line."""
    canvas.set("width", b"%b w\n" % number(width * scale))
    canvas.set("cap", b"%d J\n" % _CAPS.get(look["stroke-linecap"], 0))
    canvas.set("join", b"%d j\n" % _JOINS.get(look["stroke-linejoin"], 0))
    limit = max(1.0, to_number(look["stroke-miterlimit"], 4.0))
    canvas.set("limit", b"%b M\n" % number(limit))
    canvas.set("dash", _dash(look, spot, scale))


def _dash(look: Look, spot: Spot, scale: float) -> bytes:
    size, whole = font_size(look), spot.viewport.diagonal
    dashes = [length * scale for length in to_lengths(look["stroke-dasharray"], whole, size)]
    if not dashes or min(dashes) < 0 or len(dashes) > _MAX_DASHES or sum(dashes) < _LEAST_DASH:
        return b"[] 0 d\n"
    start = (to_length(look["stroke-dashoffset"], whole, size) or 0.0) * scale
    period = sum(dashes) * (1 + len(dashes) % 2)
    return b"[%b] %b d\n" % (numbers(dashes), number(start % period))  # never below 0


def _unevenly(matrix: Matrix) -> tuple[float, Matrix, Matrix | None]:
    """Give how a line is drawn where it is wider in one direction than in another.

    The path is written in user units, only finer, and the rest of the matrix is left to the viewer.
    """
    a, b, c, d, e, f = matrix
    scale = abs(a * d - b * c) ** 0.5
    if not scale > 1e-9:
        return 0.0, matrix, None
    return scale, (scale, 0, 0, scale, 0, 0), (a / scale, b / scale, c / scale, d / scale, e, f)
