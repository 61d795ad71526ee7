"""The reference, its pictures and the schema say what the engine does."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from lxml import etree
from PIL import Image, ImageChops

from deploy.tools.language.__main__ import PICTURES, REFERENCE, ROOT, SCHEMA, VOCABULARY, draw_all
from deploy.tools.language.editor import write_vocabulary
from deploy.tools.language.examples import (
    LINKED,
    MAX_BYTES,
    OPTIONS,
    RESOURCES,
    Example,
    display_width,
    find_examples,
)
from deploy.tools.language.formulas import FILTER_GROUPS, OPERATORS, evaluate
from deploy.tools.language.markdown import RECIPES, find_samples, read_guide
from deploy.tools.language.mistakes import GENERAL, SPECIAL, find_diagnostic
from deploy.tools.language.reference import write_reference
from deploy.tools.language.schema import write_schema
from tests.engine.syntax.checked import check_tree
from tests.golden.case import find_cases
from workers.engine.diagnostics import Origin
from workers.engine.pipeline import prepare_template, render, validate
from workers.engine.ports import PayloadKind
from workers.engine.syntax.examples import read_examples
from workers.engine.syntax.formatter import format_template
from workers.engine.syntax.parser import parse_document
from workers.engine.syntax.vocabulary import ELEMENTS, PROPERTIES, AttributeSpec, ElementSpec
from workers.engine.tree.expressions.filters import FILTERS

EXAMPLES = find_examples()
SAMPLES = find_samples(read_guide())
FORMULAS = [
    *(formula for _, formula in OPERATORS),
    *(f for group in FILTER_GROUPS.values() for formulas in group.values() for f in formulas),
]
MISTAKES = [*GENERAL, *(mistake for mistakes in SPECIAL.values() for mistake in mistakes)]
TEMPLATES = sorted(
    path
    for package in ("api", "deploy", "shared", "workers")
    for path in (ROOT / package).rglob("*.xml")
    # Parts of documents, which are rendered on their own, and mappings of invoices.
    if path.parent.name not in ("examples", "einvoices")
)
VALUES = (
    *("1mm", "+1.5pt", ".5em", "0", "-0.0", "00", "-2mm", " 3mm ", "10%", "2fr", "bold", "auto"),
    *("none", "justify", "3", "1mm 2mm", "1pt solid red", "#fff", "45deg", "top", "sub", "true"),
    *("transparent", "italic", "pre", "visible", "logo", "sans-serif", "{{ x }}", "a {{ x }}\n"),
)


@pytest.fixture(scope="module")
def schema() -> etree.RelaxNG:
    return etree.RelaxNG(etree.fromstring(write_schema().encode()))


# --- what is generated ----------------------------------------------------------------------------------


def test_the_reference_is_up_to_date_with_make_language():
    widths = {path.name: display_width(path.read_bytes()) for path in PICTURES.glob("*.png")}
    assert REFERENCE.read_text() == write_reference(read_guide(), widths), "make language"


def test_the_schema_is_up_to_date_with_make_language():
    assert SCHEMA.read_text() == write_schema(), "make language"


def test_the_vocabulary_of_the_studio_equals_the_engines():
    assert VOCABULARY.read_text() == write_vocabulary(), "make language, then make studio"
    written = json.loads(write_vocabulary())
    assert written["elements"].keys() == ELEMENTS.keys()
    for name, element in written["elements"].items():
        assert {*element["own"], *element["shared"]} == ELEMENTS[name].attributes.keys()
        assert set(element["shared"]) <= written["shared"].keys()
        assert set(element["children"]) <= written["elements"].keys()


@pytest.mark.long
def test_every_picture_is_up_to_date_with_the_engine():
    drawn = draw_all()
    assert {path.name for path in PICTURES.glob("*.png")} == drawn.keys(), "make language"
    stale = [name for name, png in drawn.items() if not are_same(png, PICTURES / name)]
    assert stale == [], "make language"


def test_every_picture_is_small():
    sizes = {path.name: path.stat().st_size for path in PICTURES.glob("*.png")}
    assert {name: size for name, size in sizes.items() if size > MAX_BYTES} == {}


# --- examples -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("spec", ELEMENTS.values(), ids=ELEMENTS)
def test_every_element_stands_in_its_example(spec: ElementSpec):
    assert f"<{spec.name}" in read_examples()[spec.name]


@pytest.mark.parametrize("example", EXAMPLES, ids=[example.names[0] for example in EXAMPLES])
def test_every_example_renders_without_a_finding(example: Example):
    template = prepare_template(example.document.encode(), LINKED)
    findings = validate(template, None, options=OPTIONS)
    assert [finding.text for finding in findings] == []
    assert render(template, None, options=OPTIONS, resources=RESOURCES).warnings == ()


@pytest.mark.parametrize(
    "part",
    ["<td>a</td>", "<li>a</li>", '<field name="a"/>', "<header><p>a</p></header>", "<b>a</b>"],
)
def test_a_part_of_a_document_is_put_where_it_may_stand(part: str):
    assert is_sound(Example(("part",), part).document.encode())


@pytest.mark.parametrize("sample", SAMPLES, ids=range(len(SAMPLES)))
def test_every_document_of_the_guide_renders_without_a_finding(sample):
    template = prepare_template(sample.document.encode(), LINKED)
    rendered = render(template, sample.payload, options=OPTIONS, resources=RESOURCES)
    assert rendered.warnings == ()


@pytest.mark.parametrize("formula", FORMULAS, ids=[formula.expression for formula in FORMULAS])
def test_every_expression_has_the_documented_result(formula):
    assert evaluate(formula) == formula.result


def test_every_filter_has_an_example_that_uses_it():
    shown = {name: fs for group in FILTER_GROUPS.values() for name, fs in group.items()}
    assert shown.keys() == FILTERS.keys()
    for name, formulas in shown.items():
        assert all(f"| {name}" in formula.expression for formula in formulas)


@pytest.mark.parametrize("mistake", MISTAKES, ids=[f"{m.tag} {m.code}" for m in MISTAKES])
def test_every_mistake_is_reported_at_its_element(mistake):
    assert find_diagnostic(mistake).message


# --- the schema -----------------------------------------------------------------------------------------


def test_the_schema_accepts_every_example(schema: etree.RelaxNG):
    for example in EXAMPLES:
        schema.assertValid(etree.fromstring(example.document.encode()))


def test_the_schema_accepts_every_document_of_the_guide(schema: etree.RelaxNG):
    for sample in SAMPLES:
        schema.assertValid(etree.fromstring(sample.document.encode()))


def test_the_schema_accepts_every_golden_document_without_errors(schema: etree.RelaxNG):
    sources = [case.source for case in find_cases()]
    sources += [
        case.payload.body
        for case in find_cases()
        if case.payload and case.payload.kind is PayloadKind.XML
    ]
    sound = [source for source in sources if is_sound(source)]
    assert len(sound) > 20
    for source in sound:
        schema.assertValid(etree.fromstring(source))


@pytest.mark.parametrize("path", TEMPLATES, ids=[path.name for path in TEMPLATES])
def test_the_schema_accepts_every_template_that_is_shipped(schema: etree.RelaxNG, path: Path):
    linked = {f"{each.stem}@live": each.read_bytes() for each in TEMPLATES}
    assert not prepare_template(path.read_bytes(), linked).source.findings.errors
    schema.assertValid(etree.fromstring(path.read_bytes()))


@pytest.mark.parametrize(
    "flow",
    [
        "<para>a</para>",
        "<ul><p>a</p></ul>",
        "<ul>a</ul>",
        '<p colour="red">a</p>',
        '<img alt="Logo"/>',
        '<p text-align="centre">a</p>',
        '<p margin-top="12">a</p>',
        "<ul><group><p>a</p></group></ul>",
        "<hr>a</hr>",
        '<ol start="one"><li>a</li></ol>',
    ],
)
def test_the_schema_rejects_errors_that_an_editor_should_mark(schema: etree.RelaxNG, flow: str):
    document = f"<document><flow>{flow}</flow></document>"
    assert not is_sound(document.encode())
    assert not schema.validate(etree.fromstring(document))


@pytest.mark.parametrize("name", PROPERTIES)
def test_the_schema_refuses_no_value_that_the_engine_reads(schema: etree.RelaxNG, name: str):
    element = next(spec for spec in ELEMENTS.values() if takes(spec, name))
    example = Example((element.name,), f"<{element.name}/>")
    document = etree.fromstring(example.document.encode())
    holder = next(document.iter(element.name))
    for value in VALUES:
        if "{{" in value or does_read(element.attributes[name], value):
            holder.set(name, value)
            assert schema.validate(document), value


# --- helpers --------------------------------------------------------------------------------------------


def are_same(png: bytes, path: Path) -> bool:
    with Image.open(io.BytesIO(png)) as drawn, Image.open(path) as kept:
        if drawn.size != kept.size:
            return False
        return not ImageChops.difference(drawn.convert("RGB"), kept.convert("RGB")).getbbox()


def is_sound(source: bytes) -> bool:
    return not check_tree(parse_document(source, origin=Origin.TEMPLATE)).errors


def takes(spec: ElementSpec, name: str) -> bool:
    return name in spec.attributes and not spec.attributes[name].is_fixed


def does_read(attribute: AttributeSpec, value: str) -> bool:
    try:
        attribute.value_type.parse(value)
    except ValueError:
        return False
    return True


def test_every_recipe_stands_in_the_guide_and_renders_without_a_finding():
    documents = {sample.document for sample in SAMPLES}
    recipes = sorted(RECIPES.glob("*.xml"))
    assert len(recipes) == 7
    assert {recipe.read_text() for recipe in recipes} <= documents


def test_every_recipe_is_formatted():
    for recipe in RECIPES.glob("*.xml"):
        source = recipe.read_bytes()
        assert format_template(source) == source, recipe.name
