"""Figures: images and bar codes in their boxes.

An image without a stated size has its natural size (a pixel is 1/96 in unless the file states a
resolution), but is never wider than its container; if one side is stated, the other keeps the
aspect ratio.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import cycle
from math import inf
from typing import Final, NamedTuple

from workers.engine.barcodes import find_doubtful
from workers.engine.diagnostics import Severity
from workers.engine.layout.blocks.boxes import (
    BoxFragment,
    BoxNode,
    UsedBox,
    outer_widths,
    resolve_box,
    set_background_image,
    with_own_width,
)
from workers.engine.layout.context import (
    EPSILON,
    ContentProblem,
    DrawnFragment,
    Fragment,
    LayoutContext,
    LayoutProblem,
    PageCanvas,
    Rectangle,
    Region,
    Resume,
    UnbrokenFragment,
    format_mm,
    shorten_value,
)
from workers.engine.layout.display import Drawable, Path, Picture, RectangleSet, Restore, Save
from workers.engine.layout.elements import barcodes
from workers.engine.layout.lines.drawing import phrase_items, set_phrase, text_measurer
from workers.engine.layout.lines.fragments import InlineFragment
from workers.engine.layout.pictures import find_fallback, find_picture, warn_of_missing
from workers.engine.tree.memo import Kind
from workers.engine.tree.nodes import Barcode, Image, Source
from workers.engine.units import WHITE, LengthKind, mm

MODULE_WIDTH: Final = mm(0.5)  # of a bar code without a stated size; every phone reads it
# The same for linear symbols; the nominal X-dimension of GS1 General Specifications, 5.12.3.
BAR_WIDTH: Final = mm(0.33)
MIN_TEXT_SIZE: Final = 4.0  # points; smaller text below a bar code is illegible
SIDE_TOLERANCE: Final = mm(0.2)  # of a symbol whose standard fixes its size
_UNLIMITED: Final = 1e9  # points; what is measured stands in no container


def _fail(problem: LayoutProblem | None) -> Fragment:
    """Return a figure that cannot be drawn; its problem is reported at its place."""
    return DrawnFragment(lambda canvas, _x, _y: canvas.report(problem))


@dataclass(slots=True)
class ImageFragment(UnbrokenFragment):
    """An image in a box of its own size."""

    node: Image
    image: Drawable
    width: float
    height: float

    def draw(self, canvas: PageCanvas, x: float, y: float) -> None:
        """Draw the image by `object-fit` and `object-position` (CSS Images 3, 5.5)."""
        width, height = _fitted(self.node.fit, self.image, self.width, self.height)
        across, down = self.node.position
        left = x + (across.resolve(self.width - width) or 0.0)
        top = y + (down.resolve(self.height - height) or 0.0)
        is_cut = (
            min(left - x, top - y) < -EPSILON
            or left + width > x + self.width + EPSILON
            or top + height > y + self.height + EPSILON
        )
        if is_cut:
            canvas.items.append(Save(clip=(x, y, self.width, self.height)))
        room = Rectangle(x, y, self.width, self.height)
        owner = canvas.add_figure(self.node, self.node.alt, room)
        canvas.items.append(Picture(left, top, width, height, self.image, owner, self.node))
        if is_cut:
            canvas.items.append(Restore())


@dataclass(slots=True)
class BarcodeFragment(UnbrokenFragment):
    """A bar code; `module` is the width of its narrowest bar, `caption` the text below it."""

    node: Barcode
    symbol: barcodes.Symbol
    module: float
    width: float
    height: float
    caption: HumanReadableText | None = None

    def draw(self, canvas: PageCanvas, x: float, y: float) -> None:
        """Draw the symbol in the centre of the box, and the text below it."""
        module, symbol, caption = self.module, self.symbol, self.caption
        room = self.height - (caption.height if caption else 0.0)
        down = room / symbol.rows if symbol.is_bars else module
        left = x + (self.width - symbol.columns * module) / 2
        top = y + (room - symbol.rows * down) / 2
        if self.node.dpi is not None:
            left = barcodes.snap_to_dots(left, self.node.dpi)
            top = barcodes.snap_to_dots(top, self.node.dpi)
        first = len(canvas.items)
        color = self.node.style.text.color
        owner = canvas.owner_of(self.node)
        if canvas.tree is not None:  # without `alt` it is an artifact
            box = Rectangle(x, y, self.width, self.height)
            owner = canvas.add_figure(self.node, self.node.alt, box)
        if symbol.polygons:
            subpaths = [
                tuple((left + across * module, top + below * module) for across, below in polygon)
                for polygon in symbol.polygons
            ]
            canvas.items.append(Path(tuple(subpaths), color, owner))
        else:
            layers = zip((symbol.rectangles, *symbol.overlays), cycle((color, WHITE)), strict=False)
            canvas.items += [
                RectangleSet(left, top, module, down, areas, ink, owner) for areas, ink in layers
            ]
        area = Rectangle(left, top, symbol.columns * module, symbol.rows * down)
        printed = module * symbol.subdivisions
        barcodes.record_code(canvas, self.node, area, printed, first, is_linear=symbol.is_bars)
        if caption is not None:
            baseline = y + self.height - caption.height + caption.baseline
            for phrase in caption.lines:
                start = x + (self.width - sum(part.width for part in phrase)) / 2
                canvas.items += phrase_items(phrase, start, baseline, owner)
                baseline += caption.line_height


class HumanReadableText(NamedTuple):
    """The lines of text below a bar code, in a smaller size if they would be wider than the symbol."""

    lines: Sequence[tuple[InlineFragment, ...]]
    size: float
    line_height: float
    baseline: float

    @property
    def height(self) -> float:
        """The height of all lines, in points."""
        return self.line_height * len(self.lines)


def lay_out_image(
    context: LayoutContext, node: Image, region: Region, resume: Resume
) -> Fragment | None:
    """Lay out an image; one that cannot be loaded is a problem unless it is optional."""
    if (fallback := find_fallback(context, node)) is not None:
        return context.lay_out(fallback, region, resume)
    prepared = find_picture(context, node.picture, node.source)
    if isinstance(prepared, ContentProblem):
        return _fail(_describe_missing(context, node, prepared))
    used_box = resolve_box(context, node.style.box, region)
    natural = (prepared.width_points, prepared.height_points)
    width, height = _size(node, used_box, natural, has_width=_has_width(node, region))
    used_box = with_own_width(
        used_box, width + used_box.insets.left + used_box.insets.right, region
    )
    return place_figure(
        context, node, used_box, region, ImageFragment(node, prepared, width, height)
    )


def lay_out_barcode(
    context: LayoutContext, node: Barcode, region: Region, _resume: Resume
) -> Fragment | None:
    """Lay out a bar code; an invalid value is a problem."""
    symbol = _encode(context, node)
    if isinstance(symbol, ContentProblem):
        return _fail(_describe(context, node, symbol))
    used_box = resolve_box(context, node.style.box, region)
    has_width, is_bars = _has_width(node, region), symbol.is_bars
    find_size = partial(_size, node, used_box, has_width=has_width, has_free_height=is_bars)
    natural, caption = _natural_size(node, symbol), None
    if node.shows_text and symbol.text:
        width = find_size(natural)[0]
        caption = _lay_out_text(context, node, symbol.text, width)
        scale = 1.0 if is_bars or width == 0 else natural[0] / width
        natural = (natural[0], natural[1] + caption.height * scale)
    width, height = find_size(natural)
    used_box = with_own_width(
        used_box, width + used_box.insets.left + used_box.insets.right, region
    )
    room = max(height - (caption.height if caption else 0.0), 0.0)
    module = width / symbol.columns
    if not is_bars:
        module = min(module, room / symbol.rows)
    if (node.dpi is not None or node.reduction) and module > 0:
        fitted = barcodes.fit_to_dots(symbol, module, node)
        if isinstance(fitted, ContentProblem):
            return _fail(_describe(context, node, fitted))
        fragment = BarcodeFragment(node, *fitted, width, height, caption)
    else:
        fragment = BarcodeFragment(node, symbol, module, width, height, caption)
    framed = place_figure(context, node, used_box, region, fragment)
    if framed is not None and framed.problem is None:
        chain = context.chain(node.source)
        framed.problem = (
            _check_text(node, symbol, caption, chain)
            or _check_side(node, symbol, module, chain)
            or _check_added_digit(node, symbol, chain)
        )
    return framed


def _describe(context: LayoutContext, node: Barcode, problem: ContentProblem) -> LayoutProblem:
    advice = problem.advice or "Correct the value."
    return LayoutProblem(problem.code, problem.text, advice, context.chain(node.source))


def _natural_size(node: Barcode, symbol: barcodes.Symbol) -> tuple[float, float]:
    module = node.module
    if module is None and symbol.side:
        return symbol.side, symbol.side * (symbol.rows / symbol.columns)
    if module is None:
        module = BAR_WIDTH if symbol.is_bars or symbol.is_stack else MODULE_WIDTH
    module = barcodes.round_to_dots(module, node.dpi)
    return symbol.columns * module / symbol.subdivisions, symbol.rows * module / symbol.subdivisions


def _lay_out_text(
    context: LayoutContext, node: Barcode, text: str, width: float
) -> HumanReadableText:
    style, face = node.style.text, context.fonts.find(node.style.text)
    lines = text.split("\n")
    context.report_missing_glyphs(text.replace("\n", " "), node.source)
    wide = max(map(text_measurer(context.fonts, style), lines))
    if wide > width > 0:
        scale = width / wide
        style = replace(
            style,
            size=style.size * scale,
            letter_spacing=style.letter_spacing * scale,
            word_spacing=style.word_spacing * scale,
        )
    line_height, baseline = (face.ascent + face.descent) * style.size, face.ascent * style.size
    phrases = [set_phrase(context.fonts, style, line) for line in lines]
    return HumanReadableText(phrases, style.size, line_height, baseline)


def _check_text(
    node: Barcode,
    symbol: barcodes.Symbol,
    caption: HumanReadableText | None,
    chain: tuple[Source, ...],
) -> LayoutProblem | None:
    if not node.shows_text:
        return None
    if caption is None:
        what = f'A bar code of type "{node.symbology}" has no text to show'
        return LayoutProblem("barcode-text", what, "Leave out show-text.", chain)
    if caption.size >= min(MIN_TEXT_SIZE, node.style.text.size):
        return None
    what = f"The text below the bar code would be {caption.size:.1f}pt small"
    advice = "Make the code wider, or leave out show-text."
    return LayoutProblem("barcode-text", what, advice, chain, shorten_value(symbol.text))


def _check_added_digit(
    node: Barcode, symbol: barcodes.Symbol, chain: tuple[Source, ...]
) -> LayoutProblem | None:
    """Return a warning for a check digit after another one."""
    number = find_doubtful(node.value, symbol.text) if isinstance(node.value, str) else None
    if number is None:
        return None
    what = f'"{number}" ends in its check digit, and another one is added to it'
    advice = "Write 0 before it if it is a whole article number."
    return LayoutProblem(barcodes.CODE, what, advice, chain, severity=Severity.WARNING)


def _check_side(
    node: Barcode, symbol: barcodes.Symbol, module: float, chain: tuple[Source, ...]
) -> LayoutProblem | None:
    """Return a warning for a symbol of another size than its standard allows."""
    side = symbol.columns * module
    if not symbol.side or abs(side - symbol.side) <= SIDE_TOLERANCE + symbol.spare:
        return None
    sides = sorted({symbol.side - symbol.spare, symbol.side + symbol.spare})
    what = (
        f'A bar code of type "{node.symbology}" is {" to ".join(map(format_mm, sides))} wide by its standard, '
        f"this one is {format_mm(side)}"
    )
    advice = "Leave out width, height and module, and give it room."
    return LayoutProblem("barcode-size", what, advice, chain, severity=Severity.WARNING)


def measure_image(context: LayoutContext, node: Image) -> tuple[float, float]:
    """Return the width of an image, box included, in points."""
    if (fallback := find_fallback(context, node)) is not None:
        return context.measure(fallback)
    prepared = find_picture(context, node.picture, node.source)
    if isinstance(prepared, ContentProblem):
        return 0.0, 0.0
    return _measure(context, node, (prepared.width_points, prepared.height_points))


def measure_barcode(context: LayoutContext, node: Barcode) -> tuple[float, float]:
    """Return the width of a bar code, box included, in points."""
    symbol = _encode(context, node)
    if isinstance(symbol, ContentProblem):
        return 0.0, 0.0
    return _measure(context, node, _natural_size(node, symbol), has_free_height=symbol.is_bars)


def place_figure(
    context: LayoutContext, node: BoxNode, used_box: UsedBox, region: Region, content: Fragment
) -> BoxFragment | None:
    """Place unbreakable content in its box; None where it must move to the next page."""
    height = content.height + used_box.insets.top + used_box.insets.bottom
    if height > region.height + EPSILON and not region.is_top:
        return None
    fragment = BoxFragment(node, used_box, content, height, None, True)
    set_background_image(context, fragment)
    if used_box.width > region.width + EPSILON:
        fragment.problem = context.too_wide(
            node.source,
            needed=used_box.width,
            available=region.width,
            advice="Give it a smaller width.",
        )
    elif height > region.height + EPSILON:
        fragment.problem = context.too_tall(node.source, needed=height, available=region.height)
    return fragment


def _size(
    node: Image | Barcode,
    used_box: UsedBox,
    natural: tuple[float, float],
    *,
    has_width: bool = False,
    has_free_height: bool = False,
) -> tuple[float, float]:
    """Return the size of the content: stated sides as stated, others in proportion, within the limits.

    Content with a free height (bars) has no aspect ratio; nothing changes the width of a stated module.
    """
    room, edges = used_box.content_width, used_box.insets.top + used_box.insets.bottom
    stated = None if used_box.height is None else max(used_box.height - edges, 0.0)
    ratio = 0.0 if has_free_height else natural[1] / natural[0]
    width = stated / ratio if stated is not None and ratio else natural[0]
    has_module = isinstance(node, Barcode) and node.module is not None
    # A picture with a stated height alone may be too wide for its container, but not its `max-width`.
    is_limited = stated is None or not ratio or node.style.box.max_width is not None
    if has_width or (is_limited and not has_module and 0 < room < width):
        width = room
    height = (width * ratio if ratio else natural[1]) if stated is None else stated
    most = inf if used_box.max_height is None else used_box.max_height - edges
    if 0 < most < height:
        width, height = (width * most / height if ratio else width), most
    return width, height


def _has_width(node: Image | Barcode, region: Region) -> bool:
    """Return whether the used width is a stated one; a share is stated in a row only."""
    kind = node.style.box.width.kind
    is_share = kind is LengthKind.FRACTION
    return region.has_fixed_width if is_share else kind is not LengthKind.AUTO


def _measure(
    context: LayoutContext,
    node: Image | Barcode,
    natural: tuple[float, float],
    *,
    has_free_height: bool = False,
) -> tuple[float, float]:
    """Return the outer width of content in no container: of a width in per cent, that of its edges."""
    box, width = node.style.box, 0.0
    if box.width.kind is not LengthKind.PERCENT:
        used_box = resolve_box(context, box, Region(_UNLIMITED))
        width = _size(node, used_box, natural, has_free_height=has_free_height)[0]
    return outer_widths(box, width, width)


def _fitted(fit: str, image: Drawable, width: float, height: float) -> tuple[float, float]:
    """Return the size at which an image is drawn in a box (CSS Images 3, 5.5)."""
    if fit == "fill":
        return width, height
    if fit == "none":
        return image.width_points, image.height_points
    across, down = width / image.width_points, height / image.height_points
    factor = max(across, down) if fit == "cover" else min(across, down)
    return image.width_points * factor, image.height_points * factor


def _encode(context: LayoutContext, node: Barcode) -> barcodes.Symbol | ContentProblem:
    """Return the symbol of a bar code; that of a text may be the same in all documents.

    An example is the address of a site.
    """

    def encode() -> barcodes.Symbol | ContentProblem:
        if not isinstance(node.value, str):
            return barcodes.encode_barcode(node)
        symbols = context.memo.template
        return symbols.remember(SYMBOLS, node.key, lambda: barcodes.encode_barcode(node))

    return context.memo.remember(_SYMBOLS, node, encode)


def _size_of(symbol: barcodes.Symbol | ContentProblem) -> int | None:
    """Return the bytes of a symbol, None for one that each document has to report or is rare."""
    if isinstance(symbol, ContentProblem) or symbol.polygons:
        return None
    return 80 * len(symbol.rectangles)


SYMBOLS: Final[Kind[tuple[object, ...], barcodes.Symbol | ContentProblem]] = Kind(size_of=_size_of)
_SYMBOLS: Final[Kind[Barcode, barcodes.Symbol | ContentProblem]] = Kind()


def _describe_missing(
    context: LayoutContext, node: Image, problem: ContentProblem
) -> LayoutProblem | None:
    if node.is_optional:
        warn_of_missing(context, node, problem)
        return None
    advice = f'{problem.advice} With optional="true" it is left out.'
    return LayoutProblem(problem.code, problem.text, advice, context.chain(node.source))
