"""Pages as text, one line per drawn item, as references that can be reviewed in a diff."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from hashlib import sha256
from typing import Any, Final

from workers.engine.layout.display import (
    Fill,
    GlyphRun,
    Item,
    LaidOutDocument,
    LaidOutPage,
    Owner,
    Path,
    Picture,
    RectangleSet,
    Restore,
    Save,
    ShapedRun,
    Stroke,
    StrokedRectangle,
    Widget,
    single_items,
)
from workers.engine.tree.nodes import FormField
from workers.engine.units import BLACK, Color, ColorSpace

_MAX_PATH: Final = 400  # characters of a path that are written in full


def dump_pages(laid_out: LaidOutDocument) -> str:
    """Write every item of every page: kind, x, y, width, height, style and text, to 0.1 pt.

    Artifacts have a `~` after their kind. Differences below 0.05 pt do not change the text.
    """
    lines: list[str] = []
    for number, page in enumerate(laid_out.pages, start=1):
        lines.append(f"page {number} {_pair(page.width, page.height)}{_outside(page)}")
        lines += _page_lines(page)
    lines += [
        f"outline {'  ' * (entry.level - 1)}{entry.level} {_quoted(entry.text)} page {entry.page + 1} y {_n(entry.y)}"
        for entry in laid_out.outline
    ]
    return "\n".join(lines) + "\n"


def _outside(page: LaidOutPage) -> str:
    bleed = f" bleed {_n(page.bleed)}" if page.bleed else ""
    slug = f" slug {_n(page.slug)}" if page.slug else ""
    return f"{bleed}{slug}" + (f" on {page.media}" if page.media != "plain" else "")


def _page_lines(page: LaidOutPage) -> Iterator[str]:
    depth = 1
    for item in single_items(page.items):
        if isinstance(item, Restore):
            depth -= 1
        yield "  " * depth + _WRITERS[type(item)](item)
        if isinstance(item, Save):
            depth += 1
    for link in page.links:
        yield f"  link {_box(link.x, link.y, link.width, link.height)} {link.target}"
    for anchor in page.anchors:
        yield f"  anchor {_pair(anchor.x, anchor.y)} {anchor.name}"


def _glyphs(item: GlyphRun) -> str:
    spacing = f" letters {_n(item.letter_spacing)}" if item.letter_spacing else ""
    return (
        f"text{_artifact_mark(item.owner)} {_pair(item.x, item.y)} {_n(item.width)}"
        f" {item.face.name} {_n(item.size)}{_color(item.color)}{spacing} {_quoted(item.text)}"
    )


def _shaped(item: ShapedRun) -> str:
    return (
        f"shaped{_artifact_mark(item.owner)} {_pair(item.x, item.y)} {_n(item.width)}"
        f" {item.face.name} {_n(item.size)}{_color(item.color)} {len(item.clusters)} clusters {_quoted(item.text)}"
    )


def _fill(item: Fill) -> str:
    return f"fill{_artifact_mark(item.owner)} {_box(*item[:4])}{_color(item.color)}{_radius(item)}"


def _outline(item: StrokedRectangle) -> str:
    return (
        f"outline{_artifact_mark(item.owner)} {_box(*item[:4])} line {_n(item.line_width)}"
        f"{_color(item.color)}{_dash(item)}{_radius(item)}"
    )


def _stroke(item: Stroke) -> str:
    return (
        f"line{_artifact_mark(item.owner)} {_pair(item.x1, item.y1)} to {_pair(item.x2, item.y2)}"
        f" width {item.width:.2f}{_color(item.color)}{_dash(item)}"
    )


def _cells(item: RectangleSet) -> str:
    left = min((x for x, *_ in item.rectangles), default=0)
    top = min((y for _, y, *_ in item.rectangles), default=0)
    right = max((x + width for x, _, width, _ in item.rectangles), default=0)
    bottom = max((y + height for _, y, _, height in item.rectangles), default=0)
    across, down = item.unit_width, item.unit_height
    box = _box(
        item.x + left * across, item.y + top * down, (right - left) * across, (bottom - top) * down
    )
    return f"cells{_artifact_mark(item.owner)} {box}{_color(item.color)} {len(item.rectangles)} rectangles"


def _path(item: Path) -> str:
    written = "; ".join(" ".join(",".join(map(_n, p)) for p in path) for path in item.subpaths)
    if len(written) > _MAX_PATH:
        points = sum(map(len, item.subpaths))
        digest = sha256(written.encode()).hexdigest()[:8]
        written = f"{len(item.subpaths)} subpaths, {points} points, {digest}"
    width = f" width {item.width:.2f}{_dash(item)}" if item.width else ""
    return f"path{_artifact_mark(item.owner)}{_color(item.color)}{width} {written}"


def _picture(item: Picture) -> str:
    return f"picture{_artifact_mark(item.owner)} {_box(*item[:4])} {item.image.key[:8]}"


def _save(item: Save) -> str:
    parts = ["group"]
    if item.clip is not None:
        parts.append(f"clip {_box(*item.clip)}")
    if item.rotate is not None:
        degrees, x, y = item.rotate
        parts.append(f"turn {_n(degrees)} about {_pair(x, y)}")
    if item.opacity < 1:
        parts.append(f"opacity {item.opacity:g}")
    return " ".join(parts)


def _restore(_: Restore) -> str:
    return "end"


def _widget(item: Widget) -> str:
    node: FormField = item.node
    flags = {"checked": node.is_checked, "required": node.is_required, "readonly": node.is_readonly}
    parts = [
        f"field {_box(*item[:4])} {node.kind.value} {_quoted(node.name)} {_quoted(node.label)}"
    ]
    parts += [f"= {_quoted(node.value)}"] * bool(node.value)
    parts += [name for name, is_set in flags.items() if is_set]
    parts += [] if node.max_length is None else [f"at most {node.max_length}"]
    parts += [f"in {node.cells} cells"] * bool(node.cells)
    parts += [f"{_quoted(option.value)}: {_quoted(option.text)}" for option in node.options]
    parts += [f"[{_WRITERS[type(each)](each)}]" for state in item.appearances for each in state]
    return " ".join(parts)


_WRITERS: Final[dict[type[Item], Callable[[Any], str]]] = {
    GlyphRun: _glyphs,
    ShapedRun: _shaped,
    Fill: _fill,
    StrokedRectangle: _outline,
    Stroke: _stroke,
    RectangleSet: _cells,
    Path: _path,
    Picture: _picture,
    Save: _save,
    Restore: _restore,
    Widget: _widget,
}


def _n(value: float) -> str:
    return f"{round(value * 10) / 10 + 0.0:g}"


def _pair(x: float, y: float) -> str:
    return f"{_n(x)},{_n(y)}"


def _box(x: float, y: float, width: float, height: float) -> str:
    return f"{_pair(x, y)} {_n(width)}x{_n(height)}"


def _artifact_mark(owner: Owner) -> str:
    return "~" if owner is None else ""


def _radius(item: Fill | StrokedRectangle) -> str:
    return f" radius {_n(item.radius)}" if item.radius else ""


def _dash(item: Stroke | StrokedRectangle | Path) -> str:
    return f" dash {','.join(map(_n, item.dash))}" if item.dash else ""


def _color(color: Color) -> str:
    if color.ink:
        return f' "{color.ink}" {color.tint:g}{_color(color._replace(ink="", tint=1.0))}'
    if color == BLACK:
        return ""
    if color.space is ColorSpace.RGB:
        return " #" + "".join(f"{round(part * 255):02x}" for part in color.components)
    return f" cmyk({' '.join(f'{part:g}' for part in color.components)})"


def _quoted(text: str) -> str:
    written = "".join(
        char if char.isprintable() else f"\\u{ord(char):04x}" for char in text.replace("\\", "\\\\")
    )
    return f'"{written}"'
