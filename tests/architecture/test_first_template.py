"""The README's first template is what its readers try first: it renders without a finding."""

import re
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from workers.engine.pipeline import prepare_template, render, validate
from workers.engine.ports import Payload, PayloadKind, RenderOptions

README = (Path(__file__).parents[2] / "README.md").read_text()
TEMPLATE = re.search(r"```xml\n(.*?)```", README, re.DOTALL).group(1)
PAYLOAD = re.findall(r"-d '(\{[^']*\})'", README)[-1]
OPTIONS = RenderOptions(now=datetime(2026, 11, 21, tzinfo=UTC))


@pytest.fixture(scope="module")
def template():
    return prepare_template(TEMPLATE.encode())


def test_the_template_of_the_readme_has_no_finding_with_its_sample(template):
    options = replace(OPTIONS, with_sample=True)
    assert list(validate(template, None, options=options)) == []


def test_the_template_of_the_readme_is_40_lines_or_fewer():
    assert len(TEMPLATE.splitlines()) <= 40


def test_the_data_of_the_readme_renders_on_one_page(template):
    payload = Payload(PayloadKind.JSON, PAYLOAD.encode())
    assert render(template, payload, options=OPTIONS).pages == 1


def test_the_pictures_of_the_readme_are_there():
    root = Path(__file__).parents[2]
    pictures = re.findall(r'(?:src="|\]\()([\w/.-]+\.png)', README)
    assert pictures
    assert [name for name in pictures if not (root / name).is_file()] == []
