"""What validation says of parts that nothing uses and of properties that do nothing."""

from __future__ import annotations

import pytest

from tests.engine.tree.documents import OPTIONS, problems
from workers.engine.pipeline import validate
from workers.engine.ports import Payload, PayloadKind


def told(flow: str, head: str = "") -> list[str]:
    return problems(flow, head=head)


def test_a_style_that_no_element_uses_is_told():
    head = '<style name="a" color="red"/><style name="b" extends="c"/><style name="c" color="red"/>'
    assert told('<p class="b">x</p>', head) == [
        'The style "a" is used by no element [unused-style]'
    ]


def test_where_a_class_depends_on_data_no_style_is_called_unused():
    assert told("<p class=\"{{ 'a' }}\">x</p>", '<style name="a" color="red"/>') == []


def test_a_flow_that_is_printed_nowhere_is_told():
    head = '<flow name="notes"><p>x</p></flow><flow name="used"><p>x</p></flow>'
    (finding,) = told('<insert flow="used"/>', head)
    assert finding.startswith('The flow "notes" is printed nowhere')


@pytest.mark.parametrize(
    ("style", "element", "idle"),
    [
        (
            'margin-top="2mm" color="red"',
            "<table><tr><td class='s'>x</td></tr></table>",
            "margin-top",
        ),
        ('text-align="right"', "<p><b class='s'>x</b></p>", "text-align"),
        ('list-style-type="disc" padding="1mm"', "<p class='s'>x</p>", "list-style-type"),
        ('width="2mm"', "<group class='s'><p>x</p></group>", "width"),
    ],
)
def test_a_property_that_has_no_effect_is_told_at_the_element(style, element, idle):
    (finding,) = told(element, f'<style name="s" {style}/>')
    assert finding.endswith(f"{idle}, which has no effect there [no-effect]")
    assert finding.startswith('The style "s" gives ')


@pytest.mark.parametrize(
    ("style", "element"),
    [
        ('color="red"', "<group class='s'><p>x</p></group>"),
        ('vertical-align="middle"', "<table><tr class='s'><td>x</td></tr></table>"),
        ('padding="1mm"', "<p class='s'>x</p>"),
    ],
)
def test_a_property_with_an_effect_is_not_told(style, element):
    assert told(element, f'<style name="s" {style}/>') == []


def test_a_style_of_an_element_is_judged_by_the_element():
    (finding,) = told("<p>x</p>", '<style element="td" margin="2mm"/>')
    assert finding == "This `style` gives `td` margin, which has no effect there [no-effect]"
    assert told("<p>x</p>", '<style element="document" color="red"/>') == []


def test_wrong_values_of_bar_codes_are_told_without_layout():
    (finding,) = told('<barcode type="ean13" alt="" value="4012345678900"/>')
    assert "its check digit is 1" in finding
    (finding,) = told('<barcode type="ean13" alt="" value="{{ \'4012345678900\' }}"/>')
    assert "its check digit is 1" in finding


@pytest.mark.parametrize("setting", ['timezone="Europe/Atlantis"', 'currency="XQX"'])
def test_settings_that_do_not_exist_are_told_even_with_wrong_data(setting):
    source = (
        f"<document {setting}><data><json>{{}}</json><field name='a' required='true'/></data>"
        "<flow><p>x</p></flow></document>"
    )
    found = validate(None, Payload(PayloadKind.XML, source.encode()), options=OPTIONS)
    assert "unknown-setting" in [finding.code for finding in found]
