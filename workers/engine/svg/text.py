"""Text in an SVG: spans of one style, positioned along lines and set in the fonts of the product."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Final, NamedTuple
from unicodedata import category

from workers.engine.bidi import reorder, resolve_levels
from workers.engine.characters import has_right_to_left
from workers.engine.fonts import BUNDLED, Cluster, Face, FontRequest, needs_shaping, shape_word
from workers.engine.svg.paths import SegmentPen, Segments
from workers.engine.svg.reader import SvgElement
from workers.engine.svg.styles import SvgStyle, font_size, is_bold
from workers.engine.svg.values import to_length, to_lengths, to_number, to_numbers

_SPACE: Final = re.compile(r"[ \t\r\n]+")
_BREAK: Final = re.compile(r"[\t\r\n]")
MAX_CHARACTERS: Final = 100_000
MAX_ROTATED: Final = 10_000  # rotated characters of one text
_TEXT_CHILDREN: Final = frozenset({"tspan", "a"})


class FaceRun(NamedTuple):
    """Text of one face in visual order; `clusters` where it is encoded by glyphs; width in em."""

    face: Face
    text: str
    width: float
    clusters: tuple[Cluster, ...] | None


@dataclass(slots=True)
class _Rotations:
    """The angles of a `rotate`: one for each character, the last for all further ones (SVG 2 §11.4.1)."""

    angles: list[float]
    at: int = 0

    def advance(self, characters: int) -> float:
        """Return the angle of the next typographic character, and advance by its characters."""
        angle = self.angles[min(self.at, len(self.angles) - 1)]
        self.at += characters
        return angle


@dataclass(slots=True)
class TextSpan:
    """Characters of one style that are positioned together; `x` and `y` are their start, once placed."""

    text: str
    style: SvgStyle
    x: float | None = None  # an absolute position, None to continue
    y: float | None = None
    dx: float = 0.0
    dy: float = 0.0
    preserves_space: bool = False
    rotation: float = 0.0  # degrees, about its start
    rotations: tuple[_Rotations, ...] = ()  # that apply to it, the innermost first
    spacing: float = 0.0  # between letters
    width: float = 0.0
    runs: list[FaceRun] = field(default_factory=list)


class TextLayout:
    """Collects and positions the spans of one `text` element."""

    def __init__(
        self,
        element: SvgElement,
        style: SvgStyle,
        style_within: Callable[[SvgElement, SvgStyle], SvgStyle | None],
        basis: tuple[float, float],
    ) -> None:
        self._style_within = style_within
        self._basis = basis
        self._spans: list[TextSpan] = []
        self._count = 0
        self.length = 0  # characters as written
        self.omitted: list[str] = []
        self.missing: list[str] = []  # characters drawn as .notdef
        self._collect(element, style, (), preserves_space=False)
        self._collapse_white_space()
        self._rotate()
        self._measure()
        self._apply_text_length(element)

    def place(self) -> list[TextSpan]:
        """Return the spans with their positions.

        An absolute position starts a text chunk, which has an anchor of its own (SVG 2 §11.1).
        """
        x = y = 0.0
        chunks: list[list[TextSpan]] = []
        for span in self._spans:
            if span.x is not None or span.y is not None or not chunks:
                chunks.append([])
            chunks[-1].append(span)
        for chunk in chunks:
            first = chunk[0]
            x = x if first.x is None else first.x
            y = y if first.y is None else first.y
            width = sum(span.dx + span.width for span in chunk) - first.dx
            anchor = _ANCHORS.get(first.style["text-anchor"], 0.0)
            x -= width * (1 - anchor if first.style["direction"] == "rtl" else anchor)
            for span in chunk:
                x, y = x + span.dx, y + span.dy
                span.x, span.y = x, y + _baseline_shift(span)
                x += span.width
        return self._spans

    def _collect(
        self,
        element: SvgElement,
        style: SvgStyle,
        rotations: tuple[_Rotations, ...],
        *,
        preserves_space: bool,
    ) -> None:
        """Collect the text of an element; its position lists belong to its first characters."""
        preserves_space = (
            element.attributes.get("xml:space", "preserve" if preserves_space else "") == "preserve"
        )
        preserves_space = preserves_space or style["white-space"].startswith("pre")
        size = font_size(style)
        xs, ys, dxs, dys = (
            to_lengths(element.attributes.get(name, ""), basis, size)[:1000]
            for name, basis in zip(("x", "y", "dx", "dy"), self._basis * 2, strict=True)
        )
        angles = to_numbers(element.attributes.get("rotate", "")[:10_000])
        if any(angles) or (angles and rotations):
            rotations = (_Rotations(angles), *rotations)
        steps = max(map(len, (xs, ys, dxs, dys)))
        before = len(self._spans)
        for child in element.children:
            if isinstance(child, str):
                self._add(child, style, rotations, preserves_space=preserves_space, steps=steps)
            elif child.tag in _TEXT_CHILDREN:
                inner = self._style_within(child, style)
                if "textLength" in child.attributes:
                    self.omitted.append("the `textLength` of a part of a text")
                if inner is not None:
                    self._collect(child, inner, rotations, preserves_space=preserves_space)
            elif child.tag not in ("title", "desc"):
                self.omitted.append(f"the element `{child.tag[:40]}`")
        added = [span for span in self._spans[before:] if span.text.strip()]
        # A position of an inner element precedes that of the element around it.
        for span, x in zip(added, xs, strict=False):
            span.x = x if span.x is None else span.x
        for span, y in zip(added, ys, strict=False):
            span.y = y if span.y is None else span.y
        for span, dx in zip(added, dxs, strict=False):
            span.dx = span.dx or dx
        for span, dy in zip(added, dys, strict=False):
            span.dy = span.dy or dy

    def _add(
        self,
        text: str,
        style: SvgStyle,
        rotations: tuple[_Rotations, ...],
        *,
        preserves_space: bool,
        steps: int,
    ) -> None:
        before = len(text)
        text = _BREAK.sub(" ", text) if preserves_space else _SPACE.sub(" ", text)
        self._count += len(text)
        self.length += before
        if self._count > MAX_CHARACTERS:
            self.omitted.append("text of more than 100,000 characters")
            return
        # Characters with individual positions are spans of their own.
        cut = min(steps, len(text)) if steps > 1 else 0
        if rotations and self._count > MAX_ROTATED:
            self.omitted.append(f"the rotation of text of more than {MAX_ROTATED:,} characters")
            rotations = ()
        parts = _split_clusters(text) if rotations else [*text[:cut], text[cut:]]
        self._spans += [
            TextSpan(part, style, preserves_space=preserves_space, rotations=rotations)
            for part in parts
            if part
        ]

    def _rotate(self) -> None:
        """Rotate each character by the nearest `rotate`; the outer ones advance too."""
        for span in self._spans:
            found = [rotations.advance(len(span.text)) for rotations in span.rotations]
            span.rotation = found[0] if found else 0.0

    def _collapse_white_space(self) -> None:
        """Remove white space at both ends, and where two spans meet."""
        is_after_space = True
        for span in self._spans:
            if span.preserves_space:
                is_after_space = False
                continue
            if is_after_space:
                span.text = span.text.lstrip(" ")
            if span.text:
                is_after_space = span.text.endswith(" ")
        for span in reversed(self._spans):
            if span.preserves_space:
                break
            span.text = span.text.rstrip(" ")
            if span.text:
                break
        self._spans = [span for span in self._spans if span.text]

    def _measure(self) -> None:
        for span in self._spans:
            style, size = span.style, font_size(span.style)
            self.missing += BUNDLED.find_missing(span.text)
            span.spacing = to_length(style["letter-spacing"], size, size) or 0.0
            span.runs = _make_runs(span.text, style)
            width = sum(run.width for run in span.runs) * size
            span.width = width + span.spacing * len(span.text)
        self._spans = [span for span in self._spans if span.text]

    def _apply_text_length(self, element: SvgElement) -> None:
        """Fit the text to `textLength` by letter spacing."""
        target = to_number(element.attributes.get("textLength"), -1.0)
        count = sum(len(span.text) for span in self._spans)
        if target <= 0 or count < 2:
            return
        if element.attributes.get("lengthAdjust") == "spacingAndGlyphs":
            self.omitted.append("the glyph stretching of `lengthAdjust`")
        missing = target - sum(span.width + span.dx for span in self._spans)
        for span in self._spans:
            span.spacing += missing / (count - 1)
            span.width += missing / (count - 1) * len(span.text)


def _split_clusters(text: str) -> list[str]:
    """Split text into characters, each with its combining marks."""
    parts: list[str] = []
    for char in text:
        if parts and category(char)[0] == "M":
            parts[-1] += char
        else:
            parts.append(char)
    return parts


def space_clusters(run: FaceRun, spacing: float) -> tuple[Cluster, ...] | None:
    """Return the clusters of a run with `spacing` em after each character."""
    if run.clusters is None or not spacing:
        return run.clusters
    units = spacing * run.face.units
    return tuple(
        cluster._replace(advance=cluster.advance + round(units * len(cluster.text)))
        for cluster in run.clusters
    )


_ANCHORS: Final = {"middle": 0.5, "end": 1.0}


def _make_runs(text: str, style: SvgStyle) -> list[FaceRun]:
    """Return the runs of one face and direction, in visual order."""
    is_rtl = style["direction"] == "rtl"
    if not is_rtl and not has_right_to_left(text):
        return [run for _, run in _runs_of(text, style, level=0)]
    leveled = [
        (level, run)
        for start, end, level in resolve_levels(text, is_rtl=is_rtl)
        for _, run in _runs_of(text[start:end], style, level=level)
    ]
    order = reorder([level for level, _ in leveled])
    return [leveled[at][1] for at in order]


def _runs_of(text: str, style: SvgStyle, *, level: int) -> Iterator[tuple[int, FaceRun]]:
    weight, is_rtl = 700 if is_bold(style) else 400, level % 2 == 1
    is_italic = style["font-style"] in ("italic", "oblique")
    request = FontRequest(weight, 100, is_italic=is_italic)
    for face, part in BUNDLED.split(_families(style["font-family"]), request, text, "en"):
        if is_rtl or needs_shaping(part):
            shaped_word = shape_word(face, part, is_rtl=is_rtl, lang="en")
            yield level, FaceRun(face, part, shaped_word.width, shaped_word.clusters)
        else:
            yield level, FaceRun(face, part, face.measure(part), None)


def _families(text: str) -> tuple[str, ...]:
    names = (name.strip().strip("'\"").strip() for name in text[:1000].split(","))
    return tuple(name for name in names if name)


def _baseline_shift(span: TextSpan) -> float:
    """Return the distance of the baseline below the point in user units (CSS Inline 3 §4)."""
    style, size, face = span.style, font_size(span.style), span.runs[0].face
    baseline = style["dominant-baseline"]
    if style["alignment-baseline"] not in ("auto", "baseline"):
        baseline = style["alignment-baseline"]
    shift: float = {
        "middle": face.x_height / 2,
        "central": (face.ascent - face.descent) / 2,
        "hanging": face.ascent * 0.8,
        "text-before-edge": face.ascent,
        "text-top": face.ascent,
        "before-edge": face.ascent,
        "text-after-edge": -face.descent,
        "text-bottom": -face.descent,
        "after-edge": -face.descent,
        "ideographic": -face.descent,
        "mathematical": face.ascent * 0.5,
    }.get(baseline, 0.0)
    raised = style["baseline-shift"]
    if raised in ("sub", "super"):
        return (shift + (0.2 if raised == "sub" else -0.33)) * size
    return shift * size - (to_length(raised, size, size) or 0.0)


# --- outlines, for strokes and scripts that need shaping: viewers stroke text inconsistently --

_MAX_GLYPHS: Final = 2_000
_NOTDEF: Final = 0  # of every font


def outline_text(
    runs: Iterable[FaceRun], x: float, y: float, size: float, spacing: float
) -> Segments:
    """Return the outlines of text whose baseline starts at (x, y); y points down."""
    segments: Segments = []
    for run in runs:
        for glyph, left, up in islice(_place_glyphs(run, spacing / size), _MAX_GLYPHS):
            scale = size / run.face.units
            pen = SegmentPen(segments, (scale, 0, 0, -scale, x + left * size, y - up * size))
            run.face.hb_font.draw_glyph_with_pen(glyph, pen)
        x += run.width * size + len(run.text) * spacing
    return segments


def _place_glyphs(run: FaceRun, spacing: float) -> Iterator[tuple[int, float, float]]:
    """Yield the glyphs of a run with their positions in em."""
    face, text = run.face, run.text
    if run.clusters is None:
        pen, before = 0.0, ""
        for char in text:
            # A pair is as wide as its letters and the kerning between them.
            pen += face.measure(before + char) - face.measure(char) + (spacing if before else 0.0)
            glyph = face.glyphs.get(char)
            if glyph is not None:
                yield glyph, pen, 0.0
            elif not face.covers(char):
                yield _NOTDEF, pen, 0.0
            before = char
        return
    pen = 0.0
    for cluster in run.clusters:
        for glyph, across, up in cluster.glyphs:
            yield glyph, pen + across / face.units, up / face.units
        pen += cluster.advance / face.units + len(cluster.text) * spacing
