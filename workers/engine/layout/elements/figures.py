"""Figures: the room images and bar codes take, and where their marks stand in it.

An image without a stated size is as large as it is (a pixel is 1/96 in unless the file says
otherwise), but never wider than its container; with one stated side the other keeps its shape.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from workers.engine.diagnostics import Severity
from workers.engine.layout.context import (
    EPSILON,
    Context,
    Fonts,
    Misfit,
    Piece,
    Resume,
    Sheet,
    Space,
    cut_excerpt,
    in_mm,
)
from workers.engine.layout.display import Cells, Picture, Polygons, Restore, Save
from workers.engine.layout.elements.barcodes import encode_barcode
from workers.engine.layout.elements.symbols import Symbol
from workers.engine.layout.frames import (
    Frame,
    FramedPiece,
    frame_of,
    mark_of,
    outer_widths,
    set_backdrop,
    with_width,
)
from workers.engine.layout.lines import Look
from workers.engine.layout.lines.phrases import draw_phrase, set_phrase, text_measurer
from workers.engine.layout.pictures import find_picture
from workers.engine.layout.problems import Problem
from workers.engine.layout.svg.drawing import Drawable
from workers.engine.tree.nodes import Barcode, Image
from workers.engine.units import LengthKind, mm

MODULE: Final = mm(0.5)  # of a bar code that states no size: every phone reads it
BAR: Final = mm(0.33)  # the same for bars; the nominal width of GS1 General Specifications, 5.12.3
LEAST_TEXT: Final = 4.0  # points; what is smaller below a bar code nobody reads
SIDE_TOLERANCE: Final = mm(0.2)  # of a code whose standard says how large it is


@dataclass(slots=True)
class NothingPiece:
    """A figure that cannot be drawn; the reason is told where it would have stood."""

    misfit: Misfit | None
    height: float = 0.0
    resume: Resume = None
    forced: str = ""
    first_baseline: float | None = None

    def draw(self, sheet: Sheet, _x: float, _y: float) -> None:
        """Tell the reason."""
        if self.misfit is not None:
            sheet.report(self.misfit)


@dataclass(slots=True)
class PicturePiece:
    """An image in a box of its own size."""

    node: Image
    image: Drawable
    width: float
    height: float
    resume: Resume = None
    forced: str = ""
    first_baseline: float | None = None

    def draw(self, sheet: Sheet, x: float, y: float) -> None:
        """Draw the image as `object-fit` and `object-position` say."""
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
            sheet.items.append(Save(clip=(x, y, self.width, self.height)))
        owner = sheet.owner(self.node) if self.node.alt else None
        sheet.items.append(Picture(left, top, width, height, self.image, owner, self.node))
        if is_cut:
            sheet.items.append(Restore())


@dataclass(slots=True)
class SymbolPiece:
    """A bar code; `module` is the width of its narrowest bar, `caption` what people read below it."""

    node: Barcode
    symbol: Symbol
    module: float
    width: float
    height: float
    caption: Caption | None = None
    resume: Resume = None
    forced: str = ""
    first_baseline: float | None = None

    def draw(self, sheet: Sheet, x: float, y: float) -> None:
        """Draw the modules, in the middle of the box, and the text below them."""
        module, symbol, caption = self.module, self.symbol, self.caption
        room = self.height - (caption.height if caption else 0.0)
        down = room / symbol.rows if symbol.is_bars else module
        left = x + (self.width - symbol.columns * module) / 2
        top = y + (room - symbol.rows * down) / 2
        color = self.node.style.text.color
        owner = sheet.owner(self.node)
        if symbol.polygons:
            sheet.items.append(Polygons(left, top, module, symbol.polygons, color, owner))
        else:
            sheet.items.append(Cells(left, top, module, down, symbol.rectangles, color, owner))
        if caption is not None:
            baseline = y + self.height - caption.height + caption.baseline
            for line in symbol.text.split("\n"):
                phrase = set_phrase(caption.fonts, caption.look.style, line)
                start = x + (self.width - sum(part.width for part in phrase)) / 2
                draw_phrase(sheet, phrase, start, baseline, owner)
                baseline += caption.line_height


class Caption(NamedTuple):
    """The text below a bar code, made smaller where it would be wider than the code."""

    look: Look
    height: float
    line_height: float
    baseline: float
    fonts: Fonts


def lay_out_image(context: Context, node: Image, space: Space, _resume: Resume) -> Piece | None:
    """Lay out an image; one that cannot be had is an error unless it is optional."""
    prepared = find_picture(context, node.picture, node.source)
    if isinstance(prepared, Problem):
        return NothingPiece(_judge_missing(context, node, prepared))
    frame = frame_of(context, node.style.box, space)
    width, height = _size(node, frame, space, (prepared.width_points, prepared.height_points))
    frame = with_width(frame, width + frame.insets.left + frame.insets.right, space)
    return _framed(context, node, frame, space, PicturePiece(node, prepared, width, height))


def lay_out_barcode(context: Context, node: Barcode, space: Space, _resume: Resume) -> Piece | None:
    """Lay out a bar code; a wrong value is an error."""
    symbol = _encode(context, node)
    if isinstance(symbol, Problem):
        misfit = Misfit(symbol.code, symbol.text, "Correct the value.", context.chain(node.source))
        return NothingPiece(misfit)
    frame = frame_of(context, node.style.box, space)
    natural, is_held = _natural_size(node, symbol), node.module is not None
    caption = None
    if node.shows_text and symbol.text:
        width = _size(node, frame, space, natural, is_held=is_held, is_free=symbol.is_bars)[0]
        caption = _caption(context, node, symbol.text, width)
        scale = 1.0 if symbol.is_bars or width == 0 else natural[0] / width
        natural = (natural[0], natural[1] + caption.height * scale)
    width, height = _size(node, frame, space, natural, is_held=is_held, is_free=symbol.is_bars)
    frame = with_width(frame, width + frame.insets.left + frame.insets.right, space)
    room = max(height - (caption.height if caption else 0.0), 0.0)
    module = width / symbol.columns
    if not symbol.is_bars:
        module = min(module, room / symbol.rows)
    piece = SymbolPiece(node, symbol, module, width, height, caption)
    framed = _framed(context, node, frame, space, piece)
    if framed is not None and framed.misfit is None:
        framed.misfit = _judge_text(context, node, symbol, caption) or _judge_side(
            context, node, symbol, module
        )
    return framed


def _natural_size(node: Barcode, symbol: Symbol) -> tuple[float, float]:
    module = node.module
    if module is None and symbol.side:
        return symbol.side, symbol.side * (symbol.rows / symbol.columns)
    if module is None:
        module = BAR if symbol.is_bars or symbol.is_stack else MODULE
    return symbol.columns * module / symbol.grain, symbol.rows * module / symbol.grain


def _caption(context: Context, node: Barcode, text: str, width: float) -> Caption:
    style = node.style.text
    look = Look(style, context.fonts.find(style), None)
    lines = text.split("\n")
    context.tell_missing(text.replace("\n", " "), node.source)
    wide = max(map(text_measurer(context.fonts, style), lines))
    if wide > width > 0:
        look = look._replace(
            style=replace(
                style,
                size=style.size * width / wide,
                letter_spacing=style.letter_spacing * width / wide,
            )
        )
    size, face = look.style.size, look.face
    baseline, line_height = face.ascent * size, (face.ascent + face.descent) * size
    return Caption(look, line_height * len(lines), line_height, baseline, context.fonts)


def _judge_text(
    context: Context, node: Barcode, symbol: Symbol, caption: Caption | None
) -> Misfit | None:
    if not node.shows_text:
        return None
    if caption is None:
        what = f'A bar code of type "{node.symbology}" has no text to show'
        return Misfit("barcode-text", what, "Leave out show-text.", context.chain(node.source))
    if caption.look.style.size >= min(LEAST_TEXT, node.style.text.size):
        return None
    what = f"The text below the bar code would be {caption.look.style.size:.1f}pt small"
    advice = "Make the code wider, or leave out show-text."
    return Misfit(
        "barcode-text", what, advice, context.chain(node.source), cut_excerpt(symbol.text)
    )


def _judge_side(context: Context, node: Barcode, symbol: Symbol, module: float) -> Misfit | None:
    """Warn of a code that is not of the one size its standard allows."""
    side = symbol.columns * module
    if not symbol.side or abs(side - symbol.side) <= SIDE_TOLERANCE:
        return None
    what = (
        f'A bar code of type "{node.symbology}" is {in_mm(symbol.side)} wide by its standard, '
        f"this one is {in_mm(side)}"
    )
    advice = "Leave out width, height and module, and give it room."
    chain = context.chain(node.source)
    return Misfit("barcode-size", what, advice, chain, severity=Severity.WARNING)


def measure_image(context: Context, node: Image) -> tuple[float, float]:
    """Give the width of an image, box included."""
    prepared = find_picture(context, node.picture, node.source)
    if isinstance(prepared, Problem):
        return 0.0, 0.0
    frame = frame_of(context, node.style.box, Space(0.0))
    natural = (prepared.width_points, prepared.height_points)
    width = _scaled(node, frame, natural)[0]
    return outer_widths(node.style.box, width, width)


def measure_barcode(context: Context, node: Barcode) -> tuple[float, float]:
    """Give the width of a bar code, box included."""
    symbol = _encode(context, node)
    if isinstance(symbol, Problem):
        return 0.0, 0.0
    frame = frame_of(context, node.style.box, Space(0.0))
    width = _scaled(node, frame, _natural_size(node, symbol), is_free=symbol.is_bars)[0]
    return outer_widths(node.style.box, width, width)


def _framed(
    context: Context,
    node: Image | Barcode,
    frame: Frame,
    space: Space,
    content: PicturePiece | SymbolPiece,
) -> FramedPiece | None:
    height = content.height + frame.insets.top + frame.insets.bottom
    if height > space.height + EPSILON and not space.is_top:
        return None
    piece = FramedPiece(node, frame, content, height, None, True, mark_of(node))
    set_backdrop(context, piece)
    if frame.width > space.width + EPSILON:
        piece.misfit = context.too_wide(
            node.source, need=frame.width, room=space.width, advice="Give it a smaller width."
        )
    elif height > space.height + EPSILON:
        piece.misfit = context.too_tall(node.source, need=height, room=space.height)
    return piece


def _size(
    node: Image | Barcode,
    frame: Frame,
    space: Space,
    natural: tuple[float, float],
    *,
    is_held: bool = False,
    is_free: bool = False,
) -> tuple[float, float]:
    """Give the size of the content: stated sides as stated, the others in proportion.

    What is held has a width that nothing changes; what is free (bars) has no proportion to keep.
    """
    width, height = _scaled(node, frame, natural, space, is_free=is_free)
    room = frame.content_width
    has_width = _stated_width(node, frame, space) is not None
    if is_free and not has_width and not is_held and 0 < room < width:
        return room, height
    if not has_width and not is_held and frame.height is None and 0 < room < width:
        width, height = room, height * room / width
    return width, height


def _scaled(
    node: Image | Barcode,
    frame: Frame,
    natural: tuple[float, float],
    space: Space | None = None,
    *,
    is_free: bool = False,
) -> tuple[float, float]:
    width = _stated_width(node, frame, space)
    height = _stated_height(frame)
    if is_free:
        width = natural[0] if width is None else width
        height = natural[1] if height is None else height
    ratio = natural[1] / natural[0]
    if width is None:
        if height is None:
            width, height = natural
        else:
            width = height / ratio
    elif height is None:
        height = width * ratio
    most = _most_width(node, frame, space)
    if most is not None and width > most:
        # A stated height stays, and the image is fitted into the narrower box.
        if not is_free and _stated_height(frame) is None:
            height *= most / width
        width = most
    limit = node.style.box.max_height
    if limit is not None and limit.kind is LengthKind.POINTS and height > limit.value > 0:
        return width * limit.value / height, limit.value
    return width, height


def _most_width(node: Image | Barcode, frame: Frame, space: Space | None) -> float | None:
    """Give what `max-width` leaves for the content; a module that is stated holds against it."""
    limit = node.style.box.max_width
    if limit is None or (isinstance(node, Barcode) and node.module is not None):
        return None
    if space is None and limit.kind is not LengthKind.POINTS:
        return None
    most = limit.resolve(space.width if space else 0.0)
    return None if most is None else max(most - frame.insets.left - frame.insets.right, 0.0)


def _stated_width(node: Image | Barcode, frame: Frame, space: Space | None) -> float | None:
    box = node.style.box
    if box.width.kind is LengthKind.AUTO:
        return None
    if space is not None and space.is_track:
        return frame.content_width
    stated = box.width.resolve(space.width if space else 0.0)
    if stated is None:
        return None
    return max(stated - frame.insets.left - frame.insets.right, 0.0)


def _stated_height(frame: Frame) -> float | None:
    if frame.height is None:
        return None
    return max(frame.height - frame.insets.top - frame.insets.bottom, 0.0)


def _fitted(fit: str, image: Drawable, width: float, height: float) -> tuple[float, float]:
    """Give the size an image is drawn at in a box (CSS Images 3, 5.5)."""
    if fit == "fill":
        return width, height
    if fit == "none":
        return image.width_points, image.height_points
    across, down = width / image.width_points, height / image.height_points
    factor = max(across, down) if fit == "cover" else min(across, down)
    return image.width_points * factor, image.height_points * factor


def _encode(context: Context, node: Barcode) -> Symbol | Problem:
    key = ("symbol", id(node))
    known: tuple[Barcode, Symbol | Problem] | None = context.memory.get(key)
    if known is None or known[0] is not node:
        known = context.memory[key] = (node, encode_barcode(node))
    return known[1]


def _judge_missing(context: Context, node: Image, problem: Problem) -> Misfit | None:
    if node.is_optional:
        context.findings.warn(problem.code, f"{problem.text}; it is left out", node.source.place)
        return None
    advice = f'{problem.advice} With optional="true" it is left out.'
    return Misfit(problem.code, problem.text, advice, context.chain(node.source))
