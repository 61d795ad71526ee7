"""Font sets: the fonts a document declares, before those of the house."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import starmap
from typing import Final
from weakref import WeakValueDictionary

import uharfbuzz as hb

from workers.engine.layout.fonts.faces import Face, Traits
from workers.engine.layout.fonts.facts import FaceFacts, FontRefusedError, Span
from workers.engine.layout.fonts.families import (
    BOLD_FROM,
    Chain,
    find_family,
    find_missing_in,
    split_by_chain,
)
from workers.engine.layout.fonts.matching import Wanted, clamp, match_face
from workers.engine.layout.fonts.rebuilding import instantiate, rebuild_font

MAX_KEPT: Final = 96_000_000  # bytes of the fonts of all sets that a process keeps
_MAX_CHAINS: Final = 64  # kept of each set

_PLAIN: Final = Wanted(400, 100, is_italic=False)


@dataclass(frozen=True, slots=True)
class Declared:
    """A face as a document declares it: the file by the SHA-256 of its bytes, and what it stands for.

    What is None is the font's own. `settings` are values of axes beside weight and width.
    """

    family: str
    sha256: str
    index: int
    weight: Span | None
    stretch: Span | None
    is_italic: bool | None
    settings: tuple[tuple[str, float], ...] = ()


class Program:
    """A rebuilt face of a font file; alive as long as a set uses it."""

    __slots__ = ("__weakref__", "data", "facts")

    def __init__(self, data: bytes, facts: FaceFacts) -> None:
        self.data = data
        self.facts = facts


class OwnFace:
    """A declared face with its program, and the faces made of it for one weight and width each."""

    def __init__(self, declared: Declared, program: Program) -> None:
        facts = program.facts
        self.family = declared.family
        self.weight = declared.weight or facts.weight
        self.stretch = declared.stretch or facts.stretch
        self.is_italic = facts.is_italic if declared.is_italic is None else declared.is_italic
        self._settings = dict(declared.settings)
        self._key = f"{declared.sha256} {declared.index}"
        self._program = program
        self._made: dict[tuple[object, ...], Face] = {}

    @property
    def size(self) -> int:
        """Return about the bytes it takes in memory, but for its program."""
        return sum(len(face.hb_face.blob.data) for face in self._made.values())

    def make(self, wanted: Wanted) -> Face:
        """Return the face for a weight and a width; a variable font has one for each."""
        settings = self._find_settings(wanted)
        is_bold = wanted.weight >= BOLD_FROM
        # CSS Fonts 4, font-synthesis-weight: bold is made up where a family has none.
        is_emboldened = is_bold and self.weight.most < BOLD_FROM
        key = (is_bold, is_emboldened, *sorted(settings.items()))
        face = self._made.get(key)
        if face is None:
            traits = Traits(is_bold, self.is_italic, is_emboldened, is_own=True)
            face = self._made[key] = self._make(settings, traits)
        return face

    def clear_caches(self) -> None:
        """Drop all that was worked out of its faces."""
        for face in self._made.values():
            face.clear_caches()

    def _find_settings(self, wanted: Wanted) -> dict[str, float]:
        tags = {axis.tag for axis in self._program.facts.axes}
        chosen = {
            "wght": clamp(wanted.weight, self.weight),
            "wdth": clamp(wanted.stretch, self.stretch),
            "ital": float(self.is_italic),
            **self._settings,
        }
        return {tag: value for tag, value in chosen.items() if tag in tags}

    def _make(self, settings: dict[str, float], traits: Traits) -> Face:
        data, name = self._program.data, self._program.facts.postscript_name
        if self._program.facts.is_variable:
            data = instantiate(data, settings)
        written = " ".join(f"{tag}={value:g}" for tag, value in sorted(settings.items()))
        # Fonts of one name may stand in one file: each has its own.
        mark = sha256(f"{self._key} {written} {traits.is_emboldened}".encode()).hexdigest()[:6]
        return Face(self.family, hb.Face(hb.Blob(data)), name=f"{name}-{mark}", traits=traits)


class FontSet:
    """The fonts of a document: those it declares, then those of the house."""

    def __init__(self, faces: Iterable[OwnFace]) -> None:
        self._families: dict[str, list[OwnFace]] = {}
        for face in faces:
            self._families.setdefault(face.family.casefold(), []).append(face)
        self._chains: dict[tuple[object, ...], Chain] = {}

    @property
    def size(self) -> int:
        """Return about the bytes it takes in memory beside its programs."""
        return sum(face.size for face in self._all())

    def find(self, families: tuple[str, ...], wanted: Wanted) -> Face:
        """Return the face of the first family there is."""
        return self._chain(families, wanted, "zh").first

    def split(
        self, families: tuple[str, ...], wanted: Wanted, text: str, lang: str
    ) -> Sequence[tuple[Face, str]]:
        """Cut `text` into runs of the first face that has each character."""
        return split_by_chain(lambda region: self._chain(families, wanted, region), text, lang)

    def find_missing(self, text: str) -> str:
        """Return the characters of `text` that no face has, each once, in order."""
        return find_missing_in(self._chain((), _PLAIN, "zh"), text)

    def clear_caches(self) -> None:
        """Drop all that was worked out, so that the set can be freed; it stays usable."""
        self._chains.clear()
        for face in self._all():
            face.clear_caches()

    def _all(self) -> Iterator[OwnFace]:
        for faces in self._families.values():
            yield from faces

    def _chain(self, families: tuple[str, ...], wanted: Wanted, region: str) -> Chain:
        key = (families, wanted, region)
        chain = self._chains.get(key)
        if chain is None:
            if len(self._chains) >= _MAX_CHAINS:
                self._chains.clear()
            chain = self._chains[key] = self._make_chain(families, wanted, region)
        return chain

    def _make_chain(self, families: tuple[str, ...], wanted: Wanted, region: str) -> Chain:
        named = [entry for name in families if (entry := self._find(name, wanted)) is not None]
        return Chain(
            dict.fromkeys(named),
            is_bold=wanted.weight >= BOLD_FROM,
            is_italic=wanted.is_italic,
            region=region,
            spare=(match_face(own, wanted).make(wanted) for own in self._families.values()),
        )

    def _find(self, name: str, wanted: Wanted) -> str | Face | None:
        own = self._families.get(name.casefold())
        return find_family(name) if own is None else match_face(own, wanted).make(wanted)


class FontSets:
    """The sets that a process keeps: those used last, by what their documents declare."""

    def __init__(self, *, max_kept: int = MAX_KEPT) -> None:
        self._max_kept = max_kept
        self._kept: OrderedDict[tuple[Declared, ...], tuple[FontSet, tuple[Program, ...]]] = (
            OrderedDict()
        )
        self._programs: WeakValueDictionary[tuple[str, int], Program] = WeakValueDictionary()

    def find(self, declared: tuple[Declared, ...]) -> FontSet | None:
        """Return the set of some declarations, None if it is not kept."""
        found = self._kept.get(declared)
        if found is None:
            return None
        self._kept.move_to_end(declared)
        return found[0]

    def load(
        self,
        declared: Declared,
        read: Callable[[], bytes],
        files: dict[str, tuple[Program, ...]],
    ) -> Program:
        """Return the program of a declaration; `files` are those already rebuilt for its document.

        Raises:
            FontRefusedError: the file cannot be used, or has no font of that index.
        """
        key = declared.sha256, declared.index
        program = self._programs.get(key)
        if program is not None:
            return program
        if declared.sha256 not in files:
            files[declared.sha256] = tuple(
                Program(face.program, face.facts) for face in rebuild_font(read())
            )
        faces = files[declared.sha256]
        if declared.index >= len(faces):
            count = "one font" if len(faces) == 1 else f"{len(faces)} fonts"
            raise FontRefusedError(
                f"There is no font of index {declared.index}: the file has {count}, counted from 0",
                "Choose another index.",
            )
        program = self._programs[key] = faces[declared.index]
        return program

    def make(self, loaded: Mapping[Declared, Program]) -> FontSet:
        """Make the set of some declarations, and keep it for the next document."""
        found = FontSet(starmap(OwnFace, loaded.items()))
        self._kept[tuple(loaded)] = found, tuple(loaded.values())
        self._shrink()
        return found

    def clear(self) -> None:
        """Drop all sets."""
        self._kept.clear()

    def _shrink(self) -> None:
        while len(self._kept) > 1 and self._measure() > self._max_kept:
            _, (dropped, _) = self._kept.popitem(last=False)
            dropped.clear_caches()

    def _measure(self) -> int:
        sets = list(self._kept.values())
        programs = {id(program): program for _, all_ in sets for program in all_}
        return sum(len(program.data) for program in programs.values()) + sum(
            kept.size for kept, _ in sets
        )


SETS: Final = FontSets()
