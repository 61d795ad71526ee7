"""The vocabulary agrees with itself."""

from __future__ import annotations

import pytest

from workers.engine.syntax.checks import check_document
from workers.engine.syntax.parser import parse_document
from workers.engine.syntax.vocabulary import ELEMENTS, PROPERTIES, Content, ElementSpec

_INSIDE = {
    "data": "<document>{}</document>",
    "json": "<document><data>{}</data></document>",
    "field": "<document><data>{}</data></document>",
    "dataset": "<document><data>{}</data></document>",
    "let": "<document><data>{}</data></document>",
    "header": "<document><page>{}</page></document>",
    "footer": "<document><page>{}</page></document>",
    "document": "{}",
}


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


@pytest.mark.parametrize("spec", ELEMENTS.values(), ids=ELEMENTS)
def test_every_example_uses_its_element_without_a_finding(spec: ElementSpec):
    assert f"<{spec.name}" in spec.example
    outer = _INSIDE.get(spec.name)
    if outer is None:
        standing = spec.name in ELEMENTS["document"].children
        outer = "<document>{}</document>" if standing else "<document><flow>{}</flow></document>"
    extra = '<flow name="notes"/></document>' if 'flow="notes"' in spec.example else "</document>"
    source = outer.format(spec.example).removesuffix("</document>") + extra
    tree = parse_document(source.encode(), origin=None)
    assert tree.root is not None
    assert [finding.text for finding in check_document(tree.root)] == []


def test_only_a_group_holds_what_its_parent_may():
    assert [e.name for e in ELEMENTS.values() if e.content is Content.PARENT] == ["group"]


def test_margins_and_breaks_are_not_inherited_but_text_is():
    assert not PROPERTIES["margin-top"].is_inherited
    assert not PROPERTIES["text-decoration"].is_inherited
    assert PROPERTIES["font-size"].is_inherited
    assert PROPERTIES["orphans"].is_inherited
