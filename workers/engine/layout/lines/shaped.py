"""Shaped text: words of one face and direction, with the spaces between them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from workers.engine.fonts import Cluster, Face, Shaper, find_shaper, is_cursive
from workers.engine.layout.lines.hyphenation import find_unligated
from workers.engine.syntax.font_variants import Features


class ShapingSettings(NamedTuple):
    """Segment properties for shaping: face, size in points, direction, language and OpenType features."""

    face: Face
    size: float
    letter_spacing: float
    is_rtl: bool
    lang: str
    features: Features = ()

    @property
    def shaper(self) -> Shaper:
        """The shaper of its words."""
        face: Any = self.face  # shaped text has a face of a font set
        apart = find_unligated if self.lang[:2] == "de" and self.features else None
        return find_shaper(face, self.is_rtl, self.lang, self.features, apart)

    def spacing_in(self, word: str) -> float:
        """Return the letter spacing in a word in points, 0 where letters join (CSS Text 3 §8.2)."""
        return 0.0 if self.letter_spacing and is_cursive(word) else self.letter_spacing


def measure_shaped(settings: ShapingSettings, text: str) -> float:
    """Return the advance width of a text in points."""
    shaper = settings.shaper
    if text and " " not in text and not settings.letter_spacing:
        return shaper.words[text].width * settings.size
    words = text.split(" ")
    width = (len(words) - 1) * (
        settings.face.measure(" ") * settings.size + settings.letter_spacing
    )
    for word in words:
        if word:
            shaped = shaper.words[word]
            width += shaped.width * settings.size + settings.spacing_in(word) * len(shaped.clusters)
    return width


def measure_shaped_words(settings: ShapingSettings, words: Sequence[str]) -> list[float]:
    """Return the advance width of each word in points."""
    if settings.letter_spacing:
        return [measure_shaped(settings, word) for word in words]
    size = settings.size
    return [width * size for width in settings.shaper.measure_words(words)]


def shaped_character_ends(settings: ShapingSettings, word: str) -> list[float]:
    """Return the distance from the start of a word to the end of each character, in points.

    Characters of one cluster end together.
    """
    spacing = settings.spacing_in(word)
    ends: list[float] = []
    clusters = 0
    last = -1.0
    for end in settings.shaper.words[word].ends:
        if end != last:
            clusters += 1
            last = end
        ends.append(end * settings.size + spacing * clusters)
    return ends


def place_clusters(settings: ShapingSettings, text: str, word_spacing: float) -> list[Cluster]:
    """Return the clusters of a text in visual order, spaces included; `word_spacing` in points."""
    face: Any = settings.face
    units_per_point = face.units / settings.size
    space = _space(face, round((settings.letter_spacing + word_spacing) * units_per_point))
    words = text.split(" ")
    if settings.is_rtl:
        words.reverse()
    shape_clusters = settings.shaper.shape_clusters
    clusters: list[Cluster] = []
    for word in words:
        word_clusters = shape_clusters(word) if word else ()
        if settings.letter_spacing and (
            spacing := round(settings.spacing_in(word) * units_per_point)
        ):
            clusters += [
                cluster._replace(advance=cluster.advance + spacing) for cluster in word_clusters
            ]
        else:
            clusters += word_clusters
        clusters.append(space)
    clusters.pop()  # no space after the last word
    return clusters


def _space(face: Any, extra: int) -> Cluster:
    glyph = face.glyphs.get(" ", 0)  # a font of an account may have no space
    return Cluster(((glyph, 0, 0),), face.advances[" "] + extra, " ")
