"""Line break opportunities (UAX #14): inside words, at spaces, and between texts of different styles.

They follow version 15.0 with these tailorings:

- opening and closing quotes, with spaces inside them, stay with the quoted text, and a full stop before
  a digit may begin a line (LB15a to LB15c of 15.1); next to ideographs quotes are brackets (LB19a of 16.0);
- a dash, exclamation mark or ellipsis at the start of a word stays with it (LB20a of 15.1, for hyphens);
- a minus sign stays with the currency sign after it;
- no line begins with a dash; a slash allows a break only between words of at least two letters;
- a line begins with small kana and the prolonged sound mark (class CJ) only where that is asked for
  (`line-break` of CSS Text 3, 5.2), and then with U+301C and U+30A0 too;
- Korean breaks at spaces; Thai, Lao, Khmer and Myanmar between the words of a dictionary.

Thai words come from the package newmm-tokenizer, the others from pressroom-fonts; without it lines
of those scripts break at spaces only. A dictionary is read when the first text of its script is
set. A text is split into the fewest words with the fewest unknown clusters; no orthographic cluster
is split.
"""

from __future__ import annotations

import lzma
import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache, cached_property, lru_cache
from importlib.resources import files
from itertools import compress, pairwise
from operator import add
from sys import intern
from typing import Final

from workers.engine.characters import CharacterTable
from workers.engine.data_tables import read_table
from workers.engine.fonts import find_extra_fonts

_MAX_WORD: Final = 20  # characters; longer entries are compounds of other words
_MAX_TEXT: Final = 2_000  # characters segmented at once
_MAX_CACHED: Final = 4_000  # texts per dictionary
_UNKNOWN_COST: Final = 10  # cost of an unknown cluster, in words

# A trie of clusters. A branch with a single continuation is a tuple, the
# rest of its word; the end of a word inside a longer one is the empty cluster.
_Suffix = tuple[str, ...]
_Trie = dict[str, "_Trie | _Suffix | None"]


class Dictionary:
    """The words of one script.

    `letters` is the character class of its words, `cluster` the pattern of one orthographic
    cluster: a letter with all that is written around it.
    """

    def __init__(self, letters: str, cluster: str, read: Callable[[], str]) -> None:
        self._read = read
        self._run = re.compile(f"[{letters}]{{2,}}")
        self._cluster = re.compile(f"{cluster}|.")
        self._segment_cached = lru_cache(maxsize=_MAX_CACHED)(self._segment)

    def has_words(self, text: str) -> bool:
        """Return whether a text contains words to segment."""
        return self._run.search(text) is not None

    def matches_all(self, text: str) -> bool:
        """Return whether all of a text is of this script."""
        return self._run.fullmatch(text) is not None

    def segment(self, text: str) -> list[str]:
        """Return the segments of a text, split between words; other text stays with the word before it."""
        segments: list[str] = []
        at = 0
        for match in self._run.finditer(text):
            if match.start() > at:
                segments.append(text[at : match.start()])
            for start in range(match.start(), match.end(), _MAX_TEXT):
                segments += self._segment_cached(text[start : min(start + _MAX_TEXT, match.end())])
            at = match.end()
        if at < len(text):
            if segments:
                segments[-1] += text[at:]
            else:
                segments.append(text[at:])
        return segments

    def _segment(self, text: str) -> tuple[str, ...]:
        """Find the path of least cost through the clusters of a text."""
        if not self._trie:
            return (text,)
        clusters = (*self._cluster.findall(text), "")
        count = len(clusters) - 1
        # The least cost up to each cluster, and the start of its last word. Entries past the end cost -1,
        # so that no word is matched beyond it.
        costs = [0] + [(count + 1) * _UNKNOWN_COST] * count + [-1] * _MAX_WORD
        before = [0] * (count + 1)
        for start, trie in enumerate(map(self._trie.get, clusters)):
            node = trie
            cost = costs[start] + 1
            end = start + 1
            if cost - 1 + _UNKNOWN_COST < costs[end]:
                costs[end], before[end] = cost - 1 + _UNKNOWN_COST, start
            while node is not None:
                if isinstance(node, tuple):
                    rest = end
                    end += len(node)
                    if cost < costs[end] and clusters[rest:end] == node:
                        costs[end], before[end] = cost, start
                    break
                if cost < costs[end] and "" in node:
                    costs[end], before[end] = cost, start
                node = node.get(clusters[end])
                end += 1
        segments: list[str] = []
        end = count
        while end:
            segments.append("".join(clusters[before[end] : end]))
            end = before[end]
        return tuple(reversed(segments))

    @cached_property
    def _trie(self) -> _Trie:
        root: _Trie = {}
        for word in self._read().split("\n"):
            if 0 < len(word) <= _MAX_WORD:
                _add_word(root, tuple(map(intern, self._cluster.findall(word))))
        return root


def _add_word(trie: _Trie, word: _Suffix) -> None:
    for at, cluster in enumerate(word, start=1):
        if cluster not in trie:
            trie[cluster] = word[at:]
            return
        subtree = trie[cluster]
        if isinstance(subtree, tuple):
            subtree = trie[cluster] = {subtree[0]: subtree[1:]} if subtree else {"": None}
        assert subtree is not None
        trie = subtree
    trie[""] = None


def _read_thai() -> str:
    return (files("newmm_tokenizer") / "words_th.txt").read_text(encoding="utf-8")


def _read_extra(name: str) -> Callable[[], str]:
    def read() -> str:
        folder = find_extra_fonts()
        if folder is None:
            return ""
        return lzma.decompress((folder / "words" / f"{name}.txt.xz").read_bytes()).decode()

    return read


THAI: Final = Dictionary(
    "\u0e01-\u0e4e",
    "[\u0e40-\u0e44]?[\u0e01-\u0e2e\u0e2f][\u0e30-\u0e3a\u0e45\u0e47-\u0e4e]*",
    _read_thai,
)
LAO: Final = Dictionary(
    "\u0e81-\u0ece\u0edc-\u0edf",
    "[\u0ec0-\u0ec4]?[\u0e81-\u0eaf\u0edc-\u0edf][\u0eb0-\u0ebd\u0ec6\u0ec8-\u0ece]*",
    _read_extra("lao"),
)
# A letter with the consonants below it, its vowels and signs, and the mark that repeats a word.
KHMER: Final = Dictionary(
    "\u1780-\u17d3\u17d7\u17dc\u17dd",
    "[\u1780-\u17b3\u17dc](?:\u17d2[\u1780-\u17b3]|[\u17b4-\u17d1\u17d3\u17d7\u17dd])*",
    _read_extra("khmer"),
)
# A letter with what is stacked on it, its vowels and signs, and the consonants that end its syllable,
# which carry an asat (U+103A).
MYANMAR: Final = Dictionary(
    "\u1000-\u103f\u104c-\u109d\uaa60-\uaa7f",
    "[\u1000-\u102a\u103f\u104c-\u1055\u105a-\u109d\uaa60-\uaa7a]"
    "(?:\u1039[\u1000-\u102a]|[\u102b-\u1038\u103a-\u103e\u1056-\u1059\u105e-\u1060\u1062-\u1064"
    "\u1067-\u106d\u1071-\u1074\u1082-\u108d\u108f\u109a-\u109d\uaa7b-\uaa7d]"
    "|[\u1000-\u102a\u1075-\u1081][\u1037]?\u103a)*",
    _read_extra("myanmar"),
)
DICTIONARIES: Final = (THAI, LAO, KHMER, MYANMAR)


def has_words(text: str) -> bool:
    """Return whether a text contains words of a script without spaces."""
    return any(dictionary.has_words(text) for dictionary in DICTIONARIES)


def segment_words(segments: Iterable[str]) -> list[str]:
    """Split parts of a word further, between the words of scripts without spaces."""
    found = list(segments)
    for dictionary in DICTIONARIES:
        if any(map(dictionary.has_words, found)):
            found = [cut for segment in found for cut in dictionary.segment(segment)]
    return found


OBJECT_REPLACEMENT: Final = "\ufffc"  # stands for an atomic inline

# Characters next to which a line may break, and those after which it may before a word or a bracket.
_BREAK_CHARACTERS: Final = (
    "|\t\u00ad\u00b4\u02c8\u02cc\u02df\u058a\u05be\u0964\u0965\u0e01-\u0e4e\u0e5a\u0e5b\u0e81-\u0ece\u0edc-\u0edf\u0f00-\u0fff\u1000-\u103f\u104a-\u109d\u1361"
    "\u1400\u1680\u16eb-\u16ed\u1735\u1736\u1780-\u17dd\u1800-\u180a\u1b5a-\u1b60\u1c3b-\u1c7f\u1ffd\u2000-\u2006"
    "\u2008-\u200b\u2010\u2012-\u2015\u2024-\u2027\u2056-\u205f\u2140-\u2bff\u2cf9-\u2cff\u2e0e-\u302e\u3030-\ua4ff"
    "\ua60d-\ua60f\ua6f3-\ua6f7\ua874-\ua877\ua8ce-\ua92f\ua9c7-\ua9c9\uaa5d-\uaa7f\uaaf0\uabeb\uf900-\ufaff"
    "\ufe10-\ufe6f\uff00-\uffef\ufffc\U00010100-\U0010ffff"
)
_MAY_BREAK: Final = re.compile(
    rf"[-!?}}/).,:;%\]{_BREAK_CHARACTERS}](?:(?<=[{_BREAK_CHARACTERS}])|(?<=[-/])(?=[^\d ,.:;!?)\]\"'])"
    rf"|(?<=[!?}}])(?=[^ ,.:;!?)\]\"'])|(?=[(\[{{]))"
)
# A break at a space may be prohibited: by a closing character after it, an opening one before it.
_MAY_PROHIBIT: Final = re.compile(
    " (?:(?=[!?,.:;/)\\]}\u00bb\u2019\u201d\u203a\u200b\u2030-\u206f\u0589\u05c6\u060c-\u061f\u06d4\u07f8\u07f9"
    "\u0f0d-\u0f14\u17d6\u1802-\u1809\u1944\u1945\u2046-\u232a\u2762-\u27ef\u2983-\u2e7f\u3001-\u30fe\ua60e\ua876\ua877\ufd3e\ufe10-\ufe6f"
    "\uff01-\uff64\ufeff\u0300-\u036f\U00010100-\U0001ffff])"
    "|(?<=[(\\[{\u00a1\u00bf\u00ab\u2018\u201a\u201b\u201c\u201e\u201f\u2039\u2014\u2045-\u232a\u2768-\u27ef\u2983-\u2e7f"
    "\u0f3a-\u0f3d\u169b\u3008-\u301d\ufd3f\ufe17-\ufe5d\uff08-\uff62}\\]\u0300-\u036f\\\"')\u2060\ufeff\u00a0\u2007\u202f] ))"
)

# --- classes of characters, one letter each ------------------------------------------------------------

_LETTERS: Final = {
    "AL": "a", "B2": "2", "BA": "b", "BB": "B", "BK": "k", "CB": "C", "CL": "c", "CM": "m", "CP": "p", "CPW": "P",
    "CR": "k", "EB": "E", "EM": "M", "EX": "x", "GL": "G", "HL": "H", "HY": "h", "ID": "I", "IN": "i", "IS": ",",
    "LF": "k", "NL": "k", "NS": "n", "NU": "9", "OP": "o", "OPW": "O", "PO": "%", "PR": "$", "QU": "q", "QUF": "f",
    "QUI": "l", "RI": "R", "SP": "s", "SY": "/", "WJ": "W", "ZW": "0", "ZWJ": "z",
}  # fmt: skip
_SOFT, _DASH = "-", "d"  # of class BA: the soft hyphen, and dashes
_CLASSES: Final = "a2bBkCcpPEMxGHhIi,n9oO%$qflRs/W0-d"
_MARKED: Final = re.compile("([^ks0mz])([mz]+)|[mz]")  # rules LB9 and LB10
_TEXT: Final = frozenset("aH")


@cache
def _table() -> CharacterTable:
    table = CharacterTable("workers.engine.layout.lines", "line_classes.txt", _LETTERS, rest="a")
    table |= {0xAD: _SOFT, 0x2010: _DASH, 0x2012: _DASH, 0x2013: _DASH}
    return table


@cache
def _pairs() -> frozenset[str]:
    """Return the pairs of classes between which a break is allowed."""
    return frozenset(
        left + right for left in _CLASSES for right in _CLASSES if _may_break(left, right)
    )


def _may_break(left: str, right: str) -> bool:
    """Apply the rules on pairs of classes in their order."""
    for lefts, rights, may in _RULES:
        if (not lefts or left in lefts) and (not rights or right in rights):
            return may
    return True


# The classes before and after a position, "" for any, and whether a break is allowed there.
_RULES: Final = (
    ("k", "", True),  # LB4, LB5
    ("", "ks0", False),  # LB6, LB7
    ("0", "", True),  # LB8
    ("z", "", False),  # LB8a
    ("", "W", False), ("W", "", False),  # LB11
    ("G", "", False),  # LB12
    ("sbhd-", "G", True), ("", "G", False),  # LB12a
    ("", "cpPx,/", False),  # LB13
    ("oO", "", False),  # LB14
    ("cpP", "n", False),  # LB16
    ("IPcxn", "l", True), ("f", "IOlE", True),  # LB19a
    ("", "qlf", False), ("qlf", "", False),  # LB19
    ("C", "", True), ("", "C", True),  # LB20
    ("", "bhd-2n", False), ("B", "", False),  # LB21
    ("/", "H", False),  # LB21b
    ("", "i", False),  # LB22
    ("aH", "9", False), ("9", "aH", False),  # LB23
    ("$", "IEM", False), ("IEM", "%", False),  # LB23a
    ("$%", "aH", False), ("aH", "$%", False),  # LB24
    ("cpP9", "%$", False), ("%$", "oO9", False), ("h,9/", "9", False),  # LB25
    ("$", "$", False),  # a minus sign and its currency
    ("aH", "aH", False),  # LB28
    (",", "aH", False),  # LB29
    ("aH9", "o", False), ("p", "aH9", False),  # LB30
    ("E", "M", False),  # LB30b
)  # fmt: skip


# --- inside of words -----------------------------------------------------------------------------------


def may_break_inside(text: str) -> bool:
    """Return quickly whether words of a text may have opportunities inside; false positives occur."""
    return _MAY_BREAK.search(text) is not None


def split_at_opportunities(word: str, *, before_kana: bool = False) -> list[str]:
    """Split a word at every opportunity inside it; `before_kana` of any size."""
    if not _MAY_BREAK.search(word):
        return [word]
    if len(word) > _MAX_CACHED_LENGTH:
        return _split(word, before_kana)
    return list(_split_cached(word, before_kana))


def _split(word: str, before_kana: bool) -> list[str]:
    if THAI.matches_all(word):
        return THAI.segment(word)
    breaks = _find_breaks(_enlarge_kana(word) if before_kana else word)
    parts = [word[start:end] for start, end in pairwise((0, *breaks, len(word)))]
    return segment_words(parts) if has_words(word) else parts


def _enlarge_kana(text: str) -> str:
    """Return a text of equal length with a character of class ID for each that may begin a line under `normal`."""
    return _SMALL_KANA.sub("\u3042", text)


# Of class CJ, and what joins words.
_SMALL_KANA: Final = re.compile(
    "[\u3041\u3043\u3045\u3047\u3049\u3063\u3083\u3085\u3087\u308e\u3095\u3096\u30a1\u30a3\u30a5\u30a7\u30a9\u30c3"
    "\u30e3\u30e5\u30e7\u30ee\u30f5\u30f6\u30fc\u31f0-\u31ff\uff67-\uff70\u301c\u30a0]"
)


_MAX_CACHED_LENGTH: Final = 40
_split_cached = lru_cache(maxsize=10_000)(_split)


def _find_breaks(word: str) -> list[int]:
    """Return the positions of the opportunities inside a word."""
    classes = word.translate(_table())
    if "m" in classes or "z" in classes:
        classes = _MARKED.sub(_absorb_marks, classes)
        if "_" in classes or "z" in classes:
            return _find_breaks_around_marks(word, classes)
    return _find_breaks_in(word, classes)


def _find_breaks_in(word: str, classes: str) -> list[int]:
    may = map(_pairs().__contains__, map(add, classes, classes[1:]))
    breaks = list(compress(range(1, len(classes)), may))
    if breaks and _IN_CONTEXT.search(classes):
        breaks = _filter_by_context(word, classes, breaks)
    return breaks


def _absorb_marks(match: re.Match[str]) -> str:
    """Assign combining marks the class of their base (LB9); a final joiner prohibits a break after it."""
    if match[1] is None:
        return "z" if match[0] == "z" else "a"
    return match[1] + "_" * (len(match[2]) - 1) + ("z" if match[2][-1] == "z" else "_")


def _find_breaks_around_marks(word: str, classes: str) -> list[int]:
    """Return the opportunities of a word with combining marks, found in the word without them."""
    starts = [at for at, letter in enumerate(classes) if letter not in "_z"]
    bare = "".join(classes[at] for at in starts)
    breaks = (starts[at] for at in _find_breaks_in("".join(word[at] for at in starts), bare))
    return [at for at in breaks if classes[at - 1] != "z"]


_IN_CONTEXT: Final = re.compile("[hd2xi/HR]")
_BEGINNING: Final = re.compile("[oOqlf]*[hdb2xi]*")
_FLAGS: Final = re.compile("RR+")


def _filter_by_context(word: str, classes: str, breaks: list[int]) -> list[int]:
    """Remove the positions that rules on more than two classes prohibit."""
    beginning = _BEGINNING.match(classes)
    first = beginning.end() if beginning else 0
    in_flags = {
        at for row in _FLAGS.finditer(classes) for at in range(row.start() + 1, row.end(), 2)
    }
    return [
        at
        for at in breaks
        if at not in in_flags  # LB30a
        and not (at <= first and classes[at - 1] in "hd2xi")  # LB20a
        and not (classes[at - 1] in "hdb-" and classes[at - 2 : at - 1] == "H")  # LB21a
        and not (classes[at - 1] == "/" and not _is_between_words(word, at))
    ]


def _is_between_words(word: str, at: int) -> bool:
    """Return whether a slash has two letters before it and two after it."""
    return (
        word[max(at - 3, 0) : at - 1].isalpha()
        and at > 2
        and word[at : at + 2].isalpha()
        and at + 2 <= len(word)
    )


# --- at spaces, and between texts of different styles ---------------------------------------------------


def may_prohibit_break(text: str) -> bool:
    """Return quickly whether a break may be prohibited at a space of a text; false positives occur."""
    return _MAY_PROHIBIT.search(text) is not None


def find_no_break_spaces(words: Sequence[str]) -> list[int]:
    """Return the indexes of the words after whose space a break is prohibited."""
    text = " ".join(words)
    prohibited = []
    number = at = 0
    for match in _MAY_PROHIBIT.finditer(text):
        number += text.count(" ", at, match.start())
        at = match.start()
        if prohibits_break(words[number], words[number + 1]):
            prohibited.append(number)
    return prohibited


def prohibits_break(before: str, after: str) -> bool:
    """Return whether a break is prohibited at the spaces between two words."""
    left, right = (
        _classes_without_marks(before[-_CONTEXT_LENGTH:]),
        _classes_without_marks(after[:_CONTEXT_LENGTH]),
    )
    last, first = left[-1:], right[:1]
    if first == "0":
        return True  # LB7
    if last == "0":
        return False  # LB8
    if first == "W" or (first and first in "cpPx/"):
        return True  # LB11, LB13
    if first == ",":
        return right[1:2] != "9"  # LB15c
    if last and last in "oO":
        return True  # LB14
    if last == "l" and (len(left) == 1 or left[-2] in "oOqlfG"):
        return True  # LB15a
    if first == "f" and (len(right) == 1 or right[1] in "GWcqlfpPx,/k0"):
        return True  # LB15b
    if last and last in "qlf" and first and first in "oO":
        return True  # LB15
    if last and last in "cpP" and first == "n":
        return True  # LB16
    return last == first == "2"  # LB17


def may_break_between(before: str, after: str, *, before_kana: bool = False) -> bool:
    """Return whether a break is allowed between two adjacent texts of different styles."""
    table = _table()
    if before_kana:
        before, after = _enlarge_kana(before), _enlarge_kana(after)
    pair = table[ord(before[-1])] + table[ord(after[0])]
    if not _NEEDS_CONTEXT.search(pair):
        return pair in _pairs()
    joined = before[-_CONTEXT_LENGTH:] + after[:_CONTEXT_LENGTH]
    return min(len(before), _CONTEXT_LENGTH) in _find_breaks(joined)


_NEEDS_CONTEXT: Final = re.compile("[mz]|[-bhd2xi/R].")
_CONTEXT_LENGTH: Final = 20  # characters considered on each side


def _classes_without_marks(word: str) -> str:
    """Return the classes of a word without its combining marks."""
    classes = word.translate(_table())
    if "m" in classes or "z" in classes:
        return re.sub("[_z]", "", _MARKED.sub(_absorb_marks, classes))
    return classes


# --- expressions whose spaces hold them together: 10 km, § 5, Nr. 3, 24. Dezember, 12 345,60 --------


_WORDS: Final = {
    name: words.split() for name, words in read_table(__package__, "bound_spaces.txt").items()
}
_UNITS: Final = _WORDS["units"]
_SOFT_HYPHEN: Final = "\u00ad"
# No expression has neither a digit nor an abbreviation of one letter.
_MAY_BIND: Final = re.compile(r"\d|\b[^\W\d_]\. ")
_DIGIT: Final = re.compile(r"\d")
# Numbers of groups of three digits, not lists of such, and IBANs in their printed form (ISO 13616).
_GROUPED: Final = re.compile(
    r"(?<![\w.,])(?<!\d )\d{1,3}(?: \d{3}){1,4}(?!\w| \d)|\b[A-Z]{2}\d\d(?: [A-Z\d]{4}){2,7}(?: [A-Z\d]{1,3})?\b"
)
_SPACE: Final = re.compile(" ")


def may_bind_spaces(text: str) -> bool:
    """Return quickly whether spaces of a text may belong to expressions; false positives occur."""
    return ". " in text or _DIGIT.search(text) is not None


def find_bound_spaces(words: Sequence[str], lang: str) -> list[int]:
    """Return the indexes of the words after whose space no line ends, by the rules of a language."""
    text = " ".join(words)
    if not _MAY_BIND.search(text):
        return []
    text = text.replace(_SOFT_HYPHEN, "")
    spaces = {match.start() for match in _find_pattern(lang[:2].lower()).finditer(text)}
    for match in _GROUPED.finditer(text):
        spaces.update(space.start() for space in _SPACE.finditer(text, *match.span()))
    bound = []
    number = at = 0
    for space in sorted(spaces):
        number += text.count(" ", at, space)
        at = space
        bound.append(number)
    return bound


@cache
def _find_pattern(language: str) -> re.Pattern[str]:
    """Return a pattern that matches the spaces of expressions in a language.

    It starts with what is quick to look for: a space, then a number after it.
    """
    words = [*_WORDS["signs"], *_WORDS.get(f"before {language}", ())]
    before = [rf"(?<=(?<!\w){re.escape(word)} )" for word in words]
    after = [rf"(?<=\d )(?=(?:{_any_of(_UNITS)})(?![\w/²³]))"]
    if months := _WORDS.get(f"months {language}", []):
        after += [
            rf"(?<=\d{re.escape(ending)} )(?=(?:{_any_of(months)})(?!\w))"
            for ending in ("", ".", *_WORDS.get(f"ordinals {language}", ()))
        ]
    if language == "en":  # 24 after its month
        before += [rf"(?<=\b{month} )(?=\d{{1,2}}\b)" for month in months]
    if language in ("de", "nl"):  # z. B., u. a. O.
        after.append(r"(?<=\b[^\W\d_]\. )(?=[^\W\d_]\.)")
    return re.compile(f" (?:(?=\\d)(?:{'|'.join(before)})|{'|'.join(after)})")


def _any_of(words: Iterable[str]) -> str:
    return "|".join(map(re.escape, sorted(words, key=len, reverse=True)))
