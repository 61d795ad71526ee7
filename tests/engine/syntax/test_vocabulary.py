"""The vocabulary agrees with itself."""

from __future__ import annotations

import pytest

from workers.engine.syntax.vocabulary import ELEMENTS, PROPERTIES, Content, ElementSpec


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
            attribute.kind.parse(attribute.default)


def test_only_a_group_holds_what_its_parent_may():
    assert [e.name for e in ELEMENTS.values() if e.content is Content.PARENT] == ["group"]


def test_margins_and_breaks_are_not_inherited_but_text_is():
    assert not PROPERTIES["margin-top"].is_inherited
    assert not PROPERTIES["text-decoration"].is_inherited
    assert PROPERTIES["font-size"].is_inherited
    assert PROPERTIES["orphans"].is_inherited
