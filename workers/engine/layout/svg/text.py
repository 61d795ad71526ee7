"""Text in an SVG: runs of one look, placed along lines, set in the fonts of the product."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple
from unicodedata import category

from workers.engine.layout.fonts import (
    Cluster,
    Face,
    find_missing,
    needs_shaping,
    shape_word,
    split_by_face,
)
from workers.engine.layout.lines.bidi import has_right_to_left, reorder, resolve_levels
from workers.engine.layout.svg.reader import Node
from workers.engine.layout.svg.styles import Look, font_size, is_bold
from workers.engine.layout.svg.values import to_length, to_lengths, to_number, to_numbers

_SPACE: Final = re.compile(r"[ \t\r\n]+")
_BREAK: Final = re.compile(r"[\t\r\n]")
MAX_CHARACTERS: Final = 100_000
MAX_TURNED: Final = 10_000  # characters of one text that stand at angles of their own
_PARTS: Final = frozenset({"tspan", "a"})


class LetterRun(NamedTuple):
    """Text of one face, from left to right; `clusters` where it is written by glyphs. Width in em."""

    face: Face
    text: str
    width: float
    clusters: tuple[Cluster, ...] | None


@dataclass(slots=True)
class _Turns:
    """The angles of a `rotate`: one for each character in the element, the last for all further ones."""

    angles: list[float]
    at: int = 0

    def take(self, characters: int) -> float:
        """Give the angle of the next so many characters, which stand as one."""
        angle = self.angles[min(self.at, len(self.angles) - 1)]
        self.at += characters
        return angle


@dataclass(slots=True)
class Letters:
    """Characters of one look that stand together; x and y are where they begin, once placed."""

    text: str
    look: Look
    x: float | None = None  # a new start, None where they go on
    y: float | None = None
    dx: float = 0.0
    dy: float = 0.0
    keeps_space: bool = False
    turn: float = 0.0  # degrees, about where it begins
    turns: tuple[_Turns, ...] = ()  # that reach it, the nearest first
    spacing: float = 0.0  # between letters
    width: float = 0.0
    runs: list[LetterRun] = field(default_factory=list)


class TextFlow:
    """Collects and places the letters of one `text` element."""

    def __init__(
        self,
        node: Node,
        look: Look,
        look_in: Callable[[Node, Look], Look | None],
        whole: tuple[float, float],
    ) -> None:
        self._look_in = look_in
        self._whole = whole
        self._letters: list[Letters] = []
        self._count = 0
        self.length = 0  # characters as written
        self.left_out: list[str] = []
        self.missing: list[str] = []  # characters that are drawn as empty boxes
        self._collect(node, look, (), keeps_space=False)
        self._strip()
        self._turn()
        self._measure()
        self._stretch(node)

    def place(self) -> list[Letters]:
        """Give the letters where they stand; a start and its anchor hold until the next start."""
        x = y = 0.0
        chunks: list[list[Letters]] = []
        for letters in self._letters:
            if letters.x is not None or letters.y is not None or not chunks:
                chunks.append([])
            chunks[-1].append(letters)
        for chunk in chunks:
            first = chunk[0]
            x = x if first.x is None else first.x
            y = y if first.y is None else first.y
            width = sum(letters.dx + letters.width for letters in chunk) - first.dx
            share = _SHARES.get(first.look["text-anchor"], 0.0)
            x -= width * (1 - share if first.look["direction"] == "rtl" else share)
            for letters in chunk:
                x, y = x + letters.dx, y + letters.dy
                letters.x, letters.y = x, y + _shift_down(letters)
                x += letters.width
        return self._letters

    def _collect(
        self, node: Node, look: Look, turns: tuple[_Turns, ...], *, keeps_space: bool
    ) -> None:
        """Take the text of an element; its lists of places belong to its first characters."""
        keeps_space = (
            node.attributes.get("xml:space", "preserve" if keeps_space else "") == "preserve"
        )
        keeps_space = keeps_space or look["white-space"].startswith("pre")
        size = font_size(look)
        xs, ys, dxs, dys = (
            to_lengths(node.attributes.get(name, ""), whole, size)[:1000]
            for name, whole in zip(("x", "y", "dx", "dy"), self._whole * 2, strict=True)
        )
        angles = to_numbers(node.attributes.get("rotate", "")[:10_000])
        if any(angles) or (angles and turns):
            turns = (_Turns(angles), *turns)
        steps = max(map(len, (xs, ys, dxs, dys)))
        before = len(self._letters)
        for child in node.children:
            if isinstance(child, str):
                self._add(child, look, turns, keeps_space=keeps_space, steps=steps)
            elif child.tag in _PARTS:
                inner = self._look_in(child, look)
                if "textLength" in child.attributes:
                    self.left_out.append("the `textLength` of a part of a text")
                if inner is not None:
                    self._collect(child, inner, turns, keeps_space=keeps_space)
            elif child.tag not in ("title", "desc"):
                self.left_out.append(f"the element `{child.tag[:40]}`")
        added = [letters for letters in self._letters[before:] if letters.text.strip()]
        for name, values in (("x", xs), ("y", ys), ("dx", dxs), ("dy", dys)):
            for letters, value in zip(added, values, strict=False):
                if getattr(letters, name) in (None, 0.0):
                    setattr(letters, name, value)

    def _add(
        self, text: str, look: Look, turns: tuple[_Turns, ...], *, keeps_space: bool, steps: int
    ) -> None:
        before = len(text)
        text = _BREAK.sub(" ", text) if keeps_space else _SPACE.sub(" ", text)
        self._count += len(text)
        self.length += before
        if self._count > MAX_CHARACTERS:
            self.left_out.append("text of more than 100,000 characters")
            return
        # Where characters have places of their own, each is a piece.
        cut = min(steps, len(text)) if steps > 1 else 0
        if turns and self._count > MAX_TURNED:
            self.left_out.append(f"the rotation of text of more than {MAX_TURNED:,} characters")
            turns = ()
        pieces = _split_marked(text) if turns else [*text[:cut], text[cut:]]
        self._letters += [
            Letters(piece, look, keeps_space=keeps_space, turns=turns) for piece in pieces if piece
        ]

    def _turn(self) -> None:
        """Turn each character by the angle of the nearest `rotate`; the others go on to the next."""
        for letters in self._letters:
            found = [turns.take(len(letters.text)) for turns in letters.turns]
            letters.turn = found[0] if found else 0.0

    def _strip(self) -> None:
        """Take away the space at both ends, and where two pieces meet."""
        is_after_space = True
        for letters in self._letters:
            if letters.keeps_space:
                is_after_space = False
                continue
            if is_after_space:
                letters.text = letters.text.lstrip(" ")
            if letters.text:
                is_after_space = letters.text.endswith(" ")
        for letters in reversed(self._letters):
            if letters.keeps_space:
                break
            letters.text = letters.text.rstrip(" ")
            if letters.text:
                break
        self._letters = [letters for letters in self._letters if letters.text]

    def _measure(self) -> None:
        for letters in self._letters:
            look, size = letters.look, font_size(letters.look)
            self.missing += find_missing(letters.text)
            letters.spacing = to_length(look["letter-spacing"], size, size) or 0.0
            letters.runs = _make_runs(letters.text, look)
            width = sum(run.width for run in letters.runs) * size
            letters.width = width + letters.spacing * len(letters.text)
        self._letters = [letters for letters in self._letters if letters.text]

    def _stretch(self, node: Node) -> None:
        """Make the whole as long as `textLength` says, by the space between letters."""
        wanted = to_number(node.attributes.get("textLength"), -1.0)
        count = sum(len(letters.text) for letters in self._letters)
        if wanted <= 0 or count < 2:
            return
        if node.attributes.get("lengthAdjust") == "spacingAndGlyphs":
            self.left_out.append("the width of letters that `lengthAdjust` asks for")
        missing = wanted - sum(letters.width + letters.dx for letters in self._letters)
        for letters in self._letters:
            letters.spacing += missing / (count - 1)
            letters.width += missing / (count - 1) * len(letters.text)


def _split_marked(text: str) -> list[str]:
    """Cut text into characters, each with the marks that stand on it."""
    pieces: list[str] = []
    for char in text:
        if pieces and category(char)[0] == "M":
            pieces[-1] += char
        else:
            pieces.append(char)
    return pieces


def spread_clusters(run: LetterRun, spacing: float) -> tuple[Cluster, ...]:
    """Give the clusters of a run with a space of `spacing` em behind each character."""
    clusters = run.clusters or ()
    if not spacing:
        return clusters
    units = spacing * run.face.units
    return tuple(
        cluster._replace(advance=cluster.advance + round(units * len(cluster.text)))
        for cluster in clusters
    )


_SHARES: Final = {"middle": 0.5, "end": 1.0}


def _make_runs(text: str, look: Look) -> list[LetterRun]:
    """Cut text into runs of one face and direction, in the order they are seen in."""
    is_rtl = look["direction"] == "rtl"
    if not is_rtl and not has_right_to_left(text):
        return [run for _, run in _runs_of(text, look, level=0)]
    leveled = [
        (level, run)
        for start, end, level in resolve_levels(text, is_rtl=is_rtl)
        for _, run in _runs_of(text[start:end], look, level=level)
    ]
    order = reorder([level for level, _ in leveled])
    return [leveled[at][1] for at in order]


def _runs_of(text: str, look: Look, *, level: int) -> Iterator[tuple[int, LetterRun]]:
    families, weight = _families(look["font-family"]), 700 if is_bold(look) else 400
    is_italic, is_rtl = look["font-style"] in ("italic", "oblique"), level % 2 == 1
    for face, part in split_by_face(families, weight, is_italic, text):
        if is_rtl or needs_shaping(part):
            shaped = shape_word(face, part, is_rtl=is_rtl, lang="en")
            yield level, LetterRun(face, part, shaped.width, shaped.clusters)
        else:
            yield level, LetterRun(face, part, face.measure(part), None)


def _families(text: str) -> tuple[str, ...]:
    names = (name.strip().strip("'\"").strip() for name in text[:1000].split(","))
    return tuple(name for name in names if name)


def _shift_down(letters: Letters) -> float:
    """Give how far below its point the baseline stands (CSS Inline 3, 4)."""
    look, size, face = letters.look, font_size(letters.look), letters.runs[0].face
    baseline = look["dominant-baseline"]
    if look["alignment-baseline"] not in ("auto", "baseline"):
        baseline = look["alignment-baseline"]
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
    raised = look["baseline-shift"]
    if raised in ("sub", "super"):
        return (shift + (0.2 if raised == "sub" else -0.33)) * size
    return shift * size - (to_length(raised, size, size) or 0.0)
