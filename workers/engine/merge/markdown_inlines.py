"""Inline extensions of GitHub Flavored Markdown: autolinks, and strikethrough by a single tilde."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from re import Match
from typing import Any, Final

import mistune
from mistune.block_parser import BlockParser
from mistune.core import BlockState, InlineState
from mistune.inline_parser import InlineParser
from mistune.util import escape_url, unikey

LINE: Final = "line"  # key of a token's line number, from 0
FOOTNOTES: Final = (
    "footnote_lines"  # key in the environment: the line of each footnote by its label
)
# What may stand before a block: white space, signs of quotes, and definitions on one line.
_BETWEEN: Final = re.compile(r"[\s>]*(?:\[\^?([^\]]{1,500})\]:.*)?")
_FOOTNOTE: Final = re.compile(r"[\s>*+-]*\[\^((?:[^\\\[\]\s]|\\.){1,500})\]:")
_MAX_PASSED: Final = 100  # lines between two blocks that are searched


def lines_plugin(markdown: mistune.Markdown) -> None:
    """Register with mistune, as its plug-in, that blocks get the numbers of their lines.

    mistune does not say where a block begins. Its blocks are in the order of the text, so that each
    is found by its first line, soon after the end of the one before.
    """
    markdown.before_render_hooks.append(_add_lines)


def _add_lines(_: mistune.Markdown, state: BlockState) -> None:
    lines = state.src.split("\n")
    notes = state.env.get("ref_footnotes", {})
    _BlockLocator(lines, state.env["ref_links"].keys() | notes).locate(state.tokens)
    if notes:
        found = ((_FOOTNOTE.match(line), number) for number, line in enumerate(lines))
        labels = [(unikey(label[1]), number) for label, number in found if label]
        state.env[FOOTNOTES] = dict(reversed(labels))  # the first of a label counts


class _BlockLocator:
    """Adds the numbers of their lines to the blocks of a text, which are given in their order."""

    def __init__(self, lines: Sequence[str], labels: AbstractSet[str]) -> None:
        self._lines = lines
        self._labels = labels  # of definitions
        self._next = 0  # the line after the last block

    def locate(self, tokens: Iterable[dict[str, Any]]) -> None:
        for token in tokens:
            if token["type"] == "blank_line":
                continue
            inner = token["children"] if token["type"] in _CONTAINERS else None
            written = str(token.get("raw", token.get("text", "")))
            first = written.lstrip("\n").partition("\n")[0].strip()
            token[LINE] = line = self._find(token.get("marker", first))
            if inner:
                self.locate(inner)
                continue
            height = written.rstrip("\n").count("\n") + 1
            self._next = line + height + _FURTHER_LINES.get(token.get("style", ""), 0)

    def _find(self, first: str) -> int:
        """Return the next line with a text, or the next that may begin a block."""
        lines, start = self._lines, self._next
        while start < len(lines) - 1 and self._is_between(lines[start]):
            start += 1
        passed = range(start, min(start + _MAX_PASSED, len(lines)))
        return next((at for at in passed if first in lines[at]), start)

    def _is_between(self, line: str) -> bool:
        found = _BETWEEN.fullmatch(line)
        return found is not None and (found[1] is None or unikey(found[1]) in self._labels)


_CONTAINERS: Final = frozenset({"list", "list_item", "task_list_item", "block_quote"})
_FURTHER_LINES: Final = {"fenced": 2, "setext": 1}  # beside those of the text, by style


# An autolink follows the start of a line, white space, or one of four marks (GFM 0.29, 6.9).
_BEFORE: Final = r"(?:^|(?<=[\s*_~(]))"
_ADDRESS: Final = _BEFORE + r"(?:[Hh][Tt][Tt][Pp][Ss]?://|[Ww]{3}\.)[^\s<]+"
# Matches only at the first character of a name, which avoids quadratic time.
_EMAIL: Final = r"(?<![A-Za-z0-9._+\-/:@])[A-Za-z0-9._+-]+@[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)+"
_STRIKE: Final = r"(?<![~\\])~(?![~\s])"
_STRIKE_END: Final = re.compile(r"(?<![~\\\s])~(?!~)")
_DOMAIN: Final = re.compile(r"(?i:https?://)?([A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*)")
_ENTITY: Final = re.compile(r"&[A-Za-z0-9]+;\Z")
_LONGEST_ENTITY: Final = 40


def github_inlines_plugin(markdown: mistune.Markdown) -> None:
    """Register the rules with mistune, as its plug-in."""
    inline = markdown.inline
    inline.register("bare_address", _ADDRESS, _parse_address)
    inline.register("bare_email", _EMAIL, _parse_email)
    inline.register("single_strike", _STRIKE, _parse_strike)
    inline.register("tilde_run", "~{3,}", _parse_tildes)


def _parse_address(inline: InlineParser, match: Match[str], state: InlineState) -> int | None:
    text = _within_brackets(match[0], state)
    text = _without_trailing(text)
    if not _has_domain(text):
        return None
    target = f"http://{text}" if _is_bare(text) else text
    return _add_link(inline, text, target, match.start(), state)


def _parse_email(inline: InlineParser, match: Match[str], state: InlineState) -> int | None:
    if match[0].endswith(("-", "_")):
        return None
    return _add_link(inline, match[0], f"mailto:{match[0]}", match.start(), state)


def _add_link(
    inline: InlineParser, text: str, target: str, start: int, state: InlineState
) -> int | None:
    """Append a link; inside another link, append the address as text."""
    if state.in_link or state.depth >= inline.max_nested_level:
        inline.process_text(text, state)
    else:
        children = [{"type": "text", "raw": text}]
        token = {"type": "link", "children": children, "attrs": {"url": escape_url(target)}}
        state.append_token(token | {"_autolink": text})
    return start + len(text)


def _within_brackets(text: str, state: InlineState) -> str:
    """Return an address up to the bracket that closes the text of an enclosing link."""
    return text.partition("]")[0] if state.brackets else text


def _without_trailing(text: str) -> str:
    """Strip trailing punctuation of an autolink (GFM 0.29, 6.9)."""
    end, surplus = len(text), text.count(")") - text.count("(")
    while end:
        last = text[end - 1]
        entity = _ENTITY.search(text, max(end - _LONGEST_ENTITY, 0), end) if last == ";" else None
        if last in "?!.,:*_~'\"":
            end -= 1
        elif last == ")" and surplus > 0:
            end, surplus = end - 1, surplus - 1
        elif entity is not None:
            end = entity.start()
        else:
            break
    return text[:end]


def _has_domain(text: str) -> bool:
    """Return whether an address has a valid domain: no underscore in its last two labels."""
    domain = _DOMAIN.match(text)
    if domain is None:
        return False
    parts = domain[1].split(".")
    is_short = len(parts) == 1
    return not (is_short and _is_bare(text)) and "_" not in "".join(parts[-2:])


def _is_bare(address: str) -> bool:
    return address[:4].lower() == "www."


def _parse_tildes(inline: InlineParser, match: Match[str], state: InlineState) -> int:
    """Append three or more tildes as text: one or two strike through (GFM 0.29, 6.5)."""
    inline.process_text(match[0], state)
    return match.end()


def _parse_strike(inline: InlineParser, match: Match[str], state: InlineState) -> int | None:
    if state.depth >= inline.max_nested_level:
        return None
    end = _STRIKE_END.search(state.src, match.end())
    if end is None:
        return None
    inner = state.copy()
    inner.src = state.src[match.end() : end.start()]
    state.append_token({"type": "strikethrough", "children": inline.render(inner)})
    return end.end()


MAX_COLUMNS: Final = 200
# A wide head and many short rows would otherwise produce millions of empty cells.
MAX_ADDED_CELLS: Final = 100_000

# The header row and the delimiter row; at least one has a bar.
_TABLE: Final = (
    r"^ {0,3}(?=\S)(?=[^\n]*\|[^\n]*\n|[^\n]*\n[^\n]*\|)[^\n]+\n"
    r" {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*|(?!))*+\|?[ \t]*(?:\n|$)"
)
_CELL_END: Final = re.compile(r"((?:[^\\|]|\\.|(?!))*+\\?)(?:\||$)", re.DOTALL)
# The blocks that end a table (GFM 0.29, 4.10).
_OTHER_BLOCKS: Final = (
    *("blank_line", "fenced_code", "indent_code", "atx_heading", "thematic_break"),
    *("block_quote", "list", "block_html"),
)


class TableTooLargeError(Exception):
    """A table has too many columns or cells; the message names the limit."""


def tables_plugin(markdown: mistune.Markdown) -> None:
    """Register tables with mistune, as its plug-in; also in quotes and list items."""
    block = markdown.block
    block.register("table", _TABLE, _parse_table, before="paragraph")
    block.insert_rule(block.block_quote_rules, "table", before="paragraph")
    block.insert_rule(block.list_rules, "table", before="paragraph")


def _parse_table(block: BlockParser, match: Match[str], state: BlockState) -> int | None:
    """Append a table token and return its end; None if header and delimiter row differ in length."""
    head_line, rule_line, *_ = match[0].split("\n")
    head, rule = list(_split_row(head_line)), list(_split_row(rule_line))
    if len(head) != len(rule):
        return None
    if len(head) > MAX_COLUMNS:
        raise TableTooLargeError(
            f"a table has {len(head):,} columns, accepted are at most {MAX_COLUMNS}"
        )
    aligns = [_alignment(cell) for cell in rule]
    end, rows, added = match.end(), [], 0
    other = block.compile_sc(list(_OTHER_BLOCKS))
    while end < state.cursor_max and not other.match(state.src, end):
        line = state.get_line(end)
        cells = list(_split_row(line.rstrip("\n")))
        added += max(len(head) - len(cells), 0)
        if added > MAX_ADDED_CELLS:
            raise TableTooLargeError(
                f"the rows of a table leave out more than {MAX_ADDED_CELLS:,} cells"
            )
        rows.append({"type": "table_row", "children": _cells(cells, aligns, is_head=False)})
        end += len(line)
    children: list[dict[str, object]] = [
        {"type": "table_head", "children": _cells(head, aligns, is_head=True)}
    ]
    if rows:
        children.append({"type": "table_body", "children": rows})
    raw = state.src[match.start() : end]
    state.append_token({"type": "table", "children": children, "raw": raw})
    return end


def _split_row(line: str) -> Iterator[str]:
    r"""Yield the cells of a row; `\|` is a literal bar, also in code."""
    text = line.strip(" \t")
    at = 1 if text.startswith("|") else 0
    while at < len(text):
        cell = _CELL_END.match(text, at)
        assert cell is not None
        yield cell[1].strip().replace("\\|", "|")
        at = cell.end()


def _alignment(cell: str) -> str | None:
    match cell.startswith(":"), cell.endswith(":"):
        case True, True:
            return "center"
        case True, False:
            return "left"
        case False, True:
            return "right"
    return None


def _cells(
    texts: Sequence[str], aligns: Sequence[str | None], *, is_head: bool
) -> list[dict[str, object]]:
    """Return the cells of a row, padded or cut to the number of columns."""
    padded = [*texts[: len(aligns)], *[""] * (len(aligns) - len(texts))]
    return [
        {"type": "table_cell", "text": text, "attrs": {"align": align, "head": is_head}}
        for text, align in zip(padded, aligns, strict=True)
    ]
