"""The Unicode Bidirectional Algorithm (UAX #9).

Each bidirectional class is one letter, so most rules are one substitution on a string. Embedding
levels are even for left-to-right text and odd for right-to-left text. `reorder` implements rule L2.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Sequence
from itertools import groupby
from typing import Final

# L R A(L) N(EN) S(ES) T(ET) H(AN) C(S) M(NSM) X(BN) B K(segment) W(S) O(N), and the controls:
# embeddings l r, overrides d e, pop p, isolates i j f, pop isolate q.
_LETTERS: Final = {
    "L": "L", "R": "R", "AL": "A", "EN": "N", "ES": "S", "ET": "T", "AN": "H", "CS": "C", "NSM": "M",
    "BN": "X", "B": "B", "S": "K", "WS": "W", "ON": "O", "LRE": "l", "RLE": "r", "LRO": "d",
    "RLO": "e", "PDF": "p", "LRI": "i", "RLI": "j", "FSI": "f", "PDI": "q", "": "L",
}  # fmt: skip
CONTROLS: Final = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")  # never drawn
_CONTROL_TYPES: Final = re.compile("[lrdepijfqX]")
_NEUTRAL: Final = re.compile("[OWBKijfq]+")
_MAX_DEPTH: Final = 125
_MAX_BRACKETS: Final = 63

# BidiBrackets.txt: opening brackets and, in the same order, the closing ones.
_BRACKETS: Final = dict(
    zip(
        "([{\u0f3a\u0f3c\u169b\u2045\u207d\u208d\u2308\u230a\u2329\u2768\u276a\u276c\u276e\u2770\u2772"
        "\u2774\u27c5\u27e6\u27e8\u27ea\u27ec\u27ee\u2983\u2985\u2987\u2989\u298b\u298d\u298f\u2991\u2993"
        "\u2995\u2997\u29d8\u29da\u29fc\u2e22\u2e24\u2e26\u2e28\u2e55\u2e57\u2e59\u2e5b\u3008\u300a\u300c"
        "\u300e\u3010\u3014\u3016\u3018\u301a\ufe59\ufe5b\ufe5d\uff08\uff3b\uff5b\uff5f\uff62",
        ")]}\u0f3b\u0f3d\u169c\u2046\u207e\u208e\u2309\u230b\u232a\u2769\u276b\u276d\u276f\u2771\u2773"
        "\u2775\u27c6\u27e7\u27e9\u27eb\u27ed\u27ef\u2984\u2986\u2988\u298a\u298c\u2990\u298e\u2992\u2994"
        "\u2996\u2998\u29d9\u29db\u29fd\u2e23\u2e25\u2e27\u2e29\u2e56\u2e58\u2e5a\u2e5c\u3009\u300b\u300d"
        "\u300f\u3011\u3015\u3017\u3019\u301b\ufe5a\ufe5c\ufe5e\uff09\uff3d\uff5d\uff60\uff63",
        strict=True,
    )
)
# Canonically equivalent brackets (BD16).
_SAME_BRACKETS: Final = str.maketrans("\u2329\u232a", "\u3008\u3009")
_CLOSING: Final = frozenset(_BRACKETS.values())
_HAS_BRACKET: Final = re.compile("[" + re.escape("".join(_BRACKETS)) + "]")


class _Types(dict[int, str]):
    """The letter of each character's bidirectional class, for `str.translate`."""

    def __missing__(self, code: int) -> str:
        letter = self[code] = _LETTERS[unicodedata.bidirectional(chr(code))]
        return letter


_TYPES: Final = _Types()


def resolve_levels(text: str, *, is_rtl: bool) -> list[tuple[int, int, int]]:
    """Return the level runs of a paragraph as (start, end, level), in logical order (UAX #9 BD7).

    `is_rtl` is the paragraph direction. Explicit formatting characters take the level of the
    character before them; they are never drawn.
    """
    types = text.translate(_TYPES)
    base = int(is_rtl)
    if _CONTROL_TYPES.search(types):
        levels = _resolve_explicit(text, types, base)
    else:
        levels = _resolve_sequence(text, types, base, _direction(base), _direction(base))
    return _find_runs(levels)


def join_isolates(text: str, runs: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """Return the level runs with isolates of one level and of the direction around them joined to it.

    They are seen in the same order. An isolate of its own level is a run, which readers of the file would
    find after the text that follows it: a full stop after an Arabic name, in Arabic.
    """
    levels = [level for start, end, level in runs for _ in range(start, end)]
    for start, end in sorted(_match_isolates(text.translate(_TYPES)).items(), reverse=True):
        inner = levels[start] + 2
        if levels[start + 1] == inner and set(levels[start + 1 : end]) == {inner}:
            levels[start + 1 : end] = [levels[start]] * (end - start - 1)
    return _find_runs(levels)


class ControlRemover:
    """Removes controls from the level runs of a text, one after the other."""

    def __init__(self) -> None:
        self.count = 0  # of the separators so far
        self._levels: list[int] = []  # of runs of controls before the next text
        self._level = 0

    def remove(self, text: str, level: int) -> str:
        """Return the text of a run without controls."""
        shown = CONTROLS.sub("", text)
        if not shown:
            self._levels.append(level)
        self._level = level
        return shown

    def take_separator(self) -> int | None:
        """Return the lowest level of controls before the text, None without any below its level.

        It is that of the first part of the text, and None for the others.
        """
        separator = min(self._levels, default=self._level)
        self._levels.clear()
        if separator >= self._level:
            return None
        self.count += 1
        return separator


def _find_runs(levels: Sequence[int]) -> list[tuple[int, int, int]]:
    runs: list[tuple[int, int, int]] = []
    at = 0
    for level, run in groupby(levels):
        end = at + sum(1 for _ in run)
        runs.append((at, end, level))
        at = end
    return runs


def reorder(levels: Sequence[int]) -> list[int]:
    """Return the visual order, left to right, of items with these levels, as indexes (UAX #9 L2)."""
    order = list(range(len(levels)))
    lowest = min((level for level in levels if level % 2), default=None)
    if lowest is None:
        return order
    for level in range(max(levels), lowest - 1, -1):
        at = 0
        while at < len(order):
            if levels[order[at]] < level:
                at += 1
                continue
            end = at
            while end < len(order) and levels[order[end]] >= level:
                end += 1
            order[at:end] = reversed(order[at:end])
            at = end
    return order


# --- embeddings and isolates (rules X1 to X10) --------------------------------------------------------


def _resolve_explicit(text: str, types: str, base: int) -> list[int]:
    levels, resolved_types = _find_embeddings(types, base)
    matches = _match_isolates(types)
    retained = [at for at, letter in enumerate(types) if letter not in "lrdepX"]
    result = list(levels)
    for sequence in _find_isolating_run_sequences(retained, types, levels, matches):
        level = levels[sequence[0]]
        before, after = _find_boundary_levels(sequence, retained, types, levels, matches, base)
        resolved = _resolve_sequence(
            "".join(text[at] for at in sequence),
            "".join(resolved_types[at] for at in sequence),
            level,
            _direction(max(level, before)),
            _direction(max(level, after)),
        )
        for at, found in zip(sequence, resolved, strict=True):
            result[at] = found
    # Characters removed by rule X9 take the level of the one before.
    for at, letter in enumerate(types):
        if letter in "lrdepX":
            result[at] = result[at - 1] if at else base
    return result


def _find_embeddings(types: str, base: int) -> tuple[list[int], list[str]]:
    """Return the explicit level and the class of each character, overrides applied (UAX #9 X1 to X8)."""
    stack = _DirectionalStatusStack(base)
    levels: list[int] = []
    resolved_types = list(types)
    ends = _match_isolates(types)
    for at, letter in enumerate(types):
        if letter == "q":
            stack.pop_isolate()
        elif letter == "p":
            stack.pop_embedding()
        level, override, _ = stack.entries[-1]
        levels.append(level)
        if override and letter not in "lrdepX":
            resolved_types[at] = override
        if letter == "f":
            is_rtl = stack.has_room and _first_strong(types[at + 1 : ends.get(at, len(types))])
            stack.push("j" if is_rtl else "i")
        elif letter in "lrdeij":
            stack.push(letter)
    return levels, resolved_types


class _DirectionalStatusStack:
    """The directional status stack (UAX #9 X1): level, override and isolate status of each entry."""

    def __init__(self, base: int) -> None:
        self.entries: list[tuple[int, str, bool]] = [(base, "", False)]
        self._overflow_isolates = 0
        self._overflow_embeddings = 0

    @property
    def has_room(self) -> bool:
        """Whether nothing is open that did not fit."""
        return not self._overflow_isolates and not self._overflow_embeddings

    def push(self, kind: str) -> None:
        """Open an embedding, an override or an isolate (rules X2 to X5c)."""
        level = self.entries[-1][0]
        is_isolate = kind in "ij"
        following = (level + 1) | 1 if kind in "rej" else (level + 2) & ~1
        if following <= _MAX_DEPTH and self.has_room:
            self.entries.append((following, {"d": "L", "e": "R"}.get(kind, ""), is_isolate))
        elif is_isolate:
            self._overflow_isolates += 1
        elif not self._overflow_isolates:
            self._overflow_embeddings += 1

    def pop_isolate(self) -> None:
        """Close an isolate and everything open inside it (rule X6a)."""
        if self._overflow_isolates:
            self._overflow_isolates -= 1
        elif any(is_isolate for *_, is_isolate in self.entries):
            self._overflow_embeddings = 0
            while not self.entries.pop()[2]:
                pass

    def pop_embedding(self) -> None:
        """Close an embedding or an override (rule X7)."""
        if self._overflow_isolates:
            return
        if self._overflow_embeddings:
            self._overflow_embeddings -= 1
        elif not self.entries[-1][2] and len(self.entries) > 1:
            self.entries.pop()


def _match_isolates(types: str) -> dict[int, int]:
    """Return the index of the matching PDI by the index of each isolate initiator (BD9)."""
    open_at: list[int] = []
    matches: dict[int, int] = {}
    for at, letter in enumerate(types):
        if letter in "ijf":
            open_at.append(at)
        elif letter == "q" and open_at:
            matches[open_at.pop()] = at
    return matches


def _first_strong(types: str) -> bool:
    """Return whether the first strong character outside isolates is right-to-left (P2, P3)."""
    depth = 0
    for letter in types:
        if letter in "ijf":
            depth += 1
        elif letter == "q":
            depth = max(depth - 1, 0)
        elif not depth and letter in "LRA":
            return letter != "L"
    return False


def _find_isolating_run_sequences(
    retained: Sequence[int], types: str, levels: Sequence[int], matches: dict[int, int]
) -> list[list[int]]:
    """Return the isolating run sequences: level runs joined across isolates (BD13, X10)."""
    runs = [list(run) for _, run in groupby(retained, lambda at: levels[at])]
    by_start = {run[0]: run for run in runs}
    ends = set(matches.values())
    sequences = []
    for run in runs:
        if types[run[0]] == "q" and run[0] in ends:
            continue
        sequence = list(run)
        while types[sequence[-1]] in "ijf" and sequence[-1] in matches:
            following = by_start.get(matches[sequence[-1]])
            if following is None:
                break
            sequence += following
        sequences.append(sequence)
    return sequences


def _find_boundary_levels(
    sequence: Sequence[int],
    retained: Sequence[int],
    types: str,
    levels: Sequence[int],
    matches: dict[int, int],
    base: int,
) -> tuple[int, int]:
    """Return the levels of the characters before and after a sequence, for sos and eos (X10)."""
    first = bisect_left(retained, sequence[0])
    last = bisect_left(retained, sequence[-1])
    before = levels[retained[first - 1]] if first else base
    is_open = types[sequence[-1]] in "ijf" and sequence[-1] not in matches
    after = base if is_open or last + 1 >= len(retained) else levels[retained[last + 1]]
    return before, after


# --- one sequence (rules W1 to I2) --------------------------------------------------------------------


def _resolve_sequence(text: str, types: str, level: int, before: str, after: str) -> list[int]:
    original_types, types = types, _resolve_weak(types, before)
    if _NEUTRAL.search(types):
        if _HAS_BRACKET.search(text):
            types = _resolve_brackets(text, original_types, types, level, before)
        types = _resolve_neutral(types, level, before, after)
    table = _ODD if level % 2 else _EVEN
    return [level + table[letter] for letter in types]


_EVEN: Final = {"L": 0, "R": 1, "N": 2, "H": 2}
_ODD: Final = {"L": 1, "R": 0, "N": 1, "H": 1}


def _resolve_weak(types: str, before: str) -> str:
    if "M" in types:
        types = re.sub(r"([ijfq])M+", lambda m: m[1] + "O" * (len(m[0]) - 1), types)
        types = re.sub(r"([^M])M+", lambda m: m[1] * len(m[0]), types)
        types = re.sub(r"^M+", lambda m: before * len(m[0]), types)  # W1
    if "N" in types:
        if "A" in types:
            types = re.sub(r"A[^LR]*", lambda m: m[0].replace("N", "H"), types)  # W2
        if "S" in types or "C" in types:
            types = re.sub(r"(?<=N)[SC](?=N)", "N", types)  # W4
        if "T" in types:
            types = _TERMINATORS.sub(_read_terminators, types)  # W5
    types = types.replace("A", "R")  # W3
    if "C" in types and "H" in types:
        types = re.sub(r"(?<=H)C(?=H)", "H", types)
    types = re.sub("[STC]", "O", types)  # W6
    if "N" in types:  # W7
        types = re.sub(r"L[^R]*", lambda m: m[0].replace("N", "L"), "L" * (before == "L") + types)
        types = types[1:] if before == "L" else types
    return types


_TERMINATORS: Final = re.compile("T+")


def _read_terminators(match: re.Match[str]) -> str:
    """Resolve a run of ET next to a number (W5) at once: per character, a long run took quadratic time."""
    types, (start, end) = match.string, match.span()
    is_beside = types[max(start - 1, 0)] == "N" or types[end : end + 1] == "N"
    return ("N" if is_beside else "T") * (end - start)


def _resolve_brackets(text: str, original_types: str, types: str, level: int, before: str) -> str:
    """Resolve paired brackets by their content, and the marks that follow them (rule N0).

    `original_types` are the classes before the weak rules, which turn marks into neutrals.
    """
    resolved_types = list(types)
    inside = _direction(level)
    for start, end in _pair_brackets(text, types):
        strong = {_strong(letter) for letter in resolved_types[start + 1 : end]} - {""}
        if inside in strong:
            direction = inside
        elif strong:
            earlier = (_strong(resolved_types[at]) for at in range(start - 1, -1, -1))
            context = next(filter(None, earlier), before)
            direction = context if context != inside else inside
        else:
            continue
        for bracket in (start, end):
            resolved_types[bracket] = direction
            for at in range(bracket + 1, len(resolved_types)):
                if original_types[at] != "M":
                    break
                resolved_types[at] = direction
    return "".join(resolved_types)


def _pair_brackets(text: str, types: str) -> list[tuple[int, int]]:
    open_: list[tuple[str, int]] = []
    pairs: list[tuple[int, int]] = []
    text = text.translate(_SAME_BRACKETS)
    for at, (char, letter) in enumerate(zip(text, types, strict=True)):
        if letter != "O":
            continue
        if char in _BRACKETS:
            if len(open_) >= _MAX_BRACKETS:
                return []
            open_.append((_BRACKETS[char], at))
        elif char in _CLOSING:
            for depth in range(len(open_) - 1, -1, -1):
                if open_[depth][0] == char:
                    pairs.append((open_[depth][1], at))
                    del open_[depth:]
                    break
    return sorted(pairs)


def _resolve_neutral(types: str, level: int, before: str, after: str) -> str:
    """Resolve neutrals between two strong types of one direction to that direction (rules N1 and N2)."""
    inside = _direction(level)
    length = len(types)

    def read(match: re.Match[str]) -> str:
        start, end = match.span()
        left = _strong(types[start - 1]) if start else before
        right = _strong(types[end]) if end < length else after
        return (left if left == right else inside) * (end - start)

    return _NEUTRAL.sub(read, types)


def _strong(letter: str) -> str:
    return "L" if letter == "L" else "R" if letter in "RNH" else ""


def _direction(level: int) -> str:
    return "R" if level % 2 else "L"
