"""A payload document over a template: one rule, and where each part came from."""

from __future__ import annotations

from decimal import Decimal

import pytest

from tests.engine.merge.documents import Outcome, merge, template
from workers.engine.diagnostics import Origin
from workers.engine.ports import PayloadKind
from workers.engine.syntax.nodes import Element

TEMPLATE = """<document title="T" lang="de">
  <data><json>{"a": 1, "b": {"c": 2}}</json><field name="a"/><let name="n" value="1"/></data>
  <style name="s" color="red"/><style element="p" color="blue"/><color name="ink" value="red"/>
  <page size="A5"/><flow><p>body</p></flow><flow name="notes"><p>old</p></flow>
  <security copy="false" print="low"/>
</document>"""


def lay(payload: str, source: str = TEMPLATE) -> Outcome:
    return merge(template(source), payload, PayloadKind.XML)


def root(outcome: Outcome) -> Element:
    assert outcome.findings == (), [finding.text for finding in outcome.findings]
    assert outcome.merged is not None
    return outcome.merged.root


def test_an_empty_document_changes_nothing():
    merged, plain = root(lay("<document/>")), template(TEMPLATE).root
    assert plain is not None
    assert merged.attributes == plain.attributes
    assert [child.tag for child in merged.elements()] == [child.tag for child in plain.elements()]


def test_attributes_of_the_document_merge():
    assert root(lay('<document title="P" author="A"/>')).attributes == {
        "title": "P",
        "lang": "de",
        "author": "A",
    }


def test_a_flow_is_replaced_whole_and_knows_its_origin():
    merged = root(lay('<document><flow name="notes"><h1>new</h1></flow></document>'))
    body, notes = merged.elements("flow")
    assert [child.tag for child in notes.elements()] == ["h1"]
    assert (body.location.origin, notes.location.origin) == (Origin.TEMPLATE, Origin.PAYLOAD)


def test_styles_are_replaced_by_name_or_element_in_place():
    merged = root(lay('<document><style element="p"/><style name="s" color="green"/></document>'))
    first, second = merged.elements("style")
    assert first.attributes == {"name": "s", "color": "green"}
    assert second.attributes == {"element": "p"}


def test_new_parts_are_added():
    merged = root(
        lay('<document><style name="t"/><watermark text="COPY"/><flow name="x"/></document>')
    )
    assert [child.tag for child in merged.elements()][-3:] == ["style", "watermark", "flow"]


def test_security_settings_merge():
    security = root(lay('<document><security print="high" modify="false"/></document>')).find(
        "security"
    )
    assert security is not None
    assert security.attributes == {"copy": "false", "print": "high", "modify": "false"}


def test_default_values_merge_as_patches():
    outcome = lay('<document><data><json>{"b": {"d": 3}, "a": null}</json></data></document>')
    assert outcome.findings == ()
    assert outcome.data == {"a": None, "b": {"c": Decimal(2), "d": Decimal(3)}}


def test_fields_and_lets_are_replaced_and_added():
    outcome = lay(
        '<document><data><field name="a" type="integer"/><field name="z"/><let name="n" value="2"/>'
        "</data></document>"
    )
    assert outcome.merged is not None
    declared = outcome.merged.source.declarations
    assert [".".join(field.path) for field in declared.fields] == ["a", "z"]
    assert [let.attributes["value"] for let in declared.lets] == ["2"]


@pytest.mark.parametrize(
    ("part", "over"),
    [
        ('<flow name="x" final="true"/>', '<flow name="x"/>'),
        ('<style name="x" final="true"/>', '<style name="x"/>'),
        ('<color name="x" value="red" final="true"/>', '<color name="x" value="blue"/>'),
        ('<page final="true"/>', "<page/>"),
        ('<security final="true"/>', '<security copy="true"/>'),
        ('<data final="true"/>', "<data/>"),
        ('<data><field name="x" final="true"/></data>', '<data><field name="x"/></data>'),
        (
            '<data><let name="x" value="1" final="true"/></data>',
            '<data><let name="x" value="2"/></data>',
        ),
    ],
)
def test_a_final_part_refuses_replacement(part: str, over: str):
    outcome = lay(f"<document>{over}</document>", f"<document>{part}</document>")
    assert outcome.only.code == "final"
    assert outcome.only.location is not None
    assert outcome.only.location.origin is Origin.PAYLOAD


def test_a_duplicate_part_in_a_payload_is_reported():
    codes = lay('<document><flow name="notes"/><flow name="notes"/></document>').codes
    assert codes == ["duplicate-key"]


def test_a_payload_may_use_the_styles_of_the_template_and_not_others():
    payload = '<document><flow name="notes"><p class="{}">x</p></flow></document>'
    assert lay(payload.format("s")).codes == []
    finding = lay(payload.format("u")).only
    assert finding.code == "unknown-style"
    assert finding.location is not None
    assert finding.location.origin is Origin.PAYLOAD


def test_mistakes_of_both_texts_are_reported_with_their_origin():
    outcome = lay("<document><flow name='x'><q/></flow></document>", "<document><qq/></document>")
    places = [finding.location for finding in outcome.findings]
    assert [place and place.origin for place in places] == [Origin.TEMPLATE, Origin.PAYLOAD]


@pytest.mark.parametrize("payload", ["<document>", "<html/>", "", "<!DOCTYPE a><a/>"])
def test_a_payload_that_is_no_document_gives_no_tree(payload: str):
    outcome = lay(payload)
    assert outcome.merged is None
    assert outcome.only.location is not None
    assert outcome.only.location.origin is Origin.PAYLOAD
