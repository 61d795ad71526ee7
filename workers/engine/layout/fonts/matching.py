"""Font matching: which face of a family is used for a width, a style and a weight (CSS Fonts 4, 5.2)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol, TypeVar

from workers.engine.layout.fonts.facts import Span


class Wanted(NamedTuple):
    """What the style of a text asks for: a weight, a width in per cent, upright or italic."""

    weight: float
    stretch: float
    is_italic: bool


class Candidate(Protocol):
    """A face as it is declared."""

    @property
    def weight(self) -> Span:
        """Return the weights it covers."""

    @property
    def stretch(self) -> Span:
        """Return the widths it covers, in per cent."""

    @property
    def is_italic(self) -> bool:
        """Report whether it is italic."""


C = TypeVar("C", bound=Candidate)


def match_face(faces: Sequence[C], wanted: Wanted) -> C:
    """Return the face that is used: width decides first, then style, then weight.

    `faces` are those of one family, at least one.
    """
    stretch = _choose_stretch((face.stretch for face in faces), wanted.stretch)
    faces = [face for face in faces if face.stretch == stretch]
    faces = [face for face in faces if face.is_italic is wanted.is_italic] or faces
    weight = _choose_weight((face.weight for face in faces), wanted.weight)
    return next(face for face in faces if face.weight == weight)


def clamp(value: float, span: Span) -> float:
    """Return the value of a span nearest to one."""
    return min(max(value, span.least), span.most)


def _choose_stretch(spans: Iterable[Span], wanted: float) -> Span:
    """Narrower ones first for a width up to normal, wider ones first beyond."""
    prefers_less = wanted <= 100

    def rank(span: Span) -> tuple[int, float]:
        distance = clamp(wanted, span) - wanted
        if not distance:
            return 0, 0.0
        return (1 if (distance < 0) is prefers_less else 2), abs(distance)

    return min(spans, key=rank)


def _choose_weight(spans: Iterable[Span], wanted: float) -> Span:
    """Return the nearest in the direction that CSS looks first.

    From 400 to 500, up to 500 first, then lighter ones, then heavier; below 400 lighter ones
    first, above 500 heavier ones.
    """

    def rank(span: Span) -> tuple[int, float]:
        nearest = clamp(wanted, span)
        distance = nearest - wanted
        if not distance:
            return 0, 0.0
        if 400 <= wanted <= 500:
            order = 1 if wanted < nearest <= 500 else 2 if distance < 0 else 3
        else:
            order = 1 if (distance < 0) is (wanted < 400) else 2
        return order, abs(distance)

    return min(spans, key=rank)
