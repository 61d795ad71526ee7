"""The counters of one document, in the order of its text (CSS Lists 3, 4), and the notes that they number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

from workers.engine.syntax.numbers import HEADINGS, KINDS, NumberFormat, NumberToken, resolve_tokens
from workers.engine.tree.nodes import Note, Source
from workers.engine.tree.styles.computed import Numbering, Style

CHECK_BOXES: Final = {True: "\u2611", False: "\u2610"}
_BULLETS: Final = {"disc": "•", "circle": "◦", "square": "▪", "dash": "–", "none": ""}
_ROMAN: Final = (
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"),
    (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
)  # fmt: skip
_MAX_ROMAN: Final = 3999
_SIGNS: Final = "*\u2020\u2021\u00a7\u00b6\u2016"  # as LaTeX and Typst have them
_MAX_SIGNS: Final = 10  # of one number; higher ones are digits


def format_marker(style: str, number: int) -> str:
    """Return the marker of a list item; numbers out of a style's range are decimal."""
    if style in _BULLETS:
        return _BULLETS[style]
    return f"{format_counter(style, number)}."


def format_counter(style: str, number: int) -> str:
    """Return a number in a counter style; numbers out of its range are decimal."""
    match style:
        case "lower-alpha" | "upper-alpha" if number >= 1:
            text = _letters(number)
        case "lower-roman" | "upper-roman" if 1 <= number <= _MAX_ROMAN:
            text = _roman(number)
        case "symbolic" if 1 <= number <= len(_SIGNS) * _MAX_SIGNS:
            times, place = divmod(number - 1, len(_SIGNS))
            return _SIGNS[place] * (times + 1)
        case _:
            return str(number)
    return text.upper() if style.startswith("upper") else text


def _letters(number: int) -> str:
    text = ""
    while number:
        number, digit = divmod(number - 1, 26)
        text = chr(ord("a") + digit) + text
    return text


def _roman(number: int) -> str:
    text = ""
    for value, letters in _ROMAN:
        count, number = divmod(number, value)
        text += letters * count
    return text


MAX_NUMBER: Final = 100  # characters; formats that include each other would grow without end
_HEADINGS: Final = frozenset(HEADINGS)


class Counters:
    """The counters of a document. A counter restarts when one above it advances.

    Above a heading's counter are those of higher headings; above any other are those that its
    format names before it.
    """

    def __init__(self, known: frozenset[str]) -> None:
        self._known = known
        self._values: dict[str, int] = {}
        self._written: dict[str, str] = {}  # the last number of each, without the text around it
        self._below: dict[str, set[str]] = {
            name: {below for below in known & _HEADINGS if below > name}
            for name in known & _HEADINGS
        }
        # By numbering: its texts and, for each number in it, the counter and the declared kind.
        self._parts: dict[Numbering, list[str | tuple[str, str]]] = {}

    @property
    def size(self) -> int:
        """The number of counters."""
        return len(self._values)

    def count(self, numbering: Numbering, *, is_shown: bool = True) -> str | None:
        """Advance the counters of one element; return its number, None if it shows none."""
        shape = numbering.format if is_shown else None
        for name, first in numbering.resets:
            self._set(name, first - 1)
        own = None
        for name, value in numbering.sets:
            if shape is not None and name == numbering.counter:
                own = value
            else:
                self._set(name, value)
        if shape is None:
            return None
        counter = numbering.counter
        parts = self._parts.get(numbering)
        if parts is None:
            parts = self._parts[numbering] = self._resolve(shape, counter)
            self._learn(parts, counter)
        self._set(counter, self._values.get(counter, 0) + 1 if own is None else own)
        return self._write(parts, counter)

    def restart(self, name: str) -> None:
        """Restart a counter."""
        self._set(name, 0)

    def _set(self, name: str, value: int) -> None:
        """Set a counter and restart all below it."""
        self._values[name] = value
        self._written.pop(name, None)
        waiting, done = [*self._below.get(name, ())], {name}
        while waiting:
            below = waiting.pop()
            if below not in done:
                done.add(below)
                self._values[below] = 0
                self._written.pop(below, None)
                waiting += self._below.get(below, ())

    def _resolve(self, shape: NumberFormat, counter: str) -> list[str | tuple[str, str]]:
        """Return the parts of a format with the counters of its numbers."""
        tokens = resolve_tokens(shape, counter, self._known)
        return [next(tokens) if isinstance(part, NumberToken) else part for part in shape.parts]

    def _learn(self, parts: Sequence[str | tuple[str, str]], own: str) -> None:
        """Store the counters that a format names before its own, which are above it."""
        names = [part[0] for part in parts if not isinstance(part, str)]
        if own in names:
            names = names[: names.index(own)]
        for name in names:
            if name and name != own:
                self._below.setdefault(name, set()).add(own)

    def _write(self, parts: Sequence[str | tuple[str, str]], own: str) -> str:
        texts: list[str] = []
        first, last = len(parts), 0
        for at, part in enumerate(parts):
            if isinstance(part, str):
                texts.append(part)
            else:
                first, last = min(first, at), at
                texts.append(self._write_one(*part, own))
        self._written[own] = "".join(texts[first : last + 1])[:MAX_NUMBER]
        return "".join(texts)[:MAX_NUMBER]

    def _write_one(self, name: str, kind: str, own: str) -> str:
        value = self._values.get(name, 0)
        if not kind and name != own:
            return self._written.get(name, str(value))
        return format_counter(KINDS[kind or "1"], value)


@dataclass(frozen=True, slots=True)
class PageNumberedNote:
    """The numbering of a note whose counter restarts on each page."""

    numbering: Numbering
    source: Source


@dataclass(frozen=True, slots=True)
class Footnotes:
    """The notes at the foot of pages, by the anchors of their calls.

    `rule` is the style of the line above them: its border, width and margins. `page_numbered` are
    those whose number layout counts, by call; `collected_numbers` the numbers of such notes that
    became endnotes, by note.
    """

    by_call: Mapping[str, Note]
    rule: Style
    page_numbered: Mapping[str, PageNumberedNote]
    collected_numbers: Mapping[str, str]

    @property
    def is_numbered_by_layout(self) -> bool:
        """Whether calls show numbers that only layout knows."""
        return bool(self.page_numbered or self.collected_numbers)


class CalledNote(NamedTuple):
    """A note and its call: both anchors, and the number."""

    name: str
    anchor: str
    number: str
    is_page_numbered: bool  # on its page, where the number is known


@dataclass(slots=True)
class FootnoteCollector:
    """Notes in the order of their calls.

    `by_key` are those of Markdown, which can be called again.
    """

    by_key: dict[str, CalledNote] = field(default_factory=dict)
    page_numbered: dict[str, PageNumberedNote] = field(default_factory=dict)
    is_closed: bool = False  # content built from now on takes no notes
    _flow: int = 0
    _begun: dict[str, int] = field(default_factory=dict)  # counters by their flow
    _open: list[Note] = field(default_factory=list)  # of the current flow
    _by_call: dict[str, Note] = field(default_factory=dict)
    _fixed: dict[str, str] = field(default_factory=dict)
    _rule: Style | None = None

    def begin_flow(self) -> None:
        """Start a flow, whose endnotes are its own."""
        self._flow += 1
        self._open.clear()

    def restart_in_flow(self, counter: str, counters: Counters) -> None:
        """Restart a counter at its first note in a flow."""
        if self._begun.get(counter) != self._flow:
            self._begun[counter] = self._flow
            counters.restart(counter)

    def add(self, note: Note, rule: Style) -> None:
        """Store a note.

        `rule` is the style of the line above footnotes, of which the first counts.
        """
        self._rule = self._rule or rule
        self._open.append(note)
        self._by_call[note.call_anchor] = note

    def collect_endnotes(self, counters: Counters) -> tuple[Note, ...]:
        """Return the notes of the flow since the last `endnotes`.

        They are not footnotes any more.
        """
        taken: list[Note] = []
        for note in self._open:
            del self._by_call[note.call_anchor]
            counted = self.page_numbered.pop(note.call_anchor, None)
            if counted is None:
                taken.append(note)
                continue
            number = counters.count(counted.numbering) or ""
            self._fixed[note.id] = number
            taken.append(replace(note, number=number))
        self._open.clear()
        return tuple(taken)

    def close(self) -> Footnotes | None:
        """Return the footnotes of the document, None if it has none."""
        self.is_closed = True
        if self._rule is None:
            return None
        return Footnotes(self._by_call, self._rule, self.page_numbered, self._fixed)
