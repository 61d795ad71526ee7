"""The vocabulary agrees with itself."""

from __future__ import annotations

import pytest

from tests.engine.finish.accessibility_tree import STANDARD
from workers.engine.syntax.vocabulary import (
    ELEMENTS,
    GROUP_LIKE,
    PROPERTIES,
    ContentModel,
    ElementSpec,
)
from workers.engine.syntax.vocabulary.specs import STRUCTURE_TYPES


@pytest.mark.parametrize("spec", ELEMENTS.values(), ids=ELEMENTS)
def test_every_child_is_declared_and_every_element_has_a_place(spec: ElementSpec):
    assert spec.children <= ELEMENTS.keys()
    assert spec.name == "document" or any(
        spec.name in other.children for other in ELEMENTS.values()
    )


@pytest.mark.parametrize("spec", ELEMENTS.values(), ids=ELEMENTS)
def test_every_default_is_a_value_of_its_kind(spec: ElementSpec):
    for attribute in spec.attributes.values():
        if attribute.default is not None:
            attribute.value_type.parse(attribute.default)


def test_only_group_like_elements_accept_the_children_of_their_parent():
    assert {e.name for e in ELEMENTS.values() if e.content is ContentModel.TRANSPARENT} == {
        "group",
        "else",
        "slot",
    }


def test_group_like_elements_are_allowed_where_a_group_is():
    for spec in ELEMENTS.values():
        assert ("group" in spec.children) is (spec.children >= GROUP_LIKE)


def test_margins_and_breaks_are_not_inherited_but_text_is():
    assert not PROPERTIES["margin-top"].is_inherited
    assert not PROPERTIES["text-decoration"].is_inherited
    assert PROPERTIES["font-size"].is_inherited
    assert PROPERTIES["orphans"].is_inherited


@pytest.mark.parametrize("spec", ELEMENTS.values(), ids=ELEMENTS)
def test_every_element_has_a_structure_type_or_is_listed_without_one(spec: ElementSpec):
    assert spec.structure_type == "none" or spec.structure_type in STANDARD


def test_only_elements_have_structure_types():
    assert STRUCTURE_TYPES.keys() == ELEMENTS.keys()
