"""Findings in German: the catalogue covers the engine, and texts are put together from it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from string import Formatter
from typing import Any
from xml.etree import ElementTree

import pytest

import api.studio
import shared.templates
import workers.engine
from api.app import describe_api
from api.translation import DESCRIBED, LANGUAGES, read_catalogue, read_texts, translate_findings

PUBLIC = Path(shared.templates.__file__).parent / "public_templates"
ENGINE = Path(workers.engine.__file__).parent
# What files in the workspace and the machine's own parts report: the title of the code precedes the English text.
OTHERS = (
    "cli.py", "fonts/", "svg/", "pdf_pages/", "layout/images.py", "layout/pictures.py",
    "einvoices/", "finish/",
)  # fmt: skip
REPORTS = {"error", "warn", "_error", "_warn", "_report", "report", "refuse"}
PROBLEMS = re.compile(
    r"(Diagnostic|LayoutProblem|ContentProblem|(Expression|ExpressionSyntax|InvalidValue)Error)$"
)
CODE = re.compile(r"[a-z]+(-[a-z0-9]+)+")
# What a description names as it is written in requests: fields, patterns, paths, headers and parameters with values.
NAMES = re.compile(
    r"\{[^}]*\}|<[^>]*>|\b\w+_\w+|/v2/\S+\b|\b[A-Z]\w+-[A-Z][A-Za-z-]+\b|@\w+|\b\w+=\w+"
)


def list_texts() -> Iterator[tuple[str, str | None, str]]:
    """Yield the place, the code and the text of each finding that the engine writes at one place; `1` for values."""
    for path in sorted(ENGINE.rglob("*.py")):
        name = path.relative_to(ENGINE).as_posix()
        if name.startswith(OTHERS):
            continue
        for call in ast.walk(ast.parse(path.read_text())):
            if not isinstance(call, ast.Call):
                continue
            called = (
                call.func.attr
                if isinstance(call.func, ast.Attribute)
                else getattr(call.func, "id", "")
            )
            if called not in REPORTS and not PROBLEMS.search(called):
                continue
            texts = [_text(each) for each in (*call.args, *(each.value for each in call.keywords))]
            code = next(
                (text for text in texts if text and CODE.fullmatch(text) and text[-1] != "1"), None
            )
            for text in texts:
                # What begins with a value is the end of a text that is begun elsewhere.
                if text and text[0] != "1" and text != code and re.search(r"\w{2}.* .*\w{2}", text):
                    yield f"{name}:{call.lineno}", code, text


def _text(node: ast.expr) -> str | None:
    if isinstance(node, ast.JoinedStr):
        return "".join(
            each.value if isinstance(each, ast.Constant) else "1" for each in node.values
        )
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


@pytest.mark.parametrize("language", LANGUAGES[1:])
def test_each_text_of_the_engine_is_translated(language):
    catalogue = read_catalogue(language)
    texts = list(list_texts())
    assert len(texts) > 200
    assert [(place, text) for place, _, text in texts if not catalogue.find(text)] == []
    assert {code for _, code, _ in texts if code} <= set(catalogue.titles)


def test_translations_have_the_values_of_their_messages():
    for message in read_catalogue("de").messages:
        used = {
            value for _, value, _, _ in Formatter().parse(message.translation) if value is not None
        }
        assert used <= {str(number) for number in range(len(message.literals) - 1)}, message


def list_described(value: Any) -> Iterator[str]:
    """Yield the texts of an OpenAPI description."""
    for name, each in value.items() if isinstance(value, dict) else enumerate(value):
        if name in DESCRIBED and isinstance(each, str):
            yield each
        elif isinstance(each, dict | list | tuple):
            yield from list_described(each)


@pytest.mark.parametrize("language", LANGUAGES[1:])
def test_the_catalogue_has_the_texts_of_the_description_and_no_other(language):
    texts = read_texts(f"reference.{language}.po")[None]
    assert set(list_described(describe_api())) - {""} == set(texts)
    assert "" not in texts.values()


@pytest.mark.parametrize("language", LANGUAGES[1:])
def test_the_texts_of_the_description_keep_code_names_and_numbers(language):
    for english, translated in read_texts(f"reference.{language}.po")[None].items():
        for same in (r"`[^`]*`", r"\d+"):  # digits alone: 100,000 is 100.000 in German
            assert sorted(re.findall(same, translated)) == sorted(re.findall(same, english))
        assert [name for name in NAMES.findall(english) if name not in translated] == []


@pytest.mark.parametrize(
    ("english", "german"),
    [
        (
            '`p` has no attribute `colour`; did you mean "color"? [unknown-attribute]',
            "`p` hat kein Attribut `colour`; meinten Sie „color“? [unknown-attribute]",
        ),
        (
            (
                '`width` of `p` is "a list", accepted is a number with a unit (mm pt), not negative, or auto [wrong-value] '
                "(and 3 more)"
            ),
            (
                "`width` von `p` ist „a list“, erlaubt: eine Zahl mit Einheit (mm pt), nicht negativ oder auto [wrong-value] "
                "(und 3 weitere)"
            ),
        ),
        (
            (
                "Content does not fit: `img` needs 210 mm of width, the page allows 170 mm (page 2). Give it a smaller width. "
                "[wider-than-container]"
            ),
            (
                "Der Inhalt passt nicht: `img` braucht 210 mm Breite, die Seite erlaubt 170 mm (Seite 2). Machen Sie es "
                "schmaler. [wider-than-container]"
            ),
        ),
        (
            "Line 3, column 1 contains the character U+0000, which is left out [control-character]",
            "Zeile 3, Spalte 1 enthält das Zeichen U+0000, das weggelassen wird [control-character]",
        ),
        (
            "A text of tomorrow [unused-style]",
            "Nicht verwendeter Stil: A text of tomorrow [unused-style]",
        ),
        ("A text of an unknown rule [of-tomorrow]", "A text of an unknown rule [of-tomorrow]"),
        ("The page is empty", "The page is empty"),
    ],
)
def test_a_finding_is_put_together_from_its_parts(english, german):
    assert translate_findings({"errors": [{"message": english}]}, "de") == {
        "errors": [{"message": german}]
    }


@pytest.mark.parametrize("texts_of_authors", ["; did you mean" * 400, "A. " * 1300])
def test_what_would_take_a_front_long_follows_the_title_of_its_code(texts_of_authors):
    text = f"`p` has no attribute `{texts_of_authors}` [unknown-attribute]"
    translated = {"message": f"Unbekanntes Attribut: {text}"}
    assert translate_findings({"message": text}, "de") == translated


def test_names_labels_and_messages_of_public_templates_are_german():
    catalogue = read_catalogue("de")
    messages = Path(api.studio.__file__).parent / "source/messages"
    labels, names = ((messages / f"{kind}.ts").read_text() for kind in ("labels", "names"))
    for path in PUBLIC.glob("*.xml"):
        name = path.stem.removeprefix("service-").replace("-", " ").capitalize()
        assert re.search(rf'^  "?{name}"?: "', names, re.MULTILINE | re.IGNORECASE), name
        for each in ElementTree.parse(path).iter():
            assert each.tag != "assert" or catalogue.find(each.get("message", "")), each.attrib
            label = each.get("label") if each.tag in {"setting", "field", "dataset"} else None
            assert label is None or re.search(
                rf'^  "?{re.escape(label)}"?: "', labels, re.MULTILINE
            ), label
