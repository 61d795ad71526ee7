"""White space and case of running text, as CSS Text collapses and transforms them."""

from __future__ import annotations

import re
from typing import Any, Final

from workers.engine.diagnostics import Findings, Place
from workers.engine.tree.filters import capitalize_words
from workers.engine.tree.nodes import Inline, InlineBlock, LineBreak, Reference, Run, Spot
from workers.engine.tree.styles import TextStyle, WhiteSpace

MAX_TEXT: Final = 5_000_000  # characters of one paragraph; 90 bytes each while it is broken

# CSS collapses these and no other: a no-break space is a character.
_SPACES: Final = re.compile(r"[ \t\n\r\f]+")
_SPACES_IN_LINE: Final = re.compile(r"[ \t\f]+")


def check_length(text: str, place: Place, findings: Findings) -> None:
    """Report a text that is too long for one paragraph."""
    if len(text) > MAX_TEXT:
        findings.error("too-long", tell_length(len(text)), place)


def tell_length(length: int) -> str:
    """Write the message about a text that is too long for one paragraph."""
    return (
        f"The text of one paragraph has {length:,} characters, accepted are at most "
        f"{MAX_TEXT:,}. Split it into several paragraphs"
    )


def squeeze(text: str) -> str:
    """Collapse the white space of a text that stands alone."""
    if text.isprintable() and "  " not in text and text.strip(" ") is text:
        return text
    return _SPACES.sub(" ", text).strip(" ")


def collapse(text: str) -> str:
    """Collapse white space inside a text, and keep one space at an end that has some."""
    return _SPACES.sub(" ", text)


def transform(text: str, how: str) -> str:
    """Apply text-transform."""
    match how:
        case "uppercase":
            return text.upper()
        case "lowercase":
            return text.lower()
        case "capitalize":
            return capitalize_words(text)
        case _:
            return text


class InlineGatherer:
    """Gathers the inline content of one paragraph, white space collapsed across its runs."""

    __slots__ = ("_at_edge", "_inlines", "_link", "_pieces", "_style", "position", "spans")

    def __init__(self) -> None:
        self._inlines: list[Inline] = []
        self._pieces: list[str] = []
        self._style: TextStyle | None = None
        self._link: str | None = None
        self.position = 0  # in the text so far
        self.spans: list[tuple[str, int, int]] = []  # the texts of marks that have an id
        self._at_edge = True  # a space here would stand at the edge of a line, or after another

    def add_text(
        self, text: str, style: TextStyle, white_space: WhiteSpace, link: str | None
    ) -> None:
        """Add characters of one look."""
        if white_space in (WhiteSpace.PRE, WhiteSpace.PRE_WRAP):
            self._add_lines(text.expandtabs(8), style, link)
        elif white_space is WhiteSpace.PRE_LINE:
            lines = _SPACES_IN_LINE.sub(" ", text)
            self._add_lines(re.sub(r" ?\n ?", "\n", lines), style, link)
        else:
            collapsed = _SPACES.sub(" ", text)
            if self._at_edge:
                collapsed = collapsed.lstrip(" ")
            self._add(collapsed, style, link)
            if collapsed:
                self._at_edge = collapsed[-1] == " "

    def add_break(self, style: TextStyle) -> None:
        """Add a forced line break; the space before it goes."""
        self._drop_last_space()
        self._flush()
        self._inlines.append(LineBreak(style))
        self.position += 1
        self._at_edge = True

    def add_block(self, block: Any) -> None:
        """Add an image or bar code standing in the line."""
        self._flush()
        self._inlines.append(InlineBlock(block))
        self.position += 1
        self._at_edge = False

    def add_reference(self, reference: Reference) -> None:
        """Add a reference, which is text as soon as layout knows it."""
        self._flush()
        self._inlines.append(reference)
        self._at_edge = False

    def add_spot(self, spot: Spot) -> None:
        """Add a named place, which takes no room and no part in the white space around it."""
        self._flush()
        self._inlines.append(spot)

    def finish(self) -> tuple[Inline, ...]:
        """Give the runs, the space at the end dropped."""
        self._drop_last_space()
        self._flush()
        return tuple(self._inlines)

    def _add_lines(self, text: str, style: TextStyle, link: str | None) -> None:
        lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        for position, line in enumerate(lines):
            if position:
                self._flush()
                self._inlines.append(LineBreak(style))
                self.position += 1
            self._add(line, style, link)
        self._at_edge = False

    def _add(self, text: str, style: TextStyle, link: str | None) -> None:
        if not text:
            return
        if style is not self._style or link != self._link:
            self._flush()
            self._style, self._link = style, link
        self._pieces.append(text)
        self.position += len(text)

    def _drop_last_space(self) -> None:
        """Drop the collapsible space at the end, also where it ends a run of another look."""
        if not self._at_edge:
            return
        if self._pieces:
            self._pieces[-1] = self._pieces[-1].removesuffix(" ")
            return
        at = len(self._inlines) - 1
        while at >= 0 and isinstance(self._inlines[at], Spot):
            at -= 1
        if at >= 0 and isinstance(last := self._inlines[at], Run):
            self._inlines[at] = Run(last.text.removesuffix(" "), last.style, last.link)

    def _flush(self) -> None:
        text = "".join(self._pieces)
        if text and self._style is not None:
            self._inlines.append(Run(text, self._style, self._link))
        self._pieces.clear()
        self._style = self._link = None
