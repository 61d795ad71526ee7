"""Runs of shaped text: words of one face and one direction, with the spaces between them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from workers.engine.layout.context import Typeface
from workers.engine.layout.fonts import (
    Cluster,
    ShapedWord,
    is_cursive,
    measure_words,
    shape_clusters,
    shape_word,
)


class ShapedRun(NamedTuple):
    """How a run is shaped: its face and size, and which way and in which language it reads."""

    face: Typeface
    size: float
    letter_spacing: float
    is_rtl: bool
    lang: str

    def shape(self, word: str) -> ShapedWord:
        """Shape one word."""
        face: Any = self.face  # shaped text stands in faces of the set, never in others
        return shape_word(face, word, is_rtl=self.is_rtl, lang=self.lang)

    def spacing_in(self, word: str) -> float:
        """Give the space between the clusters of a word; letters that join stay together."""
        return 0.0 if self.letter_spacing and is_cursive(word) else self.letter_spacing


def measure_shaped(run: ShapedRun, text: str) -> float:
    """Give the width of a text in points."""
    words = text.split(" ")
    width = (len(words) - 1) * (run.face.measure(" ") * run.size + run.letter_spacing)
    for word in words:
        if word:
            shaped = run.shape(word)
            width += shaped.width * run.size + run.spacing_in(word) * len(shaped.clusters)
    return width


def measure_shaped_words(run: ShapedRun, words: Sequence[str]) -> list[float]:
    """Give the width of each of some words in points."""
    if run.letter_spacing:
        return [measure_shaped(run, word) for word in words]
    face: Any = run.face
    widths = measure_words(face, words, is_rtl=run.is_rtl, lang=run.lang)
    return [width * run.size for width in widths]


def ends_of_shaped(run: ShapedRun, word: str) -> list[float]:
    """Give how far from its beginning each character of a word ends, in points.

    Characters that are drawn as one end together.
    """
    spacing = run.spacing_in(word)
    ends: list[float] = []
    clusters = 0
    last = -1.0
    for end in run.shape(word).ends:
        if end != last:
            clusters += 1
            last = end
        ends.append(end * run.size + spacing * clusters)
    return ends


def set_clusters(run: ShapedRun, text: str, word_spacing: float) -> list[Cluster]:
    """Give the clusters of a text from left to right, with its spaces."""
    face: Any = run.face
    in_units = face.units / run.size
    space = _space(face, round((run.letter_spacing + word_spacing) * in_units))
    words = text.split(" ")
    if run.is_rtl:
        words.reverse()
    clusters: list[Cluster] = []
    for number, word in enumerate(words):
        if number:
            clusters.append(space)
        if not word:
            continue
        own = shape_clusters(face, word, is_rtl=run.is_rtl, lang=run.lang)
        spacing = round(run.spacing_in(word) * in_units) if run.letter_spacing else 0
        if spacing:
            clusters += [cluster._replace(advance=cluster.advance + spacing) for cluster in own]
        else:
            clusters += own
    return clusters


def _space(face: Any, extra: int) -> Cluster:
    return Cluster(((face.glyphs[" "], 0, 0),), face.advances[" "] + extra, " ")
