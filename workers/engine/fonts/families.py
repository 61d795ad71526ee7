"""The fixed font set: its families, and the fallback from face to face for each character."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from functools import cache, cached_property
from importlib.resources import files
from importlib.resources.abc import Traversable
from importlib.util import find_spec
from typing import Final, NamedTuple

import uharfbuzz as hb

from workers.engine.fonts.faces import Face, Traits

SANS: Final = "Noto Sans"
SERIF: Final = "Noto Serif"
MONO: Final = "JetBrains Mono"
JAPANESE: Final = "Noto Sans JP"
SIMPLIFIED: Final = "Noto Sans SC"
TRADITIONAL: Final = "Noto Sans TC"
KOREAN: Final = "Noto Sans KR"
SYMBOLS: Final = "Noto Sans Symbols 2"
EMOJI: Final = "Noto Emoji"  # one colour, in pressroom-fonts
LIBERATION: Final = "Liberation Sans"  # one of the four fonts that a QR-bill may use

GENERIC_FAMILIES: Final = {"sans-serif": SANS, "serif": SERIF, "monospace": MONO}

# Names of the same designs in the packages of other systems.
FAMILY_ALIASES: Final = {
    "Noto Sans CJK JP": JAPANESE,
    "Noto Sans CJK SC": SIMPLIFIED,
    "Noto Sans CJK TC": TRADITIONAL,
    "Noto Sans CJK KR": KOREAN,
}


class _Script(NamedTuple):
    """A family for the characters of one script.

    `is_extra` families are in the package pressroom-fonts, which may not be installed.
    """

    family: str
    has: re.Pattern[str]
    is_extra: bool = False


def _extra_script(name: str, characters: str) -> _Script:
    family = f"Noto {'Serif' if name == 'Tibetan' else 'Sans'} {name}"
    return _Script(family, re.compile(f"[{characters}]"), is_extra=True)


_SCRIPTS: Final = (
    _Script("Noto Sans Arabic", re.compile("[\u0600-\u06ff\u0750-\u077f\u0870-\u08ff\ufb50-\ufdff\ufe70-\ufefc]")),
    _Script("Noto Sans Hebrew", re.compile("[\u0590-\u05ff\ufb1d-\ufb4f]")),
    _Script("Noto Sans Devanagari", re.compile("[\u0900-\u097f\u1cd0-\u1cff\ua8e0-\ua8ff]")),
    _Script("Noto Sans Bengali", re.compile("[\u0980-\u09ff]")),
    _Script("Noto Sans Tamil", re.compile("[\u0b80-\u0bff]")),
    _Script("Noto Sans Thai", re.compile("[\u0e00-\u0e7f]")),
    # Miscellaneous Symbols and Dingbats in one design, though other families have some of them.
    _Script(SYMBOLS, re.compile("[\u2600-\u27bf]")),
    # Emoji, and symbols that no other family has or that belong to a row of emoji.
    _Script(EMOJI, re.compile("[\u21a9\u21aa\u231a\u231b\u23e9-\u23f3\u2600-\u27bf\U0001f000-\U0001faff]"), is_extra=True),
    _extra_script("Armenian", "\u0530-\u058f\ufb13-\ufb17"),
    _extra_script("Syriac", "\u0700-\u074f\u0860-\u086f"),
    _extra_script("Thaana", "\u0780-\u07bf"),
    _extra_script("Gurmukhi", "\u0a00-\u0a7f"),
    _extra_script("Gujarati", "\u0a80-\u0aff"),
    _extra_script("Telugu", "\u0c00-\u0c7f"),
    _extra_script("Kannada", "\u0c80-\u0cff"),
    _extra_script("Malayalam", "\u0d00-\u0d7f"),
    _extra_script("Sinhala", "\u0d80-\u0dff"),
    _extra_script("Lao", "\u0e80-\u0eff"),
    _extra_script("Tibetan", "\u0f00-\u0fff"),
    _extra_script("Myanmar", "\u1000-\u109f\ua9e0-\ua9ff\uaa60-\uaa7f"),
    _extra_script("Georgian", "\u10a0-\u10ff\u1c90-\u1cbf\u2d00-\u2d2f"),
    _extra_script("Ethiopic", "\u1200-\u139f\u2d80-\u2ddf\uab00-\uab2f"),
    _extra_script("Cherokee", "\u13a0-\u13ff\uab70-\uabbf"),
    _extra_script("Khmer", "\u1780-\u17ff\u19e0-\u19ff"),
    _extra_script("Tifinagh", "\u2d30-\u2d7f"),
    _extra_script("Yi", "\ua000-\ua4cf"),
    _extra_script("Vai", "\ua500-\ua63f"),
)  # fmt: skip

_GENERAL: Final = (SANS, SERIF, MONO)
FAMILIES: Final = (
    *_GENERAL,
    *(script.family for script in _SCRIPTS if script.family != SYMBOLS and not script.is_extra),
    JAPANESE,
    SIMPLIFIED,
    TRADITIONAL,
    KOREAN,
    SYMBOLS,
    LIBERATION,
)
EXTRA_FAMILIES: Final = tuple(script.family for script in _SCRIPTS if script.is_extra)
_WITHOUT_BOLD: Final = frozenset(
    {SYMBOLS, *(f"Noto Sans {name}" for name in ("Syriac", "Tifinagh", "Yi", "Vai"))}
)
_EAST_ASIAN_FAMILIES: Final = frozenset({JAPANESE, SIMPLIFIED, TRADITIONAL, KOREAN})

_BY_NAME: Final = {
    **{name.casefold(): name for name in (*FAMILIES, *EXTRA_FAMILIES)},
    **GENERIC_FAMILIES,
    **{alias.casefold(): name for alias, name in FAMILY_ALIASES.items()},
}

BOLD_FROM: Final = 600  # CSS Fonts 4 §5.2: of 400 and 700, weights from 600 choose bold
_MAX_CACHED_CHARACTERS: Final = 8_000  # per chain; a long Chinese text has half as many

_EAST_ASIAN: Final = re.compile(
    "[\u1100-\u11ff\u2e80-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef\U00020000-\U0003ffff]"
)
# Punctuation and symbols that Latin fonts have too; currency signs are those of figures.
_SHARED_SYMBOLS: Final = re.compile(
    "[\u00a1\u00a6-\u00a9\u00ab\u00ac\u00ae-\u00b1\u00b4\u00b6-\u00b8\u00bb\u00bf\u00d7\u00f7"
    "\u2010-\u205e\u2100-\u2bff]+"
)
_QUOTATION_MARKS: Final = re.compile("[“”‘’]")
_KANA: Final = re.compile("[\u3040-\u30ff\u31f0-\u31ff\uff66-\uff9f]")
_HANGUL: Final = re.compile("[\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff]")
_BOPOMOFO: Final = re.compile("[\u3105-\u312f\u31a0-\u31bf]")

# Unified ideographs are drawn differently in China, Japan and Korea: the families
# of a language in order of preference.
_BY_REGION: Final = {
    "ja": (JAPANESE, TRADITIONAL, SIMPLIFIED, KOREAN),
    "ko": (KOREAN, JAPANESE, TRADITIONAL, SIMPLIFIED),
    "zh-hant": (TRADITIONAL, JAPANESE, SIMPLIFIED, KOREAN),
    "zh": (SIMPLIFIED, TRADITIONAL, JAPANESE, KOREAN),
}
_TRADITIONAL_TAGS: Final = frozenset({"hant", "tw", "hk", "mo"})

_EMOJI_SELECTOR: Final = "\ufe0f"
_TEXT_SELECTOR: Final = "\ufe0e"
# What has a presentation of its own (UTS #51 §1.4): a character with the selector of text presentation, or
# a sequence: a keycap, a flag, or emoji with variation selectors, skin tones, tags and joiners.
_EMOJI_ELEMENT: Final = (
    "(?:[\u00a9\u00ae\u203c-\u3299\U0001f000-\U0001faff]"
    "(?:\ufe0f?[\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]+|\ufe0f)?)"
)
_PRESENTATION: Final = re.compile(
    f"[0-9#*\u00a9\u00ae\u203c-\u3299\U0001f000-\U0001faff]{_TEXT_SELECTOR}"
    f"|[0-9#*]\ufe0f?\u20e3|[\U0001f1e6-\U0001f1ff]{{2}}|{_EMOJI_ELEMENT}(?:\u200d{_EMOJI_ELEMENT})*"
)
# What a sequence has beside its first character; one class of characters, which is found fastest.
_HAS_SEQUENCE: Final = re.compile(
    "[\u200d\u20e3\ufe0f\U0001f1e6-\U0001f1ff\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]"
)

# Characters that take the face of their predecessor: spaces, joiners, dandas.
_JOINING: Final = " \u00a0\u0964\u0965\u200c\u200d\u202f"
_SPACES: Final = frozenset(" \u00a0\u202f")  # those of emoji are as wide as emoji


def split_by_fallback(
    find_chain: Callable[[str], FallbackChain], text: str, lang: str
) -> list[tuple[Face, str]]:
    """Split `text` into runs by the first face that has each character (CSS Fonts 4 §5.3).

    `find_chain` returns the chain for the region whose ideographs a text has. The family of the
    character's script has priority in the set; for Chinese characters `lang` decides. A character
    without any face stays with the first face, which draws .notdef.
    """
    chain = find_chain("zh")
    if _HAS_SEQUENCE.search(text) or (chain.colored and _TEXT_SELECTOR in text):
        return list(_split_presentations(find_chain, text, lang))
    return _split_text(find_chain, text, lang)


def _split_text(
    find_chain: Callable[[str], FallbackChain], text: str, lang: str
) -> list[tuple[Face, str]]:
    chain = find_chain("zh")
    if chain.first.covers_all(text):
        return [(chain.first, text)]
    if _EAST_ASIAN.search(text):
        chain = find_chain(_find_region(lang, text))
    single = _find_single_face(chain, text)
    if single is not None:
        return [(single, text)]
    return list(_split_runs(chain, text))


def _split_presentations(
    find_chain: Callable[[str], FallbackChain], text: str, lang: str
) -> Iterator[tuple[Face, str]]:
    """Yield runs of which none separates a sequence of emoji that one face has (UTS #51 §4)."""
    chain = find_chain("zh")
    done = 0
    for match in _PRESENTATION.finditer(text):
        face = chain.find_presented(match[0])
        if face is None:
            continue
        if done < match.start():
            yield from _split_text(find_chain, text[done : match.start()], lang)
        yield face, match[0]
        done = match.end()
    if done < len(text):
        yield from _split_text(find_chain, text[done:], lang)


def find_missing_in_chain(chain: FallbackChain, text: str) -> str:
    """Return the distinct characters of `text` that no face of a chain has, in order."""
    if chain.first.covers_all(text):
        return ""
    missing = {char for char in set(text) if chain[char] is None}
    return "".join(char for char in dict.fromkeys(text) if char in missing) if missing else ""


class FallbackChain(dict[str, "Face | None"]):
    """The face of each character, found on first use; None where no face has it (CSS Fonts 4 §5.3).

    `named` are families of the product, or faces; `last_resort` are tried after all others. A face
    of the product is loaded when a character needs it: a Latin document reads no other font.
    """

    def __init__(
        self,
        named: Iterable[str | Face],
        *,
        is_bold: bool,
        is_italic: bool,
        region: str,
        last_resort: Iterable[Face] = (),
    ) -> None:
        super().__init__()
        self._named = tuple(named)
        self._spare = tuple(last_resort)
        self._is_bold = is_bold
        self._is_italic = is_italic
        self._region = region
        self.first = self._load((*self._named, SANS)[0])

    @cached_property
    def emoji(self) -> Face | None:
        """The face of emoji, None where pressroom-fonts is not installed."""
        return self._load(EMOJI) if _is_installed(EMOJI) else None

    @cached_property
    def colored(self) -> tuple[Face, ...]:
        """The fonts with colour glyphs; those not named only where there is no other emoji."""
        spare = () if _is_installed(EMOJI) else self._spare
        faces = (each for each in (*self._named, *spare) if isinstance(each, Face))
        return tuple(face for face in faces if face.is_colored)

    def find_presented(self, sequence: str) -> Face | None:
        """Return the face for the presentation of a sequence, None if each character has its own.

        It is that of the first character in a font of an account with all of it, the first with
        colours if the selector of emoji asks for them, else that of emoji. The selector of text
        presentation asks for the first font without colours.
        """
        if sequence.endswith(_TEXT_SELECTOR):
            faces = map(self._load, dict.fromkeys(self._list_families(sequence[0])))
            plain = (face for face in faces if face.covers(sequence[0]) and not face.is_colored)
            return next(plain, None) if self.colored else None
        if len(sequence) == 1:
            return None
        first = self[sequence[0]]
        own = (first,) if first is not None and first.is_own else ()
        is_emoji = _EMOJI_SELECTOR in sequence
        ordered = (*self.colored, *own) if is_emoji else (*own, *self.colored)
        candidates = (*ordered, self.emoji) if self.emoji is not None else ordered
        return next((face for face in candidates if face.covers_all(sequence)), None)

    def __missing__(self, char: str) -> Face | None:
        if len(self) >= _MAX_CACHED_CHARACTERS:
            self.clear()
        families = dict.fromkeys(self._list_families(char))
        found = next((face for face in map(self._load, families) if face.covers(char)), None)
        self[char] = found
        return found

    def _list_families(self, char: str) -> Iterator[str | Face]:
        yield from self._named
        yield from (
            script.family
            for script in _SCRIPTS
            if script.has.match(char) and _is_installed(script.family)
        )
        east_asian = _BY_REGION[self._region]
        if _EAST_ASIAN.match(char):
            yield from (family for family in _families_of_script(char))
            yield from east_asian
        yield from _GENERAL
        yield from east_asian  # they have many symbols that no other family has
        yield from FAMILIES
        yield from self._spare

    def _load(self, family: str | Face) -> Face:
        if isinstance(family, Face):
            return family
        return _load_face(family, self._is_bold, self._is_italic and family in _GENERAL)


@cache
def _load_face(family: str, is_bold: bool, is_italic: bool) -> Face:
    has_bold = family not in _WITHOUT_BOLD and not (
        family in _EAST_ASIAN_FAMILIES and not _has_east_asian_bold()
    )
    stem = family.replace(" ", "")
    file = f"{stem}-{_style_name(is_bold and has_bold, is_italic)}.ttf"
    is_extra = family in EXTRA_FAMILIES or (is_bold and family in _EAST_ASIAN_FAMILIES and has_bold)
    further = find_extra_fonts() if is_extra else None
    path = (further or files(__package__)) / "typefaces" / file
    return Face(
        family,
        hb.Face(hb.Blob.from_file_path(str(path))),  # memory-mapped, so workers share it
        name=f"{stem}-{_style_name(is_bold, is_italic)}",
        traits=Traits(
            is_bold=is_bold,
            is_italic=is_italic,
            is_emboldened=is_bold and not has_bold,
            is_general=family in _GENERAL,
            is_ideographic=family in (JAPANESE, SIMPLIFIED, TRADITIONAL),
        ),
    )


@cache
def _has_east_asian_bold() -> bool:
    """Return whether pressroom-fonts is installed, and has the bold of all these families."""
    further = find_extra_fonts()
    return further is not None and all(
        (further / "typefaces" / f"{family.replace(' ', '')}-Bold.ttf").is_file()
        for family in _EAST_ASIAN_FAMILIES
    )


def _style_name(is_bold: bool, is_italic: bool) -> str:
    return ("Bold" if is_bold else "") + ("Italic" if is_italic else "") or "Regular"


def find_family(name: str) -> str | None:
    """Return the installed family of the product with this name or alias, None for none."""
    family = _BY_NAME.get(name.casefold())
    return family if family is not None and _is_installed(family) else None


def needs_extra_fonts(char: str) -> bool:
    """Return whether the fonts of a character's script are in pressroom-fonts, and it is not installed."""
    return find_extra_fonts() is None and any(
        script.is_extra and script.has.match(char) for script in _SCRIPTS
    )


@cache
def _is_installed(family: str) -> bool:
    further = find_extra_fonts()
    if family == EMOJI and further is not None:  # since version 1.1 of the package
        return (further / "typefaces" / "NotoEmoji-Regular.ttf").is_file()
    return family not in EXTRA_FAMILIES or further is not None


def _find_single_face(chain: FallbackChain, text: str) -> Face | None:
    """Return the one face of a whole text, joining characters aside; None for several."""
    characters = set(text)
    faces = {chain[char] for char in characters.difference(_JOINING)}
    if len(faces) != 1:
        return None
    face = faces.pop()
    if face is None or (_has_wide_spaces(face) and not characters.isdisjoint(_SPACES)):
        return None
    return face if face.covers_all("".join(characters)) else None


def _split_runs(chain: FallbackChain, text: str) -> Iterator[tuple[Face, str]]:
    faces = [*map(chain.__getitem__, text)]
    if _EAST_ASIAN.search(text):
        _set_symbols(faces, text)
    face = faces[0] or chain.first
    start = 0
    for at, own in enumerate(faces):
        if own is face or (own or chain.first) is face:
            continue
        if _joins_previous_run(text[at], face) and (
            face.covers(text[at]) or _is_composed(face, text, at)
        ):
            continue
        yield face, text[start:at]
        face, start = own or chain.first, at
    yield face, text[start:]


def _set_symbols(faces: list[Face | None], text: str) -> None:
    """Set symbols beside East Asian text in its face, where that has them; quotation marks in pairs."""
    for match in _SHARED_SYMBOLS.finditer(text):
        start, end = match.span()
        beside = [at for at in (start - 1, end) if _EAST_ASIAN.match(text[at : at + 1])]
        face = faces[beside[0]] if beside else None
        if face is not None:
            faces[start:end] = [
                face if face.covers(text[at]) else faces[at] for at in range(start, end)
            ]
    opened: dict[str, Face | None] = {}
    for match in _QUOTATION_MARKS.finditer(text):
        at, mark = match.start(), match[0]
        if mark in "“‘":
            opened["”" if mark == "“" else "’"] = faces[at]
        elif (face := opened.pop(mark, None)) is not None:
            faces[at] = face


def _joins_previous_run(char: str, face: Face) -> bool:
    if char in _SPACES and _has_wide_spaces(face):
        return False
    return char in _JOINING or unicodedata.category(char)[0] == "M"


def _has_wide_spaces(face: Face) -> bool:
    """Return whether the spaces of a face may be as wide as emoji."""
    return face.family == EMOJI or face.is_colored


def _is_composed(face: Face, text: str, at: int) -> bool:
    """Return whether a face has a mark and the letter before it as one character, which shaping composes."""
    joined = unicodedata.normalize("NFC", text[max(at - 1, 0) : at + 1])
    return len(joined) == 1 and face.covers(joined)


def _families_of_script(char: str) -> Iterator[str]:
    """Yield the family of the one language that uses a character's script, if any."""
    if _KANA.match(char):
        yield JAPANESE
    if _HANGUL.match(char):
        yield KOREAN
    if _BOPOMOFO.match(char):
        yield TRADITIONAL


def _find_region(lang: str, text: str) -> str:
    """Return the region whose Chinese characters a text has: by its language, else by its other scripts."""
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


PACKAGE: Final = "pressroom_fonts"  # deploy/tools/fonts


@cache
def find_extra_fonts() -> Traversable | None:
    """Return the folder of the package, None where it is not installed."""
    return None if find_spec(PACKAGE) is None else files(PACKAGE)
