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
from workers.engine.tree.nodes import Note
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

    @property
    def height(self) -> float:
        """The height of the notes with the rule and its margins, in points."""
        return rule_height(self.footnotes, self.width) + self.stack.height

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
    note_stack: StackFragment | None
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
        over = StackResume(len(blocks), None, False)
        pending = aside_of(resume).notes

        def lay_out(height: float, *, is_top: bool) -> Fragment | None:
            height = min(height, most)
            bottom = None if region.bottom is None else height
            given = Region(region.width, height, is_top, bottom, top=region.top)
            return lay_out_stack(context, blocks, given, resume)

        is_over = resume is not None and resume.child >= over.child
        trial = _HeightSearch(self, region, pending, lay_out, is_over=is_over).search()
        if trial is None:
            return self._notes_only(region, resume)
        # Those of figures that float are pending, but not in the order of the document.
        if trial.note_stack is not None and not trial.rest and not all(n.resume for n in pending):
            trial = self._sort_notes(trial, pending, region.width)
        if trial.note_stack is None and not trial.rest:
            return trial.body
        at = set_aside(trial.body.resume, SetAside(trial.rest), over)
        notes = self._at_bottom(trial.note_stack, region.width)
        return AreaFragment(trial.body, region.height, at, trial.body.forced, notes=notes)

    def fill_clipped(
        self,
        fill_to: Callable[[float], Fragment | None],
        width: float,
        height: float,
        pending: tuple[PendingNote, ...],
    ) -> Fragment:
        """Fill an area that no other follows: all of its notes must fit, or are reported."""
        body, notes, need, reserved = fill_to(height), pending, 0.0, 0.0
        note_stack = None
        for _ in range(MAX_TRIALS):
            calls = [] if body is None else self.find_calls(body)
            notes = (
                *pending,
                *pending_notes([each for each in calls if each[1] < height - reserved]),
            )
            note_stack = self.lay_out_all(notes, width)
            need = 0.0
            if note_stack is not None:
                need = rule_height(self.footnotes, width) + note_stack.height
            if need <= reserved + EPSILON:
                break
            reserved = min(need, height * MAX_CARRIED_SHARE)
            body = fill_to(height - reserved)
        if note_stack is None and body is not None:
            return body
        fragment = AreaFragment(body, height, None, notes=self._at_bottom(note_stack, width))
        if need > reserved + EPSILON:
            note = self.footnotes.by_call[notes[-1].call]
            fragment.problems = (self._too_high(note, need, reserved),)
        return fragment

    def _at_bottom(self, note_stack: StackFragment | None, width: float) -> PlacedNotes | None:
        return None if note_stack is None else PlacedNotes(note_stack, self.footnotes, width)

    def _too_high(self, note: Note, need: float, room: float) -> LayoutProblem:
        return LayoutProblem(
            code="content-overflows",
            message=f"Notes do not fit: those of the area need {format_mm(need)}, it leaves them "
            f"{format_mm(room)}",
            advice="Make the area higher, or let its flow go on in another one.",
            chain=self._context.chain(note.source),
        )

    def find_calls(self, fragment: Fragment) -> list[tuple[str, float]]:
        """Return the note calls in a fragment in order, each with the top of its line."""
        anchors, known = self._context.dry_run(fragment).anchors, self.footnotes.by_call
        return [(name, y) for name, y in anchors.items() if name in known]

    def _sort_notes(self, trial: _Trial, pending: Sequence[PendingNote], width: float) -> _Trial:
        """Return a trial with all of its notes in the order of the document."""
        notes = (*pending, *pending_notes(trial.calls))
        order = {call: number for number, call in enumerate(self.footnotes.by_call)}
        ordered = sorted(notes, key=lambda note: (note.resume is None, order[note.call]))
        return trial._replace(note_stack=self.lay_out_all(ordered, width))

    def lay_out_all(self, notes: Sequence[PendingNote], width: float) -> StackFragment | None:
        """Lay out notes below each other with room for all; None if there are none."""
        return self.lay_out_notes(notes, width, inf, is_top=True)[0] if notes else None

    def lay_out_notes(
        self, notes: Sequence[PendingNote], width: float, room: float, *, is_top: bool
    ) -> tuple[StackFragment | None, tuple[PendingNote, ...]]:
        """Lay out notes below each other; also return the notes that do not fit."""
        nodes = [self.footnotes.by_call[note.call] for note in notes]
        first = notes[0].resume
        at = None if first is None else StackResume(0, first, False)
        note_stack = lay_out_stack(self._context, nodes, Region(width, room, is_top), at)
        if note_stack is None:
            return None, tuple(notes)
        if note_stack.resume is None:
            return note_stack, ()
        child = note_stack.resume.child
        going_on = PendingNote(notes[child].call, note_stack.resume.inner)
        return note_stack, (going_on, *notes[child + 1 :])

    def _notes_only(self, region: Region, resume: StackResume | None) -> Fragment | None:
        """Fill an area with pending notes alone; the content waits for the next area."""
        pending = aside_of(resume).notes
        if resume is None or not pending:
            return None
        room = region.height - rule_height(self.footnotes, region.width)
        note_stack, rest = self.lay_out_notes(pending, region.width, room, is_top=True)
        assert note_stack is not None
        at = resume._replace(aside=SetAside(rest))
        notes = self._at_bottom(note_stack, region.width)
        return AreaFragment(None, region.height, at, notes=notes)


class _HeightSearch:
    """The search for the content height of one area that leaves enough space for its notes."""

    def __init__(
        self,
        filler: FootnoteFiller,
        region: Region,
        pending: tuple[PendingNote, ...],
        lay_out: Callable[..., Fragment | None],
        *,
        is_over: bool,
    ) -> None:
        self._filler = filler
        self._width, self._height = region.width, region.height
        self._lay_out = lay_out
        self._carried = pending
        self._is_top = region.is_top and (is_over or not self._carried)
        self._rule = rule_height(filler.footnotes, region.width)
        self._reserved = self._reserve(is_over=is_over)
        self._seen: Sequence[tuple[str, float]] = ()  # calls at the greatest height tried
        # Their notes as if there were room for all, below the pending ones.
        self._notes: StackFragment | None = None

    def search(self) -> _Trial | None:
        """Return the content and notes of the area, None where it can hold notes only."""
        whole = self._find_whole()
        if whole is None or (whole.is_whole and not self._is_wasteful(whole)):
            return whole
        return self._find_broken(whole) or whole

    def _reserve(self, *, is_over: bool) -> float:
        """Return the height reserved for pending notes."""
        if not self._carried:
            return 0.0
        room = self._height if is_over else self._height * MAX_CARRIED_SHARE
        note_stack, _ = self._filler.lay_out_notes(
            self._carried, self._width, room - self._rule, is_top=True
        )
        return self._rule + (0.0 if note_stack is None else note_stack.height)

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
        body = self._lay_out(max(height, 0.0), is_top=self._is_top)
        if body is None:
            return None
        calls = self._filler.find_calls(body)
        notes = (*self._carried, *pending_notes(calls))
        trial = _Trial(body, calls, None, notes)
        if not notes:
            return trial
        if calls and not self._seen:
            self._seen, self._notes = calls, self._filler.lay_out_all(notes, self._width)
        if calls and self._notes is not None and self._fit(calls, self._height - body.height):
            return trial._replace(note_stack=self._notes.take(len(notes)), rest=())
        return self._add_notes(trial)

    def _fit(self, calls: Sequence[tuple[str, float]], room: float) -> bool:
        """Return whether some calls are the first of those whose notes are measured, and these fit."""
        seen = [call for call, _ in self._seen[: len(calls)]]
        return [call for call, _ in calls] == seen and self._need(len(calls)) <= room + EPSILON

    def _add_notes(self, trial: _Trial) -> _Trial:
        """Lay out as much of the notes of a trial as fits below its content."""
        note_stack, rest = self._filler.lay_out_notes(
            (*self._carried, *pending_notes(trial.calls)),
            self._width,
            self._height - trial.body.height - self._rule,
            is_top=bool(self._carried) and not trial.calls,
        )
        if note_stack is not None and not note_stack.placed:
            note_stack = None
        return trial._replace(note_stack=note_stack, rest=rest)

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
        last = self._notes.placed[len(self._carried) + min(count, len(self._seen)) - 1]
        return self._rule + last.y + last.fragment.height

    def _is_wasteful(self, trial: _Trial) -> bool:
        """Return whether keeping notes whole leaves much of the area empty."""
        if trial.body.resume is None or len(trial.calls) >= len(self._seen):
            return False
        note_stack = 0.0 if trial.note_stack is None else trial.note_stack.height + self._rule
        return self._height - trial.body.height - note_stack > self._height * _MAX_EMPTY_SHARE

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
