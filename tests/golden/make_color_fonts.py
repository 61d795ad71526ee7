"""Colour fonts of the cases: squares and discs of our own, one glyph for each paint of COLR.

`python -m tests.golden.make_color_fonts` writes them. `PAINTS` and `MODES` name the character of each.
"""

from __future__ import annotations

from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import Any, Final

from fontTools.colorLib.builder import buildCOLR, buildCPAL
from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen
from fontTools.ttLib.tables.otTables import CompositeMode, PaintFormat

FONTS: Final = Path(__file__).parent / "fonts"
EM: Final = 1000
TEXT_COLOR: Final = 0xFFFF
RED, YELLOW, GREEN, BLUE, WHITE, GLASS = range(6)
PALETTE: Final = [
    *((0.85, 0.1, 0.15, 1.0), (1.0, 0.8, 0.1, 1.0), (0.1, 0.6, 0.3, 1.0)),
    *((0.1, 0.3, 0.8, 1.0), (1.0, 1.0, 1.0, 1.0), (0.1, 0.3, 0.8, 0.5)),
]
DARK_PALETTE: Final = [(1.0 - r, 1.0 - g, 1.0 - b, a) for r, g, b, a in PALETTE]

Paint = Mapping[str, Any]


def solid(color: int, alpha: float = 1.0) -> Paint:
    """Return a paint of one colour."""
    return {"Format": PaintFormat.PaintSolid, "PaletteIndex": color, "Alpha": alpha}


def shape(glyph: str, paint: Paint) -> Paint:
    """Return a paint within the outline of a glyph."""
    return {"Format": PaintFormat.PaintGlyph, "Glyph": glyph, "Paint": paint}


def layers(*paints: Paint) -> Paint:
    """Return paints on top of each other."""
    return {"Format": PaintFormat.PaintColrLayers, "Layers": list(paints)}


def line(extend: str = "pad", *stops: tuple[Any, ...]) -> dict[str, Any]:
    """Return a colour line."""
    chosen = stops or ((0.0, RED), (0.5, YELLOW), (1.0, BLUE))
    return {
        "Extend": extend,
        "ColorStop": [
            {"StopOffset": at, "PaletteIndex": color, "Alpha": rest[0] if rest else 1.0}
            for at, color, *rest in chosen
        ],
    }


def linear(colors: dict[str, Any], *points: float) -> Paint:
    """Return a linear gradient between two points, rotated by a third."""
    names = ("x0", "y0", "x1", "y1", "x2", "y2")
    chosen = points or (300, 0, 700, 0, 300, 400)
    paint = {"Format": PaintFormat.PaintLinearGradient, "ColorLine": colors}
    return {**paint, **dict(zip(names, chosen, strict=True))}


def radial(colors: dict[str, Any], *circles: float) -> Paint:
    """Return a gradient between two circles."""
    names = ("x0", "y0", "r0", "x1", "y1", "r1")
    chosen = circles or (500, 350, 50, 500, 350, 250)
    paint = {"Format": PaintFormat.PaintRadialGradient, "ColorLine": colors}
    return {**paint, **dict(zip(names, chosen, strict=True))}


def sweep(colors: dict[str, Any], start: float, end: float) -> Paint:
    """Return a gradient around the centre of the glyph."""
    return {
        "Format": PaintFormat.PaintSweepGradient,
        "ColorLine": colors,
        "centerX": 500,
        "centerY": 350,
        "startAngle": start,
        "endAngle": end,
    }


def moved(kind: PaintFormat, paint: Paint, **numbers: float) -> Paint:
    """Return a paint that is transformed."""
    return {"Format": kind, "Paint": paint, **numbers}


def combined(mode: CompositeMode, source: Paint, backdrop: Paint) -> Paint:
    """Return two paints composited by a mode."""
    return {
        "Format": PaintFormat.PaintComposite,
        "SourcePaint": source,
        "CompositeMode": mode,
        "BackdropPaint": backdrop,
    }


_MATRIX: Final = dict(
    zip(("xx", "yx", "xy", "yy", "dx", "dy"), (0.6, 0.2, -0.2, 0.6, 300, 50), strict=True)
)
_SMALL: Final = shape("small", solid(RED))
_CENTER: Final = {"centerX": 500, "centerY": 350}
_FADED: Final = line("pad", (0.0, RED, 1.0), (1.0, BLUE, 0.0))

# The paint of each character; the comment of a decision or test names a paint by its character.
PAINTS: Final[dict[str, Paint]] = {
    "A": shape("disc", solid(RED)),
    "B": layers(shape("square", solid(YELLOW)), shape("disc", solid(BLUE, 0.5))),
    "C": layers(shape("square", solid(TEXT_COLOR)), shape("disc", solid(YELLOW))),
    "D": shape("square", linear(line())),
    "E": shape("square", linear(line("repeat"), 400, 0, 500, 0, 400, 100)),
    "F": shape("square", linear(line("reflect"), 400, 0, 500, 0, 400, 100)),
    "G": shape("square", linear(line(), 200, 100, 800, 100, 500, 600)),
    "H": shape("square", radial(line())),
    "I": shape("square", radial(line("repeat"), 500, 350, 0, 500, 350, 100)),
    "J": shape("square", radial(line(), 400, 350, 0, 500, 350, 300)),
    "K": shape("square", radial(line("reflect"), 500, 350, 50, 520, 350, 120)),
    "L": shape("square", sweep(line(), 0, 360)),
    "M": shape("square", sweep(line("repeat"), 0, 60)),
    "N": shape("square", sweep(line("reflect"), 0, 60)),
    "O": shape("disc", sweep(line(), 90, 180)),
    "P": moved(PaintFormat.PaintTranslate, _SMALL, dx=200, dy=150),
    "Q": moved(PaintFormat.PaintScale, _SMALL, scaleX=1.5, scaleY=0.5),
    "R": moved(PaintFormat.PaintRotate, _SMALL, angle=20),
    "S": moved(PaintFormat.PaintSkew, _SMALL, xSkewAngle=20, ySkewAngle=0),
    "T": moved(PaintFormat.PaintTransform, _SMALL, Transform=_MATRIX),
    "U": moved(PaintFormat.PaintScaleAroundCenter, shape("square", solid(GREEN)), scaleX=0.5, scaleY=0.8, **_CENTER),
    "V": moved(PaintFormat.PaintRotateAroundCenter, shape("square", linear(line())), angle=45, **_CENTER),
    "W": moved(PaintFormat.PaintSkewAroundCenter, shape("square", solid(BLUE)), xSkewAngle=15, ySkewAngle=5, **_CENTER),
    "X": layers(shape("disc", solid(YELLOW)), {"Format": PaintFormat.PaintColrGlyph, "Glyph": "A.small"}),
    "Y": layers(shape("disc", solid(GREEN)), shape("square", linear(_FADED))),
    "Z": shape("square", linear(line("pad", (0.0, TEXT_COLOR), (1.0, YELLOW)))),
    "0": shape("square", radial(line(), 350, 350, 60, 650, 350, 120)),
    "1": shape("square", linear(line("pad", (0.4, RED), (0.4, BLUE), (0.8, YELLOW)))),
    "2": shape("square", radial(_FADED)),
    "3": shape("square", sweep(_FADED, 0, 270)),
    "4": shape("disc", sweep(line("pad", (0.0, RED), (1.0, BLUE)), 300, 60)),
    "5": moved(PaintFormat.PaintScaleUniform, _SMALL, scale=1.5),
    "6": shape("disc", moved(PaintFormat.PaintRotateAroundCenter, linear(line()), angle=90, **_CENTER)),
    "7": shape("square", shape("disc", solid(RED))),
}  # fmt: skip

_SOURCE: Final = layers(shape("left", solid(RED)), shape("low", solid(BLUE, 0.5)))
_BACKDROP: Final = layers(shape("disc", solid(YELLOW)), shape("small", solid(GREEN)))
# The character of each mode, in the order of COLR.
MODES: Final[dict[str, CompositeMode]] = dict(
    zip("abcdefghijklmnopqrstuvwxyz89", CompositeMode, strict=True)
)


def make_paints() -> bytes:
    """Return a font with a glyph for each paint of COLR version 1 and each mode."""
    composites = {char: combined(mode, _SOURCE, _BACKDROP) for char, mode in MODES.items()}
    glyphs = {**PAINTS, **composites}
    return make_font("Swatch Paints", glyphs, extra={"A.small": _SMALL})


def make_layers() -> bytes:
    """Return a font with glyphs of COLR version 0, and one without colours."""
    glyphs = {
        "A": [("square", YELLOW), ("disc", RED), ("small", TEXT_COLOR)],
        "B": [("disc", GREEN), ("low", GLASS)],
        "\u2764": [("disc", RED)],
        "\U0001f600": [("disc", YELLOW), ("small", BLUE)],
        "\U0001f1e9": [("left", RED)],
        "\U0001f1ea": [("low", RED)],
        "1": None,
    }
    return make_font(
        "Swatch Layers", glyphs, sequences={("\U0001f1e9", "\U0001f1ea"): [("square", BLUE)]}
    )


def make_font(
    family: str,
    glyphs: Mapping[str, Any],
    *,
    extra: Mapping[str, Any] | None = None,
    sequences: Mapping[tuple[str, ...], Any] | None = None,
) -> bytes:
    """Return a font whose characters have these paints, or layers; None for no colours."""
    names = {char: f"u{ord(char):04X}" for char in glyphs}
    joined = {
        "_".join(names[char] for char in chars): paint for chars, paint in (sequences or {}).items()
    }
    drawn = {names[char]: paint for char, paint in glyphs.items()} | joined | dict(extra or {})
    shapes = _make_shapes()
    order = [".notdef", "space", *drawn, *shapes]
    builder = FontBuilder(EM, isTTF=True)
    builder.setupGlyphOrder(order)
    builder.setupCharacterMap({0x20: "space", **{ord(char): name for char, name in names.items()}})
    outline = shapes["square"]
    empty = TTGlyphPen(None).glyph()
    builder.setupGlyf(
        {name: shapes.get(name, empty if name == "space" else outline) for name in order}
    )
    bearings = {name: getattr(builder.font["glyf"][name], "xMin", 0) for name in order}
    builder.setupHorizontalMetrics(
        {name: (300 if name == "space" else EM, bearings[name]) for name in order}
    )
    builder.setupHorizontalHeader(ascent=800, descent=-200)
    builder.setupNameTable(
        {"familyName": family, "styleName": "Regular", "psName": family.replace(" ", "")}
    )
    builder.setupOS2(fsType=0)
    builder.setupPost()
    painted = {name: paint for name, paint in drawn.items() if paint is not None}
    builder.font["CPAL"] = buildCPAL([PALETTE, DARK_PALETTE])
    builder.font["COLR"] = buildCOLR(painted, glyphMap=builder.font.getReverseGlyphMap())
    if sequences:
        rules = (f"sub {name.replace('_', ' ')} by {name};" for name in joined)
        builder.addOpenTypeFeatures("feature ccmp {" + " ".join(rules) + "} ccmp;")
    return to_bytes(builder.font)


def to_bytes(font: Any) -> bytes:
    """Return a font that is the same at each time."""
    font["head"].created = font["head"].modified = 0
    font.recalcTimestamp = False
    written = BytesIO()
    font.save(written)
    return written.getvalue()


def _make_shapes() -> dict[str, Any]:
    boxes = {
        "square": (100, 0, 900, 700),
        "small": (350, 200, 650, 500),
        "left": (100, 0, 500, 700),
    }
    boxes["low"] = (100, 0, 900, 350)
    shapes = {name: _make_box(*box) for name, box in boxes.items()}
    pen = TTGlyphPen(None)
    x, y, r = 500, 350, 300
    pen.qCurveTo((x + r, y + r), (x - r, y + r), (x - r, y - r), (x + r, y - r), None)
    pen.closePath()
    return shapes | {"disc": pen.glyph()}


def _make_box(left: int, bottom: int, right: int, top: int) -> Any:
    pen = TTGlyphPen(None)
    pen.moveTo((left, bottom))
    for point in ((left, top), (right, top), (right, bottom)):
        pen.lineTo(point)
    pen.closePath()
    return pen.glyph()


def main() -> None:
    """Write the fonts."""
    (FONTS / "swatch-paints.ttf").write_bytes(make_paints())
    (FONTS / "swatch-layers.ttf").write_bytes(make_layers())


if __name__ == "__main__":
    main()
