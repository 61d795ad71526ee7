"""Properties of a font file: its faces with their weight, width and slant, and its embedding rights."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

# `font-stretch` in per cent of usWidthClass 1 to 9 (CSS Fonts 4 §2.3; OpenType, OS/2).
_STRETCHES: Final = (50.0, 62.5, 75.0, 87.5, 100.0, 112.5, 125.0, 150.0, 200.0)
_ITALIC, _OBLIQUE = 1 << 0, 1 << 9  # fsSelection
_RIGHTS, _RESTRICTED = 0x000F, 0x0002  # fsType, bits 0 to 3
_NO_SUBSETTING, _BITMAPS_ALONE = 0x0100, 0x0200
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9-]")  # needs an escape in a PDF name
_MAX_NAME: Final = 63  # characters of a PostScript name (OpenType, name)
_MAX_SHOWN: Final = 100
_LEAST_OS2: Final = 68  # bytes of version 0 as Apple defines it


class FontRefusedError(Exception):
    """The font cannot be used; `text` is the reason, `advice` the remedy."""

    def __init__(self, text: str, advice: str = "Export it again from its source.") -> None:
        super().__init__(f"{text}. {advice}")
        self.text = text
        self.advice = advice


class VariationAxis(NamedTuple):
    """An axis of a variable font: four-letter tag and values (OpenType, fvar)."""

    tag: str
    minimum: float
    default: float
    maximum: float


class DescriptorRange(NamedTuple):
    """The weights or widths that a face covers; both ends are equal in a static face."""

    minimum: float
    maximum: float


@dataclass(frozen=True, slots=True)
class FaceProperties:
    """One face of a font file: names, CSS weight (1 to 1000), width in per cent, slant and axes."""

    index: int
    family: str
    style: str
    postscript_name: str
    weight: DescriptorRange
    stretch: DescriptorRange
    is_italic: bool
    glyphs: int
    characters: int
    axes: tuple[VariationAxis, ...]
    color_glyphs: int = 0  # of COLR

    @property
    def is_variable(self) -> bool:
        """Whether the face has variation axes."""
        return bool(self.axes)


def read_face_properties(face: Any, index: int) -> FaceProperties:
    """Return the properties of an opened face.

    Raises:
        FontRefusedError: Its table OS/2 is missing or too short.
    """
    os2: bytes = face.reference_table("OS/2").data
    if len(os2) < _LEAST_OS2:
        raise FontRefusedError(
            'The font has no table "OS/2", which states its weight and its embedding rights'
        )
    axes = tuple(
        VariationAxis(axis.tag, axis.min_value, axis.default_value, axis.max_value)
        for axis in (face.axis_infos if face.has_var_data else ())
    )
    by_tag = {axis.tag: DescriptorRange(axis.minimum, axis.maximum) for axis in axes}
    weight = float(min(max(_word(os2, 4), 1), 1000))
    stretch = _STRETCHES[min(max(_word(os2, 6), 1), 9) - 1]
    return FaceProperties(
        index=index,
        family=_name(face, 16) or _name(face, 1),
        style=_name(face, 17) or _name(face, 2),
        postscript_name=_UNSAFE.sub("", _name(face, 6))[:_MAX_NAME] or "Font",
        weight=by_tag.get("wght", DescriptorRange(weight, weight)),
        stretch=by_tag.get("wdth", DescriptorRange(stretch, stretch)),
        is_italic=bool(_word(os2, 62) & (_ITALIC | _OBLIQUE)),
        glyphs=face.glyph_count,
        characters=len(face.unicodes),
        axes=axes,
    )


def check_embedding_rights(face: Any) -> None:
    """Check that a font may be embedded as a subset (OpenType, OS/2 fsType).

    Raises:
        FontRefusedError: The licence does not allow it.
    """
    os2: bytes = face.reference_table("OS/2").data
    rights = _word(os2, 8) if len(os2) >= _LEAST_OS2 else 0
    if rights & _RIGHTS == _RESTRICTED:
        what = "does not allow embedding it in documents (fsType: restricted license embedding)"
    elif rights & _NO_SUBSETTING:
        what = "allows embedding it whole only (fsType: no subsetting); PDFs embed subsets"
    elif rights & _BITMAPS_ALONE:
        what = "allows embedding its bitmaps only (fsType: bitmap embedding only)"
    else:
        return
    raise FontRefusedError(
        f"The maker of the font {what}",
        "Ask the maker for a version that is licensed for embedding, or use another font.",
    )


def _word(table: bytes, at: int) -> int:
    return int.from_bytes(table[at : at + 2], "big")


def _name(face: Any, name_id: int) -> str:
    """Return a name in English, else in the first language, on one line."""
    try:
        text = face.get_name(name_id) or ""
    except (ValueError, UnicodeError):
        return ""
    line = " ".join(str(text)[:1000].split())
    shown = "".join(char for char in line if unicodedata.category(char)[0] != "C")
    return shown[:_MAX_SHOWN]
