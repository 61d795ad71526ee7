"""Every element and attribute of the language, declared once, in `elements.txt` and `properties.txt`.

The checks, the cascade, LANGUAGE.md and the editor schema are all derived from it. It declares
implemented features only.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from workers.engine.syntax.nodes import Element
from workers.engine.syntax.vocabulary.elements import read_elements, read_groups
from workers.engine.syntax.vocabulary.specs import (
    BLOCKS,
    GROUP_LIKE,
    INLINE,
    AttributeSpec,
    ContentModel,
    ElementSpec,
)

_GROUPS: Final = read_groups()
COMMON: Final = _GROUPS["COMMON"]
TEXT_PROPERTIES: Final = _GROUPS["TEXT_PROPERTIES"]
BOX_PROPERTIES: Final = _GROUPS["BOX_PROPERTIES"]
BREAK_PROPERTIES: Final = _GROUPS["BREAK_PROPERTIES"]
NUMBER_PROPERTIES: Final = _GROUPS["NUMBER_PROPERTIES"]
PROPERTIES: Final[Mapping[str, AttributeSpec]] = {
    spec.name: spec for spec in _GROUPS["ALL_PROPERTIES"]
}
ELEMENTS: Final[Mapping[str, ElementSpec]] = read_elements(_GROUPS)


def read_attribute(element: Element, name: str) -> Any:
    """Return the value of an attribute without expressions; its default if it is not given.

    One that is not accepted, which the checks report, has the default too.
    """
    return ELEMENTS[element.tag].attributes[name].read(element.attributes.get(name))
