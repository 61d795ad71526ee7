"""The structure type (PDF 1.7, 14.8.4) of every element of the language, for tagged documents.

`NO_STRUCTURE_TYPE` is for elements that are not drawn, are artifacts, or whose content belongs to the
element around them. Layout puts the content of every other element under a structure element of
its type.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from workers.engine.data_tables import read_groups

NO_STRUCTURE_TYPE: Final = "none"

STRUCTURE_TYPES: Final[Mapping[str, str]] = MappingProxyType(
    {
        element: structure_type
        for structure_type, lists in read_groups(__package__, "structure_types.txt").items()
        for elements in lists.values()
        for element in elements.split()
    }
)
