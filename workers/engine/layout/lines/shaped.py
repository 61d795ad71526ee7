"""Runs of shaped text: words of one face and one direction, with the spaces between them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from workers.engine.layout.context import Typeface
from workers.engine.layout.fonts import Cluster, Shaper, find_shaper, is_cursive


class ShapedRun(NamedTuple):
    """How a run is shaped: its face and size, and which way and in which language it reads."""

    face: Typeface
    size: float
    letter_spacing: float
    is_rtl: bool
    lang: str

    @property
    def shaper(self) -> Shaper:
        """Give what shapes the words of the run."""
        face: Any = self.face  # shaped text stands in faces of the set, never in others
        return find_shaper(face, self.is_rtl, self.lang)

    def spacing_in(self, word: str) -> float:
        """Give the space between the clusters of a word; letters that join stay together."""
        return 0.0 if self.letter_spacing and is_cursive(word) else self.letter_spacing


def measure_shaped(run: ShapedRun, text: str) -> float:
    """Give the width of a text in points."""
    words = text.split(" ")
    width = (len(words) - 1) * (run.face.measure(" ") * run.size + run.letter_spacing)
    for word in words:
        if word:
            shaped = run.shaper.words[word]
            width += shaped.width * run.size + run.spacing_in(word) * len(shaped.clusters)
    return width


def measure_shaped_words(run: ShapedRun, words: Sequence[str]) -> list[float]:
    """Give the width of each of some words in points."""
    if run.letter_spacing:
        return [measure_shaped(run, word) for word in words]
    size = run.size
    return [width * size for width in run.shaper.measure_words(words)]


def ends_of_shaped(run: ShapedRun, word: str) -> list[float]:
    """Give how far from its beginning each character of a word ends, in points.

    Characters that are drawn as one end together.
    """
    spacing = run.spacing_in(word)
    ends: list[float] = []
    clusters = 0
    last = -1.0
    for end in run.shaper.words[word].ends:
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
    shape_clusters = run.shaper.shape_clusters
    clusters: list[Cluster] = []
    for word in words:
        own = shape_clusters(word) if word else ()
        if run.letter_spacing and (spacing := round(run.spacing_in(word) * in_units)):
            clusters += [cluster._replace(advance=cluster.advance + spacing) for cluster in own]
        else:
            clusters += own
        clusters.append(space)
    clusters.pop()  # spaces stand between words
    return clusters


def _space(face: Any, extra: int) -> Cluster:
    return Cluster(((face.glyphs[" "], 0, 0),), face.advances[" "] + extra, " ")
