"""Footnotes: the content of an area ends where its notes fit below it.

An area is filled, and a dry run finds the note calls in it. If their notes do not fit below, the
area is filled again up to the line of a call whose notes do, which follows from the heights of the
notes. A note is split only if the area would otherwise stay largely empty, or if the note is longer
than an area; its rest comes first among the notes of the next area. So every area receives some
content or notes, and is filled a bounded number of times.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf
from typing import Final, NamedTuple

from workers.engine.layout.blocks.boxes import draw_border
from workers.engine.layout.blocks.stacks import (
    PendingNote,
    PlacedFragment,
    SetAside,
    StackFragment,
    StackResume,
    aside_of,
    foot_height_of,
    lay_out_stack,
    set_aside,
)
from workers.engine.layout.context import (
    EPSILON,
    AnyBlock,
    Fragment,
    LayoutContext,
    LayoutProblem,
    PageCanvas,
    Region,
    Resume,
    WholeFragment,
    format_mm,
)
from workers.engine.tree.references.counters import Footnotes

MAX_TRIALS: Final = 8  # to end an area so that its notes are whole, and again with one split
MAX_CARRIED_SHARE: Final = 0.8  # of an area, for pending notes, if there is content too
_MAX_EMPTY_SHARE: Final = 0.1  # of an area: not more is left empty to keep a note whole
_MIN_LINES: Final = 2  # of a note before it is split


class PlacedNotes(NamedTuple):
    """The notes at the bottom of an area, below their rule."""

    stack: StackFragment
    footnotes: Footnotes
    width: float

    def __bool__(self) -> bool:
        return bool(self.stack.placed)

    @property
    def height(self) -> float:
        """The height of the notes with the rule and its margins, in points; 0 without notes."""
        return rule_height(self.footnotes, self.width) + self.stack.height if self else 0.0

    def take(self, count: int) -> PlacedNotes:
        """Return the first notes, at least one, without those below."""
        return self._replace(stack=self.stack.take(count))

    def draw(self, canvas: PageCanvas, x: float, bottom: float) -> None:
        """Draw the rule and the notes, which end at a height of the page."""
        top, style = bottom - self.stack.height, self.footnotes.rule
        border = style.box.border.top
        width = style.box.width.resolve(self.width)
        width = self.width if width is None else min(width, self.width)
        left = x + self.width - width if style.paragraph.is_rtl else x
        middle = top - (style.box.margin.bottom.resolve(self.width) or 0.0) - border.width / 2
        draw_border(canvas.items, border, (left, middle), (left + width, middle), None)
        self.stack.draw(canvas, x, top)


@dataclass(slots=True)
class AreaFragment(WholeFragment):
    """The content of an area, with notes at its bottom and figures around it.

    Figures have their distances from the top, and take `around` points with the gaps beside the content.
    """

    body: Fragment | None
    height: float
    resume: Resume
    forced: str = ""
    problems: tuple[LayoutProblem, ...] = ()
    notes: PlacedNotes | None = None
    floats: Sequence[tuple[float, PlacedFragment]] = ()
    body_top: float = 0.0
    around: float = 0.0

    @property
    def first_baseline(self) -> float | None:
        """The distance from the top to the first baseline of the content, in points."""
        baseline = None if self.body is None else self.body.first_baseline
        return None if baseline is None else self.body_top + baseline

    @property
    def foot_height(self) -> float:
        """The height of the notes, and of what is below, in points."""
        return (0.0 if self.notes is None else self.notes.height) + foot_height_of(self.body)

    @property
    def used_height(self) -> float:
        """The height of content, notes and figures without the space between them, in points."""
        above = 0.0 if self.body is None else self.body.height
        return self.around + above + (0.0 if self.notes is None else self.notes.height)

    def draw(self, canvas: PageCanvas, x: float, y: float) -> None:
        """Draw the content, the notes, and the figures, whose anchors have been drawn by then."""
        for problem in self.problems:
            canvas.report(problem)
        if self.body is not None:
            self.body.draw(canvas, x, y + self.body_top)
        if self.notes is not None:
            self.notes.draw(canvas, x, y + self.height - foot_height_of(self.body))
        for top, (_, offset, fragment, node, _) in self.floats:
            with canvas.part(node, "Div"):
                fragment.draw(canvas, x, y + top + offset)


def used_height(fragment: Fragment) -> float:
    """Return the height of an area's content without the space above what stands at its foot."""
    used: float = getattr(fragment, "used_height", fragment.height)
    return used


def rule_height(footnotes: Footnotes, width: float) -> float:
    """Return the height of the rule above notes with its margins, in points."""
    box = footnotes.rule.box
    margins = (box.margin.top, box.margin.bottom)
    return box.border.top.width + sum(side.resolve(width) or 0.0 for side in margins)


def pending_notes(calls: Sequence[tuple[str, float]]) -> tuple[PendingNote, ...]:
    """Return the notes of calls, none of which has begun."""
    return tuple([PendingNote(call, None) for call, _ in calls])


class _Trial(NamedTuple):
    """The content of an area up to a height, and the notes called in it."""

    body: Fragment
    calls: Sequence[tuple[str, float]]  # each with the top of its line
    notes: PlacedNotes
    rest: tuple[PendingNote, ...]

    @property
    def is_whole(self) -> bool:
        return not self.rest

    @property
    def has_begun(self) -> bool:
        """Whether every note is in this area, the last at least in part."""
        return len(self.rest) < 2 and all(note.resume is not None for note in self.rest)


class FootnoteFiller:
    """Fills the areas of one flow on one page."""

    def __init__(self, context: LayoutContext, footnotes: Footnotes) -> None:
        self._context = context
        self.footnotes = footnotes

    def fill(
        self,
        context: LayoutContext,
        blocks: Sequence[AnyBlock],
        region: Region,
        resume: StackResume | None = None,
        *,
        most: float = inf,
    ) -> Fragment | None:
        """Fill a region like `lay_out_stack`, with pending notes and those called in it at the bottom.

        The content is at most `most` high, in points. The fragment has a resume position behind the
        last block as long as notes are pending.
        """
        return _NotedArea(self, context, blocks, region, resume, most).fill()

    def fill_clipped(
        self,
        fill_to: Callable[[float], Fragment | None],
        width: float,
        height: float,
        pending: tuple[PendingNote, ...],
    ) -> Fragment:
        """Fill an area that no other follows: all of its notes must fit, or are reported."""
        room, most = height, height * MAX_CARRIED_SHARE
        while True:
            body = fill_to(room)
            calls = [] if body is None else self.find_calls(body)
            notes = (*pending, *pending_notes([each for each in calls if each[1] < room]))
            placed, _ = self.lay_out_notes(notes, width)
            reserved = height - room
            if placed.height <= reserved + EPSILON or reserved >= most - EPSILON:
                break
            room = height - min(placed.height, most)
        if not notes and body is not None:
            return body
        fragment = AreaFragment(body, height, None, notes=placed or None)
        if placed.height > reserved + EPSILON:
            problem = LayoutProblem(
                code="content-overflows",
                message=f"Notes do not fit: those of the area need {format_mm(placed.height)}, "
                f"it leaves them {format_mm(reserved)}",
                advice="Make the area higher, or let its flow go on in another one.",
                chain=self._context.chain(self.footnotes.by_call[notes[-1].call].source),
            )
            fragment.problems = (problem,)
        return fragment

    def find_calls(self, fragment: Fragment) -> list[tuple[str, float]]:
        """Return the note calls in a fragment in order, each with the top of its line."""
        anchors, known = self._context.dry_run(fragment).anchors, self.footnotes.by_call
        return [(name, y) for name, y in anchors.items() if name in known]

    def lay_out_notes(
        self, notes: Sequence[PendingNote], width: float, room: float = inf, *, is_top: bool = True
    ) -> tuple[PlacedNotes, tuple[PendingNote, ...]]:
        """Lay out notes below each other and below their rule; also return those that do not fit."""
        placed = PlacedNotes(StackFragment([], 0.0), self.footnotes, width)
        if not notes:
            return placed, ()
        nodes = [self.footnotes.by_call[note.call] for note in notes]
        first = notes[0].resume
        at = None if first is None else StackResume(0, first, False)
        region = Region(width, room - rule_height(self.footnotes, width), is_top)
        note_stack = lay_out_stack(self._context, nodes, region, at)
        if note_stack is None:
            return placed, tuple(notes)
        placed = placed._replace(stack=note_stack)
        if note_stack.resume is None:
            return placed, ()
        child = note_stack.resume.child
        going_on = PendingNote(notes[child].call, note_stack.resume.inner)
        return placed, (going_on, *notes[child + 1 :])


class _NotedArea:
    """One area: it is filled to the content height that leaves enough space for its notes."""

    def __init__(
        self,
        filler: FootnoteFiller,
        context: LayoutContext,
        blocks: Sequence[AnyBlock],
        region: Region,
        resume: StackResume | None,
        most: float,
    ) -> None:
        self._filler, self._context, self._blocks = filler, context, blocks
        self._region, self._resume, self._most = region, resume, most
        self._width, self._height = region.width, region.height
        self._over = StackResume(len(blocks), None, False)
        self._carried = aside_of(resume).notes
        is_over = resume is not None and resume.child >= self._over.child
        self._is_top = region.is_top and (is_over or not self._carried)
        self._rule = rule_height(filler.footnotes, region.width)
        room = self._height if is_over else self._height * MAX_CARRIED_SHARE
        self._reserved = filler.lay_out_notes(self._carried, self._width, room)[0].height
        self._seen: Sequence[tuple[str, float]] = ()  # calls at the greatest height tried
        # Their notes as if there were room for all, below the pending ones.
        self._notes: PlacedNotes | None = None

    def fill(self) -> Fragment | None:
        """Return the area, None where nothing fits into it."""
        trial = self._search()
        if trial is None:
            return self._notes_only()
        notes = trial.notes
        # Those of figures that float are pending, but not in the order of the document.
        if trial.is_whole and not all(note.resume for note in self._carried):
            notes = self._sort_notes(trial)
        if trial.is_whole and not notes:
            return trial.body
        at = set_aside(trial.body.resume, SetAside(trial.rest), self._over)
        return AreaFragment(trial.body, self._height, at, trial.body.forced, notes=notes or None)

    def _notes_only(self) -> Fragment | None:
        """Fill the area with pending notes alone; the content waits for the next area."""
        if self._resume is None or not self._carried:
            return None
        notes, rest = self._filler.lay_out_notes(self._carried, self._width, self._height)
        at = self._resume._replace(aside=SetAside(rest))
        return AreaFragment(None, self._height, at, notes=notes)

    def _sort_notes(self, trial: _Trial) -> PlacedNotes:
        """Return all notes of a trial in the order of the document."""
        notes = (*self._carried, *pending_notes(trial.calls))
        order = {call: number for number, call in enumerate(self._filler.footnotes.by_call)}
        ordered = sorted(notes, key=lambda note: (note.resume is None, order[note.call]))
        return self._filler.lay_out_notes(ordered, self._width)[0]

    def _search(self) -> _Trial | None:
        """Return the content and notes of the area, None where it can hold notes only."""
        whole = self._find_whole()
        if whole is None or (whole.is_whole and not self._is_wasteful(whole)):
            return whole
        return self._find_broken(whole) or whole

    def _find_whole(self) -> _Trial | None:
        """Return the most content whose notes all fit below it, or the nearest result."""
        height = self._height - self._reserved
        highest = trial = self._find_end(height)
        for _ in range(MAX_TRIALS):
            if trial is None or trial.is_whole or not trial.calls:
                break
            height = self._lower(trial.calls, height)
            trial = self._find_end(height)
            if trial is not None and trial.body.height > height + EPSILON:
                trial = None  # it was forced and would be too tall for its area
        return trial or highest

    def _find_end(self, height: float) -> _Trial | None:
        """Return the content up to a height, and as much of its notes as fits."""
        height = min(max(height, 0.0), self._most)
        bottom = None if self._region.bottom is None else height
        region = Region(self._width, height, self._is_top, bottom, top=self._region.top)
        body = lay_out_stack(self._context, self._blocks, region, self._resume)
        if body is None:
            return None
        calls, room = self._filler.find_calls(body), self._height - body.height
        notes = (*self._carried, *pending_notes(calls))
        if calls and not self._seen:
            self._seen, self._notes = calls, self._filler.lay_out_notes(notes, self._width)[0]
        if calls and self._notes is not None and self._fit(calls, room):
            return _Trial(body, calls, self._notes.take(len(notes)), ())
        return _Trial(
            body, calls, *self._filler.lay_out_notes(notes, self._width, room, is_top=not calls)
        )

    def _fit(self, calls: Sequence[tuple[str, float]], room: float) -> bool:
        """Return whether some calls are the first of those whose notes are measured, and these fit."""
        seen = [call for call, _ in self._seen[: len(calls)]]
        return [call for call, _ in calls] == seen and self._need(len(calls)) <= room + EPSILON

    def _lower(self, calls: Sequence[tuple[str, float]], before: float) -> float:
        """Return the greatest height below `before` at which the notes of its calls fit."""
        below = inf
        for count in range(len(calls), 0, -1):
            height = min(self._height - self._need(count), below)
            below = calls[count - 1][1]
            if below < height < before - EPSILON:
                return height
        return min(self._height - self._reserved, below)

    def _need(self, count: int) -> float:
        """Return the height of the first `count` notes with the pending ones and the rule."""
        if not count:
            return self._reserved
        assert self._notes is not None
        return self._notes.take(len(self._carried) + min(count, len(self._seen))).height

    def _is_wasteful(self, trial: _Trial) -> bool:
        """Return whether keeping notes whole leaves much of the area empty."""
        if trial.body.resume is None or len(trial.calls) >= len(self._seen):
            return False
        empty = self._height - trial.body.height - trial.notes.height
        return empty > self._height * _MAX_EMPTY_SHARE

    def _find_broken(self, whole: _Trial) -> _Trial | None:
        """Return content with one more call, whose note starts here and continues elsewhere."""
        count = len(whole.calls) if whole.is_whole else 0
        if count >= len(self._seen):
            return None
        call, top = self._seen[count]
        style = self._filler.footnotes.by_call[call].style.paragraph
        least = self._need(count) + (0.0 if count else self._rule) + _MIN_LINES * style.line_height
        highest = self._height - least
        step = 1.5 * style.line_height
        for number in range(1, MAX_TRIALS + 1):
            height = min(top + step * number, highest)
            trial = self._find_end(height)
            if trial is None or trial.body.height > height + EPSILON:
                continue
            if len(trial.calls) > count and trial.has_begun:
                return trial
            if height >= highest or len(trial.calls) > count + 1:
                break
        return None
