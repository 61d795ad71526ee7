"""Font matching: the face of a family for a width, style and weight (CSS Fonts 4 §5.2)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol, TypeVar

from workers.engine.fonts.properties import DescriptorRange


class FontRequest(NamedTuple):
    """The requested weight (1 to 1000), width in per cent, and style of a text."""

    weight: float
    stretch: float
    is_italic: bool


class DeclaredRanges(Protocol):
    """A face with its declared descriptors."""

    @property
    def weight(self) -> DescriptorRange:
        """The weights it covers."""

    @property
    def stretch(self) -> DescriptorRange:
        """The widths it covers, in per cent."""

    @property
    def is_italic(self) -> bool:
        """Whether it is italic."""


C = TypeVar("C", bound=DeclaredRanges)


def match_face(faces: Sequence[C], wanted: FontRequest) -> C:
    """Return the face of one family that matches best: by width, then style, then weight.

    `faces` has at least one.
    """
    stretch = _choose_stretch((face.stretch for face in faces), wanted.stretch)
    faces = [face for face in faces if face.stretch == stretch]
    faces = [face for face in faces if face.is_italic is wanted.is_italic] or faces
    weight = _choose_weight((face.weight for face in faces), wanted.weight)
    return next(face for face in faces if face.weight == weight)


def clamp(value: float, candidate: DescriptorRange) -> float:
    """Return the value of a range nearest to `value`."""
    return min(max(value, candidate.minimum), candidate.maximum)


def _choose_stretch(candidates: Iterable[DescriptorRange], wanted: float) -> DescriptorRange:
    """Return the nearest width: up to 100 % narrower ones come first, above wider ones."""
    prefers_less = wanted <= 100

    def rank(candidate: DescriptorRange) -> tuple[int, float]:
        distance = clamp(wanted, candidate) - wanted
        if not distance:
            return 0, 0.0
        return (1 if (distance < 0) is prefers_less else 2), abs(distance)

    return min(candidates, key=rank)


def _choose_weight(candidates: Iterable[DescriptorRange], wanted: float) -> DescriptorRange:
    """Return the nearest weight in the direction that CSS searches first.

    From 400 to 500: up to 500, then lighter, then heavier; below 400 lighter first; above 500
    heavier first.
    """

    def rank(candidate: DescriptorRange) -> tuple[int, float]:
        nearest = clamp(wanted, candidate)
        distance = nearest - wanted
        if not distance:
            return 0, 0.0
        if 400 <= wanted <= 500:
            order = 1 if wanted < nearest <= 500 else 2 if distance < 0 else 3
        else:
            order = 1 if (distance < 0) is (wanted < 400) else 2
        return order, abs(distance)

    return min(candidates, key=rank)
