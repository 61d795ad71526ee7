"""The links of a template are read from its text without the engine."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.templates.links import find_links


@pytest.mark.parametrize(
    ("text", "links"),
    [
        ("<document/>", ()),
        ('<document extends="a@1"/>', ("a@1",)),
        ('<document extends=" a@1 "><import template="b@live"/><import template="a@1"/></document>', ("a@1", "b@live")),
        # Neither a style that extends another, nor an import at another place, nor one without a template.
        ('<document><style name="x" extends="y"/><flow><import template="b@1"/></flow><import/></document>', ()),
        ("<!-- <import template='c@1'/> --><document><p>extends='d@1'</p></document>", ()),
        # What is before an error counts: the engine reports both.
        ('<document extends="a@1"><p></document>', ("a@1",)),
        ('<!DOCTYPE d [<!ENTITY e "x">]><document extends="&e;"/>', ()),
        ("extends", ()),
    ],
)  # fmt: skip
def test_links_are_those_of_the_root_and_of_its_imports(text, links):
    assert find_links(text) == links


@given(st.text(alphabet=st.characters(exclude_categories=())))
def test_no_text_is_an_error(text):
    assert find_links(f'<document extends="a@1">{text}<import')[:1] == ("a@1",)


def test_links_beyond_the_elements_of_a_document_are_not_looked_for():
    begun = time.process_time()
    text = '<document><import template="a@1"/>' + "<p/>" * 7_500_000
    assert find_links(text + '<import template="b@1"/></document>') == ("a@1",)
    assert time.process_time() - begun < 1.5
