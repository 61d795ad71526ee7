"""Tracks: how a width is shared among columns or blocks side by side (language.md 1.8)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from workers.engine.layout.context import EPSILON
from workers.engine.units import Length, LengthKind


class Track(NamedTuple):
    """One column: what is asked, and for `auto` its content's narrowest and widest, in points.

    `solid` is as wide as what cannot be cut: lines that do not wrap, pictures.
    """

    width: Length
    narrowest: float = 0.0
    widest: float = 0.0
    least: float = 0.0
    most: float | None = None
    solid: float = 0.0


def share_width(
    tracks: Sequence[Track], available: float, *, base: float, stretch: bool = False
) -> list[float]:
    """Share `available` points among tracks; per cent is of `base`.

    Lengths and percentages get what they ask, more than there is if need be. `auto` gets its widest
    content if all do, else something between its narrowest and its widest; `fr` shares what is left.
    With `stretch` and no `fr`, autos take what is left in proportion to their content.
    """
    widths = [_bounded(track, track.width.resolve(base) or 0.0) for track in tracks]
    autos = [i for i, track in enumerate(tracks) if track.width.kind is LengthKind.AUTO]
    shares = [i for i, track in enumerate(tracks) if track.width.kind is LengthKind.SHARE]
    for index in autos + shares:
        widths[index] = 0.0
    left = max(available - sum(widths), 0.0)
    reserved = sum(max(tracks[i].narrowest, tracks[i].least) for i in shares)
    _give_to_autos(tracks, autos, widths, max(left - reserved, 0.0))
    left = max(left - sum(widths[i] for i in autos), 0.0)
    if shares:
        _give_to_shares(tracks, shares, widths, left)
    elif stretch and left > EPSILON:
        _stretch(tracks, autos, widths, left)
    return widths


def _give_to_autos(
    tracks: Sequence[Track], autos: Sequence[int], widths: list[float], room: float
) -> None:
    high = {i: _bounded(tracks[i], tracks[i].widest) for i in autos}
    if sum(high.values()) <= room + EPSILON:
        for i in autos:
            widths[i] = high[i]
        return
    low = {i: min(_bounded(tracks[i], tracks[i].narrowest), high[i]) for i in autos}
    least, most = sum(low.values()), sum(high.values())
    if least >= room:
        _cut_words(tracks, low, widths, room)
        return
    factor = (room - least) / (most - least)
    for i in autos:
        widths[i] = low[i] + (high[i] - low[i]) * factor


def _cut_words(
    tracks: Sequence[Track], low: dict[int, float], widths: list[float], room: float
) -> None:
    """Share room that not even the longest words fit: the columns with the longest of them yield.

    Columns of shorter words keep theirs whole, as CSS 2.1, 17.5.2.2 does for what cannot break; what
    cannot be cut keeps its width as long as there is any room for it.
    """
    solid = {i: min(max(tracks[i].solid, tracks[i].least), wide) for i, wide in low.items()}
    total = sum(solid.values())
    if total >= room:
        for i, wide in solid.items():
            widths[i] = wide * room / total if total else 0.0
        return
    open_, left = sorted(low, key=low.__getitem__), room
    while open_:
        i = open_[0]
        others = sum(solid[j] for j in open_[1:])
        if low[i] > max(left / len(open_), solid[i]):
            break
        widths[i] = min(low[i], left - others)
        left -= widths[i]
        del open_[0]
    _level({i: solid[i] for i in open_}, widths, left)


def _level(solid: dict[int, float], widths: list[float], room: float) -> None:
    """Make columns equally wide, but none narrower than what cannot be cut in it."""
    open_ = sorted(solid, key=solid.__getitem__, reverse=True)
    while open_:
        i = open_[0]
        if solid[i] <= room / len(open_):
            break
        widths[i] = solid[i]
        room -= solid[i]
        del open_[0]
    for i in open_:
        widths[i] = room / len(open_)


def _give_to_shares(
    tracks: Sequence[Track], shares: Sequence[int], widths: list[float], room: float
) -> None:
    """Share by `fr`; a track held by its bounds leaves the rest to the others."""
    open_ = list(shares)
    while open_:
        total = sum(tracks[i].width.value for i in open_)
        unit = room / total if total else 0.0
        held = [
            i
            for i in open_
            if _bounded(tracks[i], tracks[i].width.value * unit) != tracks[i].width.value * unit
        ]
        if not held:
            for i in open_:
                widths[i] = tracks[i].width.value * unit
            return
        for i in held:
            widths[i] = _bounded(tracks[i], tracks[i].width.value * unit)
            room = max(room - widths[i], 0.0)
            open_.remove(i)


def _stretch(
    tracks: Sequence[Track], autos: Sequence[int], widths: list[float], room: float
) -> None:
    open_ = [i for i in autos if tracks[i].most is None]
    total = sum(widths[i] for i in open_)
    for i in open_:
        widths[i] += room * widths[i] / total if total else room / len(open_)


def _bounded(track: Track, width: float) -> float:
    if track.most is not None:
        width = min(width, track.most)
    return max(width, track.least)
