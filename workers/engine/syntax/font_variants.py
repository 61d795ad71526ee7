"""OpenType features: the `font-variant-*` properties of CSS Fonts 4 §6 and their feature tags."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from workers.engine.syntax.values import ValueType

MAX_FEATURES: Final = 20  # tags that one attribute sets
_MAX_VALUE: Final = 1000  # index of an alternate; fonts have some dozens

Features = tuple[tuple[str, int], ...]

# CSS Fonts 4 §6.4 to §6.7: the tags of each keyword.
CAPS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "normal": (),
        "small-caps": ("smcp",),
        "all-small-caps": ("smcp", "c2sc"),
        "petite-caps": ("pcap",),
        "all-petite-caps": ("pcap", "c2pc"),
        "unicase": ("unic",),
        "titling-caps": ("titl",),
    }
)
POSITIONS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {"normal": (), "sub": ("subs",), "super": ("sups",)}
)
LIGATURES: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "common-ligatures": ("liga", "clig"),
        "discretionary-ligatures": ("dlig",),
        "historical-ligatures": ("hlig",),
        "contextual": ("calt",),
    }
)
_NUMERIC_GROUPS: Final = (
    {"lining-nums": "lnum", "oldstyle-nums": "onum"},
    {"proportional-nums": "pnum", "tabular-nums": "tnum"},
    {"diagonal-fractions": "frac", "stacked-fractions": "afrc"},
    {"ordinal": "ordn"},
    {"slashed-zero": "zero"},
)
NUMERIC: Final = tuple(word for group in _NUMERIC_GROUPS for word in group)
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
    {
        "font-variant-caps",
        "font-variant-numeric",
        "font-variant-position",
        "font-variant-ligatures",
        "font-features",
    }
)


def read_numeric(text: str) -> tuple[str, ...]:
    """Parse `font-variant-numeric` into tags (CSS Fonts 4 §6.7).

    Raises:
        ValueError: a keyword is unknown or repeated, or two are mutually exclusive.
    """
    if text == "normal":
        return ()
    words = text.split()
    found = [
        [group[word] for word in words if word in group]  # at most one of each group
        for group in _NUMERIC_GROUPS
    ]
    tags = tuple(tag for group in found for tag in group)
    if not tags or len(tags) != len(words) or any(len(group) > 1 for group in found):
        raise ValueError(text)
    return tags


def read_ligatures(text: str) -> tuple[str, ...]:
    """Parse `font-variant-ligatures` into tags (CSS Fonts 4 §6.4).

    Raises:
        ValueError: a keyword is unknown or repeated.
    """
    if text == "none":
        return ()
    if text == "normal":
        return NORMAL_LIGATURES
    words = text.split()
    if not words or len(set(words)) != len(words) or not LIGATURES.keys() >= set(words):
        raise ValueError(text)
    return tuple(tag for word in words for tag in LIGATURES[word])


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


NUMERIC_KIND: Final = ValueType(
    f"normal, or some of {', '.join(NUMERIC)} that do not exclude each other", read_numeric
)
LIGATURES_KIND: Final = ValueType(
    f"normal, none, or some of {', '.join(LIGATURES)}", read_ligatures
)
FEATURES_KIND: Final = ValueType(
    f"normal, or at most {MAX_FEATURES} OpenType tags and values, such as 'ss01', 'cv05' 2, 'kern' off",
    read_features,
)
