"""Validation reports unused parts and properties without effect."""

from __future__ import annotations

import pytest

from tests.engine.tree.documents import OPTIONS, problems
from workers.engine.pipeline import validate
from workers.engine.ports import Payload, PayloadKind


def reported(flow: str, head: str = "") -> list[str]:
    return problems(flow, head=head)


def test_an_unused_style_is_reported():
    head = '<style name="a" color="#900000"/><style name="b" extends="c"/><style name="c" color="#900000"/>'
    assert reported('<p class="b">x</p>', head) == [
        'The style "a" is used by no element [unused-style]'
    ]


def test_where_a_class_depends_on_data_no_style_is_called_unused():
    assert reported("<p class=\"{{ 'a' }}\">x</p>", '<style name="a" color="#900000"/>') == []


def test_an_unprinted_flow_is_reported():
    head = '<flow name="notes"><p>x</p></flow><flow name="used"><p>x</p></flow>'
    (finding,) = reported('<insert flow="used"/>', head)
    assert finding.startswith('The flow "notes" is never drawn')


@pytest.mark.parametrize(
    ("style", "element", "idle"),
    [
        (
            'margin-top="2mm" color="#900000"',
            "<table><tr><td class='s'>x</td></tr></table>",
            "margin-top",
        ),
        ('text-align="right"', "<p><b class='s'>x</b></p>", "text-align"),
        ('list-style-type="disc" padding="1mm"', "<p class='s'>x</p>", "list-style-type"),
        ('width="2mm"', "<group class='s'><p>x</p></group>", "width"),
    ],
)
def test_a_property_without_effect_is_reported_at_the_element(style, element, idle):
    (finding,) = reported(element, f'<style name="s" {style}/>')
    assert finding.endswith(f"{idle}, which has no effect there [no-effect]")
    assert finding.startswith('The style "s" gives ')


@pytest.mark.parametrize(
    ("style", "element"),
    [
        ('color="#900000"', "<group class='s'><p>x</p></group>"),
        ('vertical-align="middle"', "<table><tr class='s'><td>x</td></tr></table>"),
        ('padding="1mm"', "<p class='s'>x</p>"),
    ],
)
def test_a_property_with_an_effect_is_not_reported(style, element):
    assert reported(element, f'<style name="s" {style}/>') == []


def test_a_style_of_an_element_is_judged_by_the_element():
    (finding,) = reported("<p>x</p>", '<style element="td" margin="2mm"/>')
    assert finding == "This `style` gives `td` margin, which has no effect there [no-effect]"
    assert reported("<p>x</p>", '<style element="document" color="#900000"/>') == []


def test_invalid_bar_code_values_are_reported_without_layout():
    (finding,) = reported('<barcode type="ean13" alt="" value="4012345678900"/>')
    assert "its check digit is 1" in finding
    (finding,) = reported('<barcode type="ean13" alt="" value="{{ \'4012345678900\' }}"/>')
    assert "its check digit is 1" in finding


@pytest.mark.parametrize("setting", ['timezone="Europe/Atlantis"', 'currency="XQX"'])
def test_unknown_settings_are_reported_even_with_invalid_data(setting):
    source = (
        f"<document {setting}><data><json>{{}}</json><field name='a' required='true'/></data>"
        "<flow><p>x</p></flow></document>"
    )
    found = validate(None, Payload(PayloadKind.XML, source.encode()), options=OPTIONS)
    assert "unknown-setting" in [finding.code for finding in found]
