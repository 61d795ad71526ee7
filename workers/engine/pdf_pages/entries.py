"""Entries of dictionaries that drawing needs, by kind of object (ISO 32000-1); all others stay behind."""

from __future__ import annotations

from typing import Final

from workers.engine.data_tables import read_table

_NAMES: Final = {
    name: tuple(names.split()) for name, names in read_table(__package__, "entries.txt").items()
}
FORM: Final = _NAMES["form"]
GROUP: Final = _NAMES["group"]
IMAGE: Final = _NAMES["image"]
FILTER_PARAMETERS: Final = _NAMES["filter-parameters"]
STATE: Final = _NAMES["state"]
SOFT_MASK: Final = _NAMES["soft-mask"]
TILING: Final = _NAMES["tiling"]
SHADING_PATTERN: Final = _NAMES["shading-pattern"]
FONT: Final = _NAMES["font"]
FONT_FILES: Final = _NAMES["font-files"]
SHADING: Final = _NAMES["shading"]
COLORANTS: Final = _NAMES["colorants"]
PROCESS: Final = _NAMES["process"]
MIXING_HINTS: Final = _NAMES["mixing-hints"]
VALUE: Final = frozenset(_NAMES["value"])
OTHER_TYPES: Final = frozenset(_NAMES["other-types"])
BLEND_MODES: Final = frozenset(_NAMES["blend-modes"])
