"""Font sets: the fonts that a document declares, followed by those of the product."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import starmap
from typing import Any, Final, NamedTuple
from weakref import WeakKeyDictionary, WeakValueDictionary

import uharfbuzz as hb

from workers.engine.fonts.faces import Face, Traits
from workers.engine.fonts.families import (
    BOLD_FROM,
    FallbackChain,
    find_family,
    find_missing_in_chain,
    split_by_fallback,
)
from workers.engine.fonts.sanitizing import (
    DescriptorRange,
    FontProgram,
    FontRefusedError,
    instantiate,
    sanitize_font,
)

MAX_CACHED_BYTES: Final = 96_000_000  # bytes of the fonts of all cached sets
_MAX_CACHED_CHAINS: Final = 256  # per set


class FontRequest(NamedTuple):
    """The requested weight (1 to 1000), width in per cent, and style of a text."""

    weight: float
    stretch: float
    is_italic: bool


_REGULAR: Final = FontRequest(400, 100, is_italic=False)


@dataclass(frozen=True, slots=True)
class FontFaceDeclaration:
    """A font face as declared by a document (CSS Fonts 4 §4), its file by the SHA-256 of the bytes.

    A descriptor that is None has the value of the font. `settings` are axis values beside weight
    and width.
    """

    family: str
    sha256: str
    index: int
    weight: DescriptorRange | None
    stretch: DescriptorRange | None
    is_italic: bool | None
    settings: tuple[tuple[str, float], ...] = ()


class DeclaredFace:
    """A declared face with its program, and its instances by weight and width."""

    def __init__(self, declared: FontFaceDeclaration, program: FontProgram) -> None:
        properties = program.properties
        self.family = declared.family
        self.weight = declared.weight or properties.weight
        self.stretch = declared.stretch or properties.stretch
        self.is_italic = properties.is_italic if declared.is_italic is None else declared.is_italic
        self._settings = dict(declared.settings)
        self._key = f"{declared.sha256} {declared.index}"
        self._program = program
        self._instances: dict[tuple[object, ...], Face] = {}

    @property
    def size(self) -> int:
        """The approximate memory of its instances in bytes, without the program."""
        return sum(len(face.hb_face.blob.data) for face in self._instances.values())

    def make(self, request: FontRequest) -> Face:
        """Return the face for a weight and width; a variable font has one instance for each."""
        settings = self._find_settings(request)
        is_bold = request.weight >= BOLD_FROM
        # CSS Fonts 4, font-synthesis-weight: bold is synthesised where a family has none.
        is_emboldened = is_bold and self.weight.maximum < BOLD_FROM
        key = (is_bold, is_emboldened, *sorted(settings.items()))
        face = self._instances.get(key)
        if face is None:
            traits = Traits(is_bold, self.is_italic, is_emboldened, is_custom=True)
            face = self._instances[key] = self._instantiate(settings, traits)
        return face

    def clear_caches(self) -> None:
        """Clear the caches of its faces."""
        for face in self._instances.values():
            face.clear_caches()

    def _find_settings(self, request: FontRequest) -> dict[str, float]:
        tags = {axis.tag for axis in self._program.properties.axes}
        chosen = {
            "wght": clamp(request.weight, self.weight),
            "wdth": clamp(request.stretch, self.stretch),
            "ital": float(self.is_italic),
            **self._settings,
        }
        return {tag: value for tag, value in chosen.items() if tag in tags}

    def _instantiate(self, settings: dict[str, float], traits: Traits) -> Face:
        data, name = self._program.data, self._program.properties.postscript_name
        if self._program.properties.is_variable:
            data = instantiate(data, settings)
        axis_values = " ".join(f"{tag}={value:g}" for tag, value in sorted(settings.items()))
        # A PDF may have several instances of one font, so each name is unique.
        suffix = sha256(f"{self._key} {axis_values} {traits.is_emboldened}".encode()).hexdigest()[
            :6
        ]
        return Face(self.family, hb.Face(hb.Blob(data)), name=f"{name}-{suffix}", traits=traits)


class FontSet:
    """The fonts of a document: declared ones first, then those of the product."""

    def __init__(self, faces: Iterable[DeclaredFace]) -> None:
        self._families: dict[str, list[DeclaredFace]] = {}
        for face in faces:
            self._families.setdefault(face.family.casefold(), []).append(face)
        self._chains: dict[tuple[object, ...], FallbackChain] = {}
        # What layout keeps of documents in these fonts, by what their template keeps, and freed with it.
        self.memos: WeakKeyDictionary[object, Any] = WeakKeyDictionary()

    @property
    def size(self) -> int:
        """The approximate memory in bytes, without the font programs."""
        return sum(face.size for face in self._all())

    def find(self, families: tuple[str, ...], request: FontRequest) -> Face:
        """Return the face of the first family that exists."""
        return self._chain(families, request, "zh").first

    def split(
        self, families: tuple[str, ...], request: FontRequest, text: str, lang: str
    ) -> Sequence[tuple[Face, str]]:
        """Split `text` into runs by the first face that has each character."""
        return split_by_fallback(lambda region: self._chain(families, request, region), text, lang)

    def find_missing(self, text: str) -> str:
        """Return the distinct characters of `text` that no face has, in order."""
        return find_missing_in_chain(self._chain((), _REGULAR, "zh"), text)

    def clear_caches(self) -> None:
        """Clear the caches, so that the set can be freed; it stays usable."""
        self._chains.clear()
        self.memos.clear()
        for face in self._all():
            face.clear_caches()

    def _all(self) -> Iterator[DeclaredFace]:
        for faces in self._families.values():
            yield from faces

    def _chain(self, families: tuple[str, ...], request: FontRequest, region: str) -> FallbackChain:
        key = (families, request, region)
        chain = self._chains.get(key)
        if chain is None:
            if len(self._chains) >= _MAX_CACHED_CHAINS:
                self._chains.clear()
            chain = self._chains[key] = self._make_chain(families, request, region)
        return chain

    def _make_chain(
        self, families: tuple[str, ...], request: FontRequest, region: str
    ) -> FallbackChain:
        named = [entry for name in families if (entry := self._find(name, request)) is not None]
        return FallbackChain(
            dict.fromkeys(named),
            is_bold=request.weight >= BOLD_FROM,
            is_italic=request.is_italic,
            region=region,
            last_resort=(
                match_face(declared, request).make(request) for declared in self._families.values()
            ),
        )

    def _find(self, name: str, request: FontRequest) -> str | Face | None:
        declared = self._families.get(name.casefold())
        return (
            find_family(name) if declared is None else match_face(declared, request).make(request)
        )


BUNDLED: Final = FontSet(())  # the fonts of the product alone


class FontSetCache:
    """The font sets of a process, least recently used first, by their declarations."""

    def __init__(self, *, max_bytes: int = MAX_CACHED_BYTES) -> None:
        self._max_kept = max_bytes
        self._sets: OrderedDict[
            tuple[FontFaceDeclaration, ...], tuple[FontSet, tuple[FontProgram, ...]]
        ] = OrderedDict()
        self._programs: WeakValueDictionary[tuple[str, int], FontProgram] = WeakValueDictionary()

    def find(self, declared: tuple[FontFaceDeclaration, ...]) -> FontSet | None:
        """Return the set of these declarations, None if it is not cached."""
        found = self._sets.get(declared)
        if found is None:
            return None
        self._sets.move_to_end(declared)
        return found[0]

    def load(
        self,
        declared: FontFaceDeclaration,
        read: Callable[[], bytes],
        files: dict[str, tuple[FontProgram, ...]],
    ) -> FontProgram:
        """Return the program of a declaration; `files` are those already sanitised for the document.

        Raises:
            FontRefusedError: The file cannot be used, or has no font of that index.
        """
        key = declared.sha256, declared.index
        program = self._programs.get(key)
        if program is not None:
            return program
        if declared.sha256 not in files:
            files[declared.sha256] = sanitize_font(read())
        faces = files[declared.sha256]
        if declared.index >= len(faces):
            count = "one font" if len(faces) == 1 else f"{len(faces)} fonts"
            raise FontRefusedError(
                f"There is no font of index {declared.index}: the file has {count}, counted from 0",
                "Choose another index.",
            )
        program = self._programs[key] = faces[declared.index]
        return program

    def make(self, loaded: Mapping[FontFaceDeclaration, FontProgram]) -> FontSet:
        """Return the set of these declarations and cache it."""
        found = FontSet(starmap(DeclaredFace, loaded.items()))
        self._sets[tuple(loaded)] = found, tuple(loaded.values())
        self._evict()
        return found

    def clear(self) -> None:
        """Remove all sets."""
        self._sets.clear()

    def _evict(self) -> None:
        while len(self._sets) > 1 and self._total_bytes() > self._max_kept:
            _, (dropped, _) = self._sets.popitem(last=False)
            dropped.clear_caches()

    def _total_bytes(self) -> int:
        cached = list(self._sets.values())
        programs = {program for _, programs_of_set in cached for program in programs_of_set}
        return sum(len(program.data) for program in programs) + sum(
            font_set.size for font_set, _ in cached
        )


FONT_SETS: Final = FontSetCache()


# --- matching (CSS Fonts 4 §5.2): the face of a family for a width, style and weight ----------


def match_face(faces: Sequence[DeclaredFace], wanted: FontRequest) -> DeclaredFace:
    """Return the face of one family that matches best: by width, then style, then weight.

    `faces` has at least one.
    """
    stretch = _choose_stretch((face.stretch for face in faces), wanted.stretch)
    faces = [face for face in faces if face.stretch == stretch]
    faces = [face for face in faces if face.is_italic is wanted.is_italic] or faces
    weight = _choose_weight((face.weight for face in faces), wanted.weight)
    return next(face for face in faces if face.weight == weight)


def clamp(value: float, candidate: DescriptorRange) -> float:
    """Return the value of a range nearest to `value`."""
    return min(max(value, candidate.minimum), candidate.maximum)


def _choose_stretch(candidates: Iterable[DescriptorRange], wanted: float) -> DescriptorRange:
    """Return the nearest width: up to 100 % narrower ones come first, above wider ones."""
    prefers_less = wanted <= 100

    def rank(candidate: DescriptorRange) -> tuple[int, float]:
        distance = clamp(wanted, candidate) - wanted
        if not distance:
            return 0, 0.0
        return (1 if (distance < 0) is prefers_less else 2), abs(distance)

    return min(candidates, key=rank)


def _choose_weight(candidates: Iterable[DescriptorRange], wanted: float) -> DescriptorRange:
    """Return the nearest weight in the direction that CSS searches first.

    From 400 to 500: up to 500, then lighter, then heavier; below 400 lighter first; above 500
    heavier first.
    """

    def rank(candidate: DescriptorRange) -> tuple[int, float]:
        nearest = clamp(wanted, candidate)
        distance = nearest - wanted
        if not distance:
            return 0, 0.0
        if 400 <= wanted <= 500:
            order = 1 if wanted < nearest <= 500 else 2 if distance < 0 else 3
        else:
            order = 1 if (distance < 0) is (wanted < 400) else 2
        return order, abs(distance)

    return min(candidates, key=rank)
