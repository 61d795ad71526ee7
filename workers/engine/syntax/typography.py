"""Values of `hanging-punctuation`, `initial-letter` and `line-grid`, and of the properties of OpenType features.

The `font-variant-*` properties of CSS Fonts 4 §6 stand for feature tags.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from typing import Any, Final, NamedTuple

from workers.engine.syntax.values import ValueType, count, length
from workers.engine.units import Length

OPTICAL: Final = "optical"
MAX_INITIAL_LINES: Final = 20
MIN_GRID_STEP: Final = 4.0  # points
_GRID_STEP: Final = length(low=MIN_GRID_STEP, high=200)


def _several(
    groups: Sequence[Mapping[str, Sequence[str]]], alone: Mapping[str, tuple[str, ...]]
) -> Callable[[str], tuple[str, ...]]:
    """Return a parser of words, at most one of each group, or of one that stands `alone`, into their values."""

    def read(text: str) -> tuple[str, ...]:
        if text in alone:
            return alone[text]
        words = text.split()
        found = [[group[word] for word in words if word in group] for group in groups]
        if not words or sum(map(len, found)) < len(words) or max(map(len, found)) > 1:
            raise ValueError(text)
        return tuple(value for each in found for values in each for value in values)

    return read


_ENDS: Final = ("allow-end", "force-end")
_HANGING: Final = tuple(
    {word: (word,) for word in words} for words in (("first",), _ENDS, ("last",))
)
HANGING_KIND: Final = ValueType(  # CSS Text 4 §9.2
    f"none, optical, or some of first, {', '.join(_ENDS)}, last (one of {' and '.join(_ENDS)})",
    _several(_HANGING, {"none": (), OPTICAL: (OPTICAL,)}),
)


_LIMIT: Final = count(1, 99)
_NO_LIMIT: Final = "no-limit"


def _read_limit(word: str) -> int | None:
    return None if word == "auto" else _LIMIT.read(word)


def _read_limit_chars(text: str) -> tuple[int | None, int | None, int | None]:
    """Return the letters of a word, before and after a hyphen; None is `auto` (CSS Text 4 §6.3.3).

    A missing third value is the second, a missing second one `auto`.
    """
    words = text.split()
    if not 1 <= len(words) <= 3:
        raise ValueError(text)
    total, before, after = [*words, *(words[1:] or ["auto"]), "auto"][:3]
    return _read_limit(total), _read_limit(before), _read_limit(after)


LIMIT_CHARS_KIND: Final = ValueType(
    "one to three of auto and numbers from 1 to 99, such as 6 3 3", _read_limit_chars
)
LIMIT_LINES_KIND: Final = ValueType(  # CSS Text 4 §6.3.4; 0 for `no-limit`
    "no-limit or a number from 1 to 99",
    lambda text: 0 if text == _NO_LIMIT else _LIMIT.read(text),
    (_NO_LIMIT,),
)


_INITIAL: Final = re.compile(r"(\d{1,2}(?:\.\d{1,3})?)(?:\s+(\d{1,2}|drop|raise))?", re.ASCII)


def _read_initial_letter(text: str) -> tuple[float, int] | tuple[()]:
    """Return the size and the sink of a letter in lines (CSS Inline 3 §7.3), () for `normal`."""
    if text == "normal":
        return ()
    match = _INITIAL.fullmatch(text)
    if match is None:
        raise ValueError(text)
    size = float(match[1])
    sink = {None: int(size), "drop": int(size), "raise": 1}.get(match[2])
    sink = int(match[2]) if sink is None else sink
    if not (1 <= size <= MAX_INITIAL_LINES and 1 <= sink <= MAX_INITIAL_LINES):
        raise ValueError(text)
    return size, sink


INITIAL_LETTER_KIND: Final = ValueType(
    f"normal, or a height in lines from 1 to {MAX_INITIAL_LINES} and the line that the letter stands on: a number, drop or raise",
    _read_initial_letter,
)


LINE_GRID_KIND: Final = ValueType(  # the distance of its lines, 0 for `none`
    "none, or {}",
    lambda text: Length(0.0) if text == "none" else _GRID_STEP.read(text),
    parts=(_GRID_STEP,),
)


MAX_FEATURES: Final = 20  # tags that one attribute sets
_MAX_VALUE: Final = 1000  # index of an alternate; fonts have some dozens

Features = tuple[tuple[str, int], ...]

# CSS Fonts 4 §6.4 to §6.7: the tags of each keyword.
CAPS: Final[Mapping[str, tuple[str, ...]]] = {
    "normal": (),
    "small-caps": ("smcp",),
    "all-small-caps": ("smcp", "c2sc"),
    "petite-caps": ("pcap",),
    "all-petite-caps": ("pcap", "c2pc"),
    "unicase": ("unic",),
    "titling-caps": ("titl",),
}
POSITIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "normal": (),
    "sub": ("subs",),
    "super": ("sups",),
}
_LIGATURES: Final = (
    {"common-ligatures": ("liga", "clig")},
    {"discretionary-ligatures": ("dlig",)},
    {"historical-ligatures": ("hlig",)},
    {"contextual": ("calt",)},
)
_NUMERIC: Final = (
    {"lining-nums": ("lnum",), "oldstyle-nums": ("onum",)},
    {"proportional-nums": ("pnum",), "tabular-nums": ("tnum",)},
    {"diagonal-fractions": ("frac",), "stacked-fractions": ("afrc",)},
    {"ordinal": ("ordn",)},
    {"slashed-zero": ("zero",)},
)
_FEATURE: Final = re.compile(r"(['\"])([A-Za-z0-9]{4})\1(?:\s+(on|off|\d{1,4}))?", re.ASCII)


NORMAL_LIGATURES: Final = ("normal",)
COMMON_LIGATURES: Final[Features] = (("clig", 1), ("liga", 1))


class FontVariants(NamedTuple):
    """Values of `font-variant-*` and `font-features`, as OpenType feature tags."""

    caps: tuple[str, ...] = ()
    numeric: tuple[str, ...] = ()
    position: tuple[str, ...] = ()
    ligatures: tuple[str, ...] = NORMAL_LIGATURES
    features: Features = ()
    is_in_table: bool = False

    def apply_properties(self, properties: Mapping[str, Any], *, in_table: bool) -> FontVariants:
        """Return the variants of an element: its own properties override the inherited ones."""
        get = properties.get
        return FontVariants(
            caps=CAPS.get(get("font-variant-caps"), self.caps),  # type: ignore[arg-type]
            numeric=get("font-variant-numeric", self.numeric),
            position=POSITIONS.get(get("font-variant-position"), self.position),  # type: ignore[arg-type]
            ligatures=get("font-variant-ligatures", self.ligatures),
            features=get("font-features", self.features),
            is_in_table=self.is_in_table or in_table,
        )

    def list_features(self) -> Features:
        """Return sorted pairs of tag and value; `font-features` overrides the other properties.

        In tables figures are tabular (`tnum`) unless `proportional-nums` is set.
        """
        ligatures = () if self.ligatures == NORMAL_LIGATURES else self.ligatures
        tags = (*self.caps, *self.numeric, *self.position, *ligatures)
        chosen = dict.fromkeys(tags, 1)
        if self.is_in_table and "pnum" not in chosen:
            chosen["tnum"] = 1
        return tuple(sorted((chosen | dict(self.features)).items()))

    def list_ligatures(self) -> Features:
        """Return the common ligatures if they are used wherever a font has them.

        They are in all text but that of tables, unless they are switched off or stated.
        """
        is_stated = any(tag in ("liga", "clig") for tag, _ in self.features)
        is_off = not self.ligatures or self.is_in_table or is_stated or "liga" in self.ligatures
        return () if is_off else COMMON_LIGATURES


VARIANT_PROPERTIES: Final = frozenset(
    (
        "font-features",
        *(f"font-variant-{of}" for of in ("caps", "numeric", "position", "ligatures")),
    )
)


def read_features(text: str) -> Features:
    """Parse `font-features`, in the syntax of `font-feature-settings` (CSS Fonts 4 §6.12).

    Raises:
        ValueError: the text is not a list of tags with values, or a tag is repeated.
    """
    if text == "normal":
        return ()
    found: dict[str, int] = {}
    entries = text.split(",")
    for entry in entries:
        match = _FEATURE.fullmatch(entry.strip())
        if match is None or match[2] in found:
            raise ValueError(text)
        value = {None: 1, "on": 1, "off": 0}.get(match[3])
        found[match[2]] = int(match[3]) if value is None else value
    if len(found) > MAX_FEATURES or max(found.values()) > _MAX_VALUE:
        raise ValueError(text)
    return tuple(sorted(found.items()))


NUMERIC_KIND: Final = ValueType(  # CSS Fonts 4 §6.7
    f"normal, or some of {', '.join(chain(*_NUMERIC))} that do not exclude each other",
    _several(_NUMERIC, {"normal": ()}),
)
LIGATURES_KIND: Final = ValueType(  # CSS Fonts 4 §6.4
    f"normal, none, or some of {', '.join(chain(*_LIGATURES))}",
    _several(_LIGATURES, {"none": (), "normal": NORMAL_LIGATURES}),
)
FEATURES_KIND: Final = ValueType(
    f"normal, or at most {MAX_FEATURES} OpenType tags and values, such as 'ss01', 'cv05' 2, 'kern' off",
    read_features,
)
