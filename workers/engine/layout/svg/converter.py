"""Drawing the elements of an SVG: groups, copies, nested drawings, shapes, text and images."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from math import cos, radians, sin
from typing import Final

from workers.engine.layout.images.prepared import (
    DECODER_ERRORS,
    MAX_DECODED_PIXELS,
    Matrix,
    PreparedImage,
    UndrawableError,
)
from workers.engine.layout.svg.canvas import Canvas, number, numbers
from workers.engine.layout.svg.clips import Clipper
from workers.engine.layout.svg.conditions import meets_conditions, note_other_languages
from workers.engine.layout.svg.extents import find_extent, find_transform
from workers.engine.layout.svg.limits import MAX_DAMAGED, MAX_DEPTH, MAX_IMAGES, SIMPLER, too_much
from workers.engine.layout.svg.markers import draw_markers
from workers.engine.layout.svg.outlines import outline_letters
from workers.engine.layout.svg.painting import Painter, apply_paint
from workers.engine.layout.svg.paths import Box, rectangle
from workers.engine.layout.svg.patterns import TileMaker
from workers.engine.layout.svg.reader import Node
from workers.engine.layout.svg.shapes import SHAPES, read_side
from workers.engine.layout.svg.sizes import ViewBox, fit_box, read_view_box
from workers.engine.layout.svg.spot import Job, PaintContext, Spot
from workers.engine.layout.svg.styles import Look, font_size, opacity
from workers.engine.layout.svg.text import Letters, TextFlow, spread_clusters
from workers.engine.layout.svg.values import Viewport, multiply

# Drawn only where something refers to them, or not at all and without a loss.
_SILENT: Final = frozenset(
    {"defs", "symbol", "linearGradient", "radialGradient", "stop", "pattern", "clipPath", "mask"}
    | {"marker", "filter", "style", "title", "desc", "metadata", "view", "cursor"}
)
_TURNED: Final = 20  # segments that a character at an angle of its own costs as much as
_MARKED: Final = frozenset({"path", "line", "polyline", "polygon"})


class Converter:
    """Draws the elements of one SVG."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._painter = Painter(job, TileMaker(job, self.draw_children).build)
        self._clipper = Clipper(job, self.draw_children)
        self._images: dict[str, PreparedImage | None] = {}
        self._pixels = self._damaged = 0

    def draw_root(self, root: Node, spot: Spot) -> None:
        """Draw a whole drawing, already fitted into its size."""
        look = self._job.look_of(root)
        matrix = find_transform(root, look, spot.viewport, self._job)
        if look["display"] != "none" and matrix is not None:
            spot = spot.moved(matrix)
            self._draw_seen(root, look, spot, lambda at: self.draw_children(root, look, at))

    def draw(self, node: Node, parent: Look, spot: Spot) -> None:
        """Draw an element, in a parent of a look."""
        job = self._job
        if node.tag in _SILENT:
            return
        draw = _DRAW.get(node.tag)
        if draw is None:
            job.leave_out(f"the element `{node.tag[:40]}`")
            return
        job.work.draw_element(node.weight)
        if spot.depth > MAX_DEPTH:
            raise UndrawableError(
                f"The SVG nests what is drawn deeper than {MAX_DEPTH}", advice=SIMPLER
            )
        look = job.look_in(node, parent)
        if look["display"] == "none" or not meets_conditions(node, job):
            return
        matrix = find_transform(node, look, spot.viewport, job)
        if matrix is None:
            return
        self._draw_seen(node, look, spot.moved(matrix), lambda at: draw(self, node, look, at))

    def draw_children(self, node: Node, look: Look, spot: Spot) -> None:
        """Draw what is in an element of a look."""
        inner = Spot(spot.canvas, spot.matrix, spot.viewport, spot.depth + 1)
        for child in node.elements():
            self.draw(child, look, inner)

    def _draw_seen(self, node: Node, look: Look, spot: Spot, draw: Callable[[Spot], None]) -> None:
        """Draw through the clip, the mask and the opacity of an element."""
        job, canvas, alpha = self._job, spot.canvas, opacity(look)
        if look["filter"] != "none":
            job.leave_out("filters")
        if look["mix-blend-mode"] != "normal":
            job.leave_out("blend modes")
        if alpha <= 0:
            return
        is_cut = look["clip-path"] != "none" or look["mask"] != "none"
        if not is_cut and alpha == 1:
            draw(spot)
            return
        canvas.save()
        if not is_cut or self._clipper.clip(node, look, spot):
            # Under a mask some viewers draw no patterns, unless all is one thing.
            is_single = not canvas.is_masked and (alpha == 1 or _is_one_mark(node, look))
            if is_single:
                draw(Spot(canvas, spot.matrix, spot.viewport, spot.depth, alpha))
            else:
                group = canvas.draw_group(lambda inner: draw(spot.on(inner)))
                canvas.set_opacity(alpha, alpha)
                canvas.draw_picture(group)
        canvas.restore()

    # --- structure

    def draw_group(self, node: Node, look: Look, spot: Spot) -> None:
        """Draw the children of a group."""
        self.draw_children(node, look, spot)

    def draw_switch(self, node: Node, look: Look, spot: Spot) -> None:
        """Draw the first that asks for nothing we lack (SVG 2, 5.7)."""
        note_other_languages(node, self._job)
        for child in node.elements():
            if child.tag in _DRAW and meets_conditions(child, self._job):
                self.draw(
                    child, look, Spot(spot.canvas, spot.matrix, spot.viewport, spot.depth + 1)
                )
                return

    def draw_nested(self, node: Node, look: Look, spot: Spot) -> None:
        """Draw a nested `svg` in its own viewport."""
        viewport = spot.sized(look)
        x = read_side(node, "x", viewport.width, viewport)
        y = read_side(node, "y", viewport.height, viewport)
        width = read_side(node, "width", viewport.width, viewport, viewport.width)
        height = read_side(node, "height", viewport.height, viewport, viewport.height)
        self._draw_viewport(node, look, spot.moved((1, 0, 0, 1, x, y)), width, height)

    def _draw_viewport(
        self, node: Node, look: Look, spot: Spot, width: float, height: float
    ) -> None:
        """Draw a nested drawing, or a symbol, fitted into a rectangle and cut at its edges."""
        if width <= 0 or height <= 0:
            return
        box = read_view_box(node)
        matrix = fit_box(box, node.attributes.get("preserveAspectRatio", ""), width, height)
        canvas, inner = spot.canvas, spot.moved(matrix)
        viewport = Viewport(box.width, box.height) if box else Viewport(width, height)
        canvas.save()
        if look["overflow"] not in ("visible", "auto"):
            canvas.draw_path(rectangle(0, 0, width, height, 0, 0), spot.matrix, b"W n\n")
        self.draw_children(node, look, Spot(canvas, inner.matrix, viewport, spot.depth))
        canvas.restore()

    def draw_use(self, node: Node, look: Look, spot: Spot) -> None:
        """Draw a copy of the element that `use` refers to."""
        job, href = self._job, node.href
        target = job.identities.get(href[1:]) if href.startswith("#") else None
        if target is None:
            what = "is not in the file" if href.startswith("#") else "is outside of the file"
            job.leave_out(f"what `use` refers to, which {what}")
            return
        if target in job.entered:
            job.leave_out("a `use` that refers to itself")
            return
        viewport = spot.sized(look)
        outer = job.context
        extent = cache(lambda: find_extent(node, viewport, job))
        job.context = PaintContext(look, extent, spot, outer)
        x = read_side(node, "x", viewport.width, viewport)
        y = read_side(node, "y", viewport.height, viewport)
        spot = spot.moved((1, 0, 0, 1, x, y))
        spot = Spot(spot.canvas, spot.matrix, spot.viewport, spot.depth + 1)
        job.entered.add(target)
        if target.tag in ("symbol", "svg"):
            self._draw_symbol(target, node, look, spot)
        else:
            self.draw(target, look, spot)
        job.entered.discard(target)
        job.context = outer

    def _draw_symbol(self, target: Node, use: Node, parent: Look, spot: Spot) -> None:
        job, viewport = self._job, spot.viewport
        job.work.draw_element()
        look = job.look_in(target, parent)
        if look["display"] == "none":
            return
        sides = []
        for name, whole in (("width", viewport.width), ("height", viewport.height)):
            own = read_side(target, name, whole, viewport, whole)
            sides.append(read_side(use, name, whole, viewport, own))
        self._draw_seen(
            target, look, spot, lambda at: self._draw_viewport(target, look, at, sides[0], sides[1])
        )

    # --- what is seen

    def draw_shape(self, node: Node, look: Look, spot: Spot) -> None:
        """Fill and stroke a shape."""
        segments = self._job.segments_of(node, spot.sized(look))
        self._painter.paint(segments, look, spot)
        if node.tag in _MARKED and segments and look["visibility"] == "visible":
            draw_markers(self._job, segments, look, spot, self.draw_children)

    def draw_image(self, node: Node, look: Look, spot: Spot) -> None:
        """Draw an embedded image."""
        image = self._find_image(node.href)
        if image is None or look["visibility"] != "visible":
            return
        viewport, canvas = spot.sized(look), spot.canvas
        x = read_side(node, "x", viewport.width, viewport)
        y = read_side(node, "y", viewport.height, viewport)
        width = read_side(node, "width", viewport.width, viewport, -1.0)
        height = read_side(node, "height", viewport.height, viewport, -1.0)
        if width < 0 or height < 0:
            width, height = _by_shape(image, width, height)
        if width <= 0 or height <= 0:
            return
        box = ViewBox(0, 0, image.width, image.height)
        matrix = fit_box(box, node.attributes.get("preserveAspectRatio", ""), width, height)
        place = multiply(spot.moved((1, 0, 0, 1, x, y)).matrix, matrix)
        # The unit square of an image has its origin at the bottom.
        place = multiply(place, (image.width, 0, 0, -image.height, 0, image.height))
        canvas.save()
        canvas.draw_path(rectangle(x, y, width, height, 0, 0), spot.matrix, b"W n\n")
        canvas.set_opacity(spot.alpha, spot.alpha)
        canvas.draw_picture(image, multiply(place, image.matrix))
        canvas.restore()

    def _find_image(self, address: str) -> PreparedImage | None:
        if not address.startswith("data:"):
            self._job.leave_out("images outside of the file")
            return None
        if address not in self._images:
            self._images[address] = self._decode_image(address)
        return self._images[address]

    def _decode_image(self, address: str) -> PreparedImage | None:
        head, _, body = address.partition(",")
        if len(self._images) >= MAX_IMAGES:
            raise too_much("images in it", MAX_IMAGES)
        if self._damaged >= MAX_DAMAGED:
            return None
        try:
            if not head.endswith(";base64"):
                raise ValueError(head)
            image = self._job.prepare(base64.b64decode("".join(body.split())))
        except (UndrawableError, binascii.Error, *DECODER_ERRORS):
            self._damaged += 1
            self._job.leave_out("an image in it that is damaged, or neither PNG, JPEG nor WebP")
            return None
        self._pixels += image.pixels.width * image.pixels.height
        if self._pixels > MAX_DECODED_PIXELS:
            raise too_much("pixels in its images", MAX_DECODED_PIXELS)
        return image

    def draw_text(self, node: Node, look: Look, spot: Spot) -> None:
        """Draw text."""
        job, viewport = self._job, spot.viewport
        # The opacity of the element itself is applied around it.
        flow = TextFlow(
            node, look | {"opacity": "1"}, self._look_of_part, (viewport.width, viewport.height)
        )
        for what in flow.left_out:
            job.leave_out(what)
        job.missing.update(dict.fromkeys(flow.missing))
        placed = flow.place()
        job.work.draw_segments(max(flow.length // 20, sum(len(letters.text) for letters in placed)))
        job.work.draw_segments(_TURNED * sum(1 for letters in placed if letters.turns))
        extent = _extent_of(placed)
        for letters in placed:
            if letters.look["visibility"] == "visible":
                self._draw_letters(letters, extent, spot)

    def _look_of_part(self, node: Node, parent: Look) -> Look | None:
        """Give the look of a part of a text, None for one that is not drawn."""
        look = self._job.look_in(node, parent)
        is_drawn = look["display"] != "none" and meets_conditions(node, self._job)
        return look if is_drawn else None

    def _draw_letters(self, letters: Letters, extent: Box | None, spot: Spot) -> None:
        look = letters.look
        assert letters.x is not None
        assert letters.y is not None
        spot = replace(spot, alpha=spot.alpha * opacity(look))
        fill = self._painter.find_paint(look, "fill", lambda: extent, spot)
        stroke = self._painter.find_paint(look, "stroke", lambda: extent, spot)
        if letters.turn:  # what it is painted with stays upright
            turn = _turn_about(letters.turn, letters.x, letters.y)
            spot = spot.moved(turn)
        apply_paint(
            spot,
            fill,
            opacity(look, "fill-opacity"),
            lambda canvas: _write_letters(letters, spot, canvas),
            is_stroke=False,
        )
        if stroke is not None:
            outline = outline_letters(
                letters.runs, letters.x, letters.y, font_size(look), letters.spacing
            )
            self._painter.stroke(outline, look, spot, stroke)


def _turn_about(degrees: float, x: float, y: float) -> Matrix:
    cosine, sine = cos(radians(degrees)), sin(radians(degrees))
    return (
        *(cosine, sine, -sine, cosine),
        *(x - cosine * x + sine * y, y - sine * x - cosine * y),
    )


def _write_letters(letters: Letters, spot: Spot, canvas: Canvas) -> None:
    """Set text, which stays text that can be found and copied."""
    assert letters.x is not None
    assert letters.y is not None
    size = font_size(letters.look)
    a, b, c, d, e, f = multiply(spot.matrix, (1, 0, 0, -1, letters.x, letters.y))
    if not abs(a * d - b * c) > 1e-9 or not max(map(abs, (a, b, c, d, e, f))) < 1e9:
        return
    canvas.write(b"BT %b Tc\n" % number(letters.spacing))
    x = 0.0
    for run in letters.runs:
        place = (a, b, c, d, e + a * x, f + b * x)
        if run.clusters is None:
            name, texts = canvas.use_font(run.face)
            texts.append(run.text)
            codes = run.face.encode(run.text)
            show = b"TJ" if codes[:1] == b"[" else b"Tj"
            operators = (name, number(size), numbers(place), codes, show)
            canvas.write(b"%b %b Tf %b Tm %b %b\n" % operators)
        else:
            clusters = spread_clusters(run, letters.spacing / size)
            canvas.write_shaped(run.face, size, place, clusters)
            canvas.write(b"%b Tc\n" % number(letters.spacing))
        x += run.width * size + letters.spacing * len(run.text)
    canvas.write(b"0 Tc ET\n")


_DRAW: Final[dict[str, Callable[[Converter, Node, Look, Spot], None]]] = {
    "svg": Converter.draw_nested,
    "g": Converter.draw_group,
    "a": Converter.draw_group,
    "switch": Converter.draw_switch,
    "use": Converter.draw_use,
    "image": Converter.draw_image,
    "text": Converter.draw_text,
    **dict.fromkeys(SHAPES, Converter.draw_shape),
}


def _is_one_mark(node: Node, look: Look) -> bool:
    """Tell whether an element makes one mark, which can take its opacity itself."""
    if node.tag == "image":
        return True
    return (
        node.tag in SHAPES and "none" in (look["fill"], look["stroke"]) and not _has_markers(look)
    )


def _has_markers(look: Look) -> bool:
    return any(look[f"marker-{where}"] != "none" for where in ("start", "mid", "end"))


def _by_shape(image: PreparedImage, width: float, height: float) -> tuple[float, float]:
    """Give the size of an image of which a side is not stated."""
    if width < 0 and height < 0:
        return image.width, image.height
    if width < 0:
        return height * image.width / image.height, height
    return width, width * image.height / image.width


def _extent_of(placed: list[Letters]) -> Box | None:
    """Give about the box of placed text, for gradients that fit themselves to it."""
    if not placed:
        return None
    lefts = [letters.x or 0.0 for letters in placed]
    rights = [(letters.x or 0.0) + letters.width for letters in placed]
    tops = [(letters.y or 0.0) - font_size(letters.look) for letters in placed]
    bottoms = [(letters.y or 0.0) + font_size(letters.look) * 0.3 for letters in placed]
    return min(lefts), min(tops), max(rights), max(bottoms)
