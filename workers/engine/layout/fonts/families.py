"""The fixed font set: its families, and which face each character of a text is set in."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from functools import cache, lru_cache
from importlib.resources import files
from typing import Final, NamedTuple

import uharfbuzz as hb

from workers.engine.layout.fonts.faces import Face, Traits

SANS: Final = "Noto Sans"
SERIF: Final = "Noto Serif"
MONO: Final = "JetBrains Mono"
JAPANESE: Final = "Noto Sans JP"
SIMPLIFIED: Final = "Noto Sans SC"
TRADITIONAL: Final = "Noto Sans TC"
KOREAN: Final = "Noto Sans KR"
SYMBOLS: Final = "Noto Sans Symbols 2"

ALIASES: Final = {"sans-serif": SANS, "serif": SERIF, "monospace": MONO}

# The names that the same designs have in the packages of other systems.
OTHER_NAMES: Final = {
    "noto sans cjk jp": JAPANESE,
    "noto sans cjk sc": SIMPLIFIED,
    "noto sans cjk tc": TRADITIONAL,
    "noto sans cjk kr": KOREAN,
}


class _Script(NamedTuple):
    """A family for the characters of one script, and the pattern of a text that has some."""

    family: str
    has: re.Pattern[str]


_SCRIPTS: Final = (
    _Script("Noto Sans Arabic", re.compile("[\u0600-\u06ff\u0750-\u077f\u0870-\u08ff\ufb50-\ufdff\ufe70-\ufefc]")),
    _Script("Noto Sans Hebrew", re.compile("[\u0590-\u05ff\ufb1d-\ufb4f]")),
    _Script("Noto Sans Devanagari", re.compile("[\u0900-\u097f\u1cd0-\u1cff\ua8e0-\ua8ff]")),
    _Script("Noto Sans Bengali", re.compile("[\u0980-\u09ff]")),
    _Script("Noto Sans Tamil", re.compile("[\u0b80-\u0bff]")),
    _Script("Noto Sans Thai", re.compile("[\u0e00-\u0e7f]")),
    # Miscellaneous Symbols and Dingbats: boxes and ticks of one design, though others have some.
    _Script(SYMBOLS, re.compile("[\u2600-\u27bf]")),
)  # fmt: skip

_GENERAL: Final = (SANS, SERIF, MONO)
FAMILIES: Final = (
    *_GENERAL,
    *(script.family for script in _SCRIPTS if script.family != SYMBOLS),
    JAPANESE,
    SIMPLIFIED,
    TRADITIONAL,
    KOREAN,
    SYMBOLS,
)
_WITHOUT_BOLD: Final = frozenset({JAPANESE, SIMPLIFIED, TRADITIONAL, KOREAN, SYMBOLS})

_BY_NAME: Final[dict[str, str]] = (
    {name.casefold(): name for name in FAMILIES} | ALIASES | OTHER_NAMES
)

BOLD_FROM: Final = 600  # CSS Fonts 4, 5.2: with 400 and 700 at hand, 600 and more choose bold
_MAX_CHARACTERS: Final = 8_000  # kept for each chain of families; a long Chinese text has half

_EAST_ASIAN: Final = re.compile(
    "[\u1100-\u11ff\u2e80-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef\U00020000-\U0003ffff]"
)
_KANA: Final = re.compile("[\u3040-\u30ff\u31f0-\u31ff\uff66-\uff9f]")
_HANGUL: Final = re.compile("[\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff]")
_BOPOMOFO: Final = re.compile("[\u3105-\u312f\u31a0-\u31bf]")

# Characters are unified across China, Japan and Korea, but drawn differently in each: the families
# of a language, best first. What the first has not, another mostly has.
_BY_REGION: Final = {
    "ja": (JAPANESE, TRADITIONAL, SIMPLIFIED, KOREAN),
    "ko": (KOREAN, JAPANESE, TRADITIONAL, SIMPLIFIED),
    "zh-hant": (TRADITIONAL, JAPANESE, SIMPLIFIED, KOREAN),
    "zh": (SIMPLIFIED, TRADITIONAL, JAPANESE, KOREAN),
}
_TRADITIONAL_TAGS: Final = frozenset({"hant", "tw", "hk", "mo"})

# What belongs to its neighbour before it, whichever face would be first: spaces, joiners, dandas.
_STICKY: Final = " \u00a0\u0964\u0965\u200c\u200d\u202f"


def find_face(families: tuple[str, ...], weight: int, is_italic: bool) -> Face:
    """Find the face of the first family of the set that is named, of the nearest weight.

    A family that is not of the set is passed over; with none at all it is Noto Sans.
    """
    return _chain(families, weight >= BOLD_FROM, is_italic, "zh").first


def split_by_face(
    families: tuple[str, ...], weight: int, is_italic: bool, text: str, lang: str = "en"
) -> list[tuple[Face, str]]:
    """Cut `text` into runs of the first face that has each character: the families, then the set.

    Of the set comes first the family of the character's script, for Chinese characters that of
    `lang`. A character that no face has stays with the first face, which draws its empty box;
    `find_missing` tells which these are.
    """
    is_bold = weight >= BOLD_FROM
    return split_by_chain(lambda region: _chain(families, is_bold, is_italic, region), text, lang)


def split_by_chain(
    find_chain: Callable[[str], Chain], text: str, lang: str
) -> list[tuple[Face, str]]:
    """Cut `text` into runs of one face each by the chain for the region whose ideographs it has."""
    chain = find_chain("zh")
    if chain.first.covers_all(text):
        return [(chain.first, text)]
    if _EAST_ASIAN.search(text):
        chain = find_chain(_find_region(lang, text))
    only = _find_only_face(chain, text)
    if only is not None:
        return [(only, text)]
    return list(_cut_by_face(chain, text))


def find_missing(text: str) -> str:
    """Give the characters of `text` that no family of the set has, each once, in order."""
    return find_missing_in(_chain((), False, False, "zh"), text)


def find_missing_in(chain: Chain, text: str) -> str:
    """Return the characters of `text` that no face of a chain has, each once, in order."""
    if chain.first.covers_all(text):
        return ""
    missing = {char for char in set(text) if chain[char] is None}
    return "".join(char for char in dict.fromkeys(text) if char in missing) if missing else ""


class Chain(dict[str, "Face | None"]):
    """The face of each character, None for one that no face has, found when it is first met.

    `named` are families of the house, or faces; `spare` are faces asked after all others. Faces of
    the house are loaded when a character asks for them: a Latin document never reads another font.
    """

    def __init__(
        self,
        named: Iterable[str | Face],
        *,
        is_bold: bool,
        is_italic: bool,
        region: str,
        spare: Iterable[Face] = (),
    ) -> None:
        super().__init__()
        self._named = tuple(named)
        self._spare = tuple(spare)
        self._is_bold = is_bold
        self._is_italic = is_italic
        self._region = region
        self.first = self._load((*self._named, SANS)[0])

    def __missing__(self, char: str) -> Face | None:
        if len(self) >= _MAX_CHARACTERS:
            self.clear()
        families = dict.fromkeys(self._list_families(char))
        found = next((face for face in map(self._load, families) if face.covers(char)), None)
        self[char] = found
        return found

    def _list_families(self, char: str) -> Iterator[str | Face]:
        yield from self._named
        yield from (script.family for script in _SCRIPTS if script.has.match(char))
        east_asian = _BY_REGION[self._region]
        if _EAST_ASIAN.match(char):
            yield from (family for family in _own_families(char))
            yield from east_asian
        yield from _GENERAL
        yield from east_asian  # they have many signs and symbols that no other has
        yield from FAMILIES
        yield from self._spare

    def _load(self, family: str | Face) -> Face:
        if isinstance(family, Face):
            return family
        return _face(family, self._is_bold, self._is_italic and family in _GENERAL)


@cache
def _face(family: str, is_bold: bool, is_italic: bool) -> Face:
    has_bold = family not in _WITHOUT_BOLD
    stem = family.replace(" ", "")
    file = f"{stem}-{_style_name(is_bold and has_bold, is_italic)}.ttf"
    path = files("workers.engine.layout") / "typefaces" / file
    return Face(
        family,
        hb.Face(hb.Blob.from_file_path(str(path))),  # mapped: workers share it
        name=f"{stem}-{_style_name(is_bold, is_italic)}",
        traits=Traits(
            is_bold=is_bold,
            is_italic=is_italic,
            is_emboldened=is_bold and not has_bold,
            is_general=family in _GENERAL,
            is_ideographic=family in (JAPANESE, SIMPLIFIED, TRADITIONAL),
        ),
    )


def _style_name(is_bold: bool, is_italic: bool) -> str:
    return ("Bold" if is_bold else "") + ("Italic" if is_italic else "") or "Regular"


@lru_cache(maxsize=64)
def _chain(families: tuple[str, ...], is_bold: bool, is_italic: bool, region: str) -> Chain:
    known = filter(None, map(find_family, families))
    return Chain(dict.fromkeys(known), is_bold=is_bold, is_italic=is_italic, region=region)


def find_family(name: str) -> str | None:
    """Return the family of the house that goes by a name; None for none."""
    return _BY_NAME.get(name.casefold())


def _find_only_face(chain: Chain, text: str) -> Face | None:
    """Find the one face that all of a text is set in, but for what sticks to it; None for several."""
    characters = set(text)
    faces = {chain[char] for char in characters.difference(_STICKY)}
    if len(faces) != 1:
        return None
    face = faces.pop()
    return face if face is not None and face.covers_all("".join(characters)) else None


def _cut_by_face(chain: Chain, text: str) -> Iterator[tuple[Face, str]]:
    face = chain[text[0]] or chain.first
    start = 0
    for at, own in enumerate(map(chain.__getitem__, text)):
        if own is face or (own or chain.first) is face:
            continue
        if _sticks(text[at]) and (face.covers(text[at]) or _is_composed(face, text, at)):
            continue
        yield face, text[start:at]
        face, start = own or chain.first, at
    yield face, text[start:]


def _sticks(char: str) -> bool:
    return char in _STICKY or unicodedata.category(char)[0] == "M"


def _is_composed(face: Face, text: str, at: int) -> bool:
    """Report whether a face has a mark with the letter before it as one character: shaping joins them."""
    joined = unicodedata.normalize("NFC", text[max(at - 1, 0) : at + 1])
    return len(joined) == 1 and face.covers(joined)


def _own_families(char: str) -> Iterator[str]:
    """Give the family of the one language that writes a character, if there is one."""
    if _KANA.match(char):
        yield JAPANESE
    if _HANGUL.match(char):
        yield KOREAN
    if _BOPOMOFO.match(char):
        yield TRADITIONAL


def _find_region(lang: str, text: str) -> str:
    """Find whose Chinese characters a text is written in: its language's, else by its other signs."""
    primary, *rest = lang.lower().split("-")
    if primary in ("zh", "yue", "lzh", "wuu", "nan", "hak"):
        is_traditional = primary == "yue" or not _TRADITIONAL_TAGS.isdisjoint(rest)
        return "zh-hant" if is_traditional and "hans" not in rest else "zh"
    if primary in _BY_REGION:
        return primary
    if _KANA.search(text):
        return "ja"
    if _HANGUL.search(text):
        return "ko"
    return "zh-hant" if _BOPOMOFO.search(text) else "zh"
