"""The document language for template editors, as JSON: completions and their descriptions."""

from __future__ import annotations

import json
from typing import Any, Final

from deploy.tools.language.reference import describe_filter
from workers.engine.syntax.vocabulary import (
    COMMON,
    ELEMENTS,
    PROPERTIES,
    AttributeSpec,
    ContentModel,
    ElementSpec,
)
from workers.engine.tree.expressions.filters import FILTERS

_SHARED: Final = {spec.name: spec for spec in (*COMMON, *PROPERTIES.values())}


def write_vocabulary() -> str:
    """Return the elements, shared attributes and filters as JSON.

    Each of `elements` has its `doc`, allowed `children`, `own` attributes and the names of its
    `shared` ones; `parent` is true where it allows what its parent allows. An attribute has its
    `doc` and `accepts`, and where they exist `words`, `default`, `required` and `expression`.
    """
    vocabulary = {
        "elements": {name: _write_element(spec) for name, spec in ELEMENTS.items()},
        "shared": {name: _write_attribute(spec) for name, spec in _SHARED.items()},
        "filters": {
            name: {"usage": each.usage, "doc": describe_filter(name)}
            for name, each in sorted(FILTERS.items())
        },
    }
    return json.dumps(vocabulary, ensure_ascii=False, indent=1) + "\n"


def _write_element(spec: ElementSpec) -> dict[str, Any]:
    attributes = spec.attributes
    shared = [name for name, each in attributes.items() if each == _SHARED.get(name)]
    written: dict[str, Any] = {
        "doc": spec.doc,
        "children": sorted(spec.children),
        "own": {
            name: _write_attribute(each) for name, each in attributes.items() if name not in shared
        },
        "shared": shared,
    }
    if spec.content is ContentModel.TRANSPARENT:
        written["parent"] = True
    return written


def _write_attribute(spec: AttributeSpec) -> dict[str, Any]:
    written: dict[str, Any] = {"doc": spec.doc, "accepts": spec.value_type.accepts}
    if spec.value_type.choices:
        written["words"] = list(spec.value_type.choices)
    if spec.default is not None:
        written["default"] = spec.default
    if spec.is_required:
        written["required"] = True
    if spec.is_expression:
        written["expression"] = True
    return written
