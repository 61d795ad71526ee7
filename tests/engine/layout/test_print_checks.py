"""What a print shop would ask about is a warning where `print-checks` asks for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from deploy.tools.gallery import OPTIONS
from workers.engine.local_files import FolderResources
from workers.engine.pipeline import prepare_template, render

IMAGES = FolderResources(Path(__file__).parents[2] / "golden/images", None)


def warnings_of(content, attributes='print-checks="true"', page=""):
    source = f"<document {attributes}>{page}<flow>{content}</flow></document>".encode()
    made = render(prepare_template(source), None, options=OPTIONS, resources=IMAGES)
    return [(each.code, each.message) for each in made.warnings]


@pytest.mark.parametrize(
    ("content", "code", "message"),
    [
        ('<p font-size="4.9pt">a</p>', "print-text", "Text of 4.9 pt"),
        ('<p font-size="4pt" lang="ar">ب</p>', "print-text", "Text of 4.0 pt"),
        ('<hr border-top="0.1pt solid black"/>', "print-line", "A line of 0.10 pt"),
        ('<box border="0.2pt solid black"><p>a</p></box>', "print-line", "A line of 0.20 pt"),
        ('<img src="turned" alt="" width="170mm"/>', "print-image", "dots per inch at its size"),
    ],
)
def test_what_prints_badly_is_a_warning_with_its_page(content, code, message):
    [(found, text)] = warnings_of(content * 2 if "img" not in content else content)[:1]
    assert found == code
    assert message in text
    assert "(page 1)" in text
    assert warnings_of(content, attributes="") == []


def test_what_prints_well_is_no_warning():
    content = '<p font-size="5pt">a</p><hr border-top="0.25pt solid black"/>'
    assert warnings_of(content + '<img src="turned" alt="" width="3mm"/>') == []
    assert warnings_of('<img src="turned" alt="" width="0mm"/>') == []  # is not printed


def test_what_every_page_repeats_is_reported_once():
    page = '<page><footer><p font-size="4pt">{{ page.number }}</p></footer></page>'
    assert len(warnings_of("<p>a</p><break/><p>b</p>", page=page)) == 1
