"""Track sizing: how a width is distributed among columns or blocks side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from workers.engine.layout.context import EPSILON
from workers.engine.units import Length, LengthKind


class Track(NamedTuple):
    """A column: its stated width, and for `auto` its min-content and max-content widths, in points.

    `unbreakable` is the width of content that cannot be broken at all: unwrapped lines, pictures.
    """

    width: Length
    min_content: float = 0.0
    max_content: float = 0.0
    min_width: float = 0.0
    max_width: float | None = None
    unbreakable: float = 0.0


def distribute_width(
    tracks: Sequence[Track], available: float, *, base: float, stretch: bool = False
) -> list[float]:
    """Return the widths of tracks that share `available` points; percentages refer to `base`.

    Lengths and percentages get their full width, even if their sum exceeds `available`. `auto`
    tracks get their max-content width if all can, else a width between min-content and max-content;
    `fr` tracks share the rest. With `stretch` and no `fr`, `auto` tracks also share the rest, in
    proportion to their content.
    """
    widths = [_clamp(track, track.width.resolve(base) or 0.0) for track in tracks]
    autos = [i for i, track in enumerate(tracks) if track.width.kind is LengthKind.AUTO]
    shares = [i for i, track in enumerate(tracks) if track.width.kind is LengthKind.FRACTION]
    for index in autos + shares:
        widths[index] = 0.0
    left = max(available - sum(widths), 0.0)
    reserved = sum(max(tracks[i].min_content, tracks[i].min_width) for i in shares)
    _size_auto_tracks(tracks, autos, widths, max(left - reserved, 0.0))
    left = max(left - sum(widths[i] for i in autos), 0.0)
    if shares:
        _size_flexible_tracks(tracks, shares, widths, left)
    elif stretch and left > EPSILON:
        _stretch(tracks, autos, widths, left)
    return widths


def _size_auto_tracks(
    tracks: Sequence[Track], autos: Sequence[int], widths: list[float], room: float
) -> None:
    high = {i: _clamp(tracks[i], tracks[i].max_content) for i in autos}
    if sum(high.values()) <= room + EPSILON:
        for i in autos:
            widths[i] = high[i]
        return
    low = {i: min(_clamp(tracks[i], tracks[i].min_content), high[i]) for i in autos}
    min_width, max_width = sum(low.values()), sum(high.values())
    if min_width >= room:
        _shrink_below_min_content(tracks, low, widths, room)
        return
    factor = (room - min_width) / (max_width - min_width)
    for i in autos:
        widths[i] = low[i] + (high[i] - low[i]) * factor


def _shrink_below_min_content(
    tracks: Sequence[Track], low: dict[int, float], widths: list[float], room: float
) -> None:
    """Distribute less than the min-content widths: the columns with the longest words are cut.

    Columns of shorter words keep them whole. Unbreakable content keeps its width as long as there
    is any space for it (compare CSS 2.2, 17.5.2.2).
    """
    unbreakable = {
        i: min(max(tracks[i].unbreakable, tracks[i].min_width), wide) for i, wide in low.items()
    }
    total = sum(unbreakable.values())
    if total >= room:
        for i, wide in unbreakable.items():
            widths[i] = wide * room / total if total else 0.0
        return
    open_, left = sorted(low, key=low.__getitem__), room
    while open_:
        i = open_[0]
        others = sum(unbreakable[j] for j in open_[1:])
        if low[i] > max(left / len(open_), unbreakable[i]):
            break
        widths[i] = min(low[i], left - others)
        left -= widths[i]
        del open_[0]
    _equalise({i: unbreakable[i] for i in open_}, widths, left)


def _equalise(unbreakable: dict[int, float], widths: list[float], room: float) -> None:
    """Make columns equally wide, but none narrower than its unbreakable content."""
    open_ = sorted(unbreakable, key=unbreakable.__getitem__, reverse=True)
    while open_:
        i = open_[0]
        if unbreakable[i] <= room / len(open_):
            break
        widths[i] = unbreakable[i]
        room -= unbreakable[i]
        del open_[0]
    for i in open_:
        widths[i] = room / len(open_)


def _size_flexible_tracks(
    tracks: Sequence[Track], shares: Sequence[int], widths: list[float], room: float
) -> None:
    """Distribute the rest by `fr`; a track limited by its minimum or maximum leaves more or less to the others."""
    open_ = list(shares)
    while open_:
        total = sum(tracks[i].width.value for i in open_)
        unit = room / total if total else 0.0
        held = [
            i
            for i in open_
            if _clamp(tracks[i], tracks[i].width.value * unit) != tracks[i].width.value * unit
        ]
        if not held:
            for i in open_:
                widths[i] = tracks[i].width.value * unit
            return
        for i in held:
            widths[i] = _clamp(tracks[i], tracks[i].width.value * unit)
            room = max(room - widths[i], 0.0)
            open_.remove(i)


def _stretch(
    tracks: Sequence[Track], autos: Sequence[int], widths: list[float], room: float
) -> None:
    open_ = [i for i in autos if tracks[i].max_width is None]
    total = sum(widths[i] for i in open_)
    for i in open_:
        widths[i] += room * widths[i] / total if total else room / len(open_)


def _clamp(track: Track, width: float) -> float:
    if track.max_width is not None:
        width = min(width, track.max_width)
    return max(width, track.min_width)
