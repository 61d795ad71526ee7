"""The README's first template is what its readers try first: it renders without a finding."""

import re
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from workers.engine.pipeline import prepare_template, validate
from workers.engine.ports import RenderOptions

README = (Path(__file__).parents[2] / "README.md").read_text()
TEMPLATE = re.search(r"```xml\n(.*?)```", README, re.DOTALL).group(1)
OPTIONS = RenderOptions(now=datetime(2026, 11, 21, tzinfo=UTC))


@pytest.fixture(scope="module")
def template():
    return prepare_template(TEMPLATE.encode())


def test_the_template_of_the_readme_has_no_finding_with_its_sample(template):
    options = replace(OPTIONS, with_sample=True)
    assert list(validate(template, None, options=options)) == []


def test_the_template_of_the_readme_is_40_lines_or_fewer():
    assert len(TEMPLATE.splitlines()) <= 40
