"""Notes at the feet of pages: where they are, how they break, and that every page ends."""

from __future__ import annotations

import io
import re
from itertools import pairwise

import pikepdf
import pypdfium2
import pytest

from tests.engine.layout.test_page_references import pdf_of, texts_of
from tests.golden.case import OPTIONS
from workers.engine.diagnostics import AuthoringError
from workers.engine.layout.pages import footnotes
from workers.engine.pipeline import prepare_template, render
from workers.engine.tree.build_state import LIMITS, Limit

WORDS = "word " * 40


def document(flow: str, *, head: str = "", page: str = '<page size="A6" margin="10mm"/>') -> str:
    return f'<document lang="en">{head}{page}<flow>{flow}</flow></document>'


def pages_of(
    flow: str, *, head: str = "", page: str = '<page size="A6" margin="10mm"/>'
) -> list[str]:
    return texts_of(pdf_of(document(flow, head=head, page=page)))


def numbers_in(texts: list[str], pattern: str) -> list[list[int]]:
    return [[int(number) for number in re.findall(pattern, text)] for text in texts]


def test_every_note_stands_on_the_page_of_its_call():
    pages = pages_of(
        f"<p for='i in range(1, 40)'>call{{{{ i }}}}: {WORDS[:90]}<footnote>note{{{{ i }}}}.</footnote></p>"
    )
    calls, notes = numbers_in(pages, r"call(\d+):"), numbers_in(pages, r"note(\d+)\.")
    assert len(pages) > 3
    assert calls == notes
    assert [number for page in notes for number in page] == list(range(1, 40))


def test_two_hundred_notes_of_one_page_go_on_in_order():
    pages = pages_of(
        "<p>" + "".join(f"w{i}<footnote>note{i}.</footnote> " for i in range(200)) + "</p>",
        page='<page size="A3" margin="10mm"/>',
    )
    notes = [number for page in numbers_in(pages, r"note(\d+)\.") for number in page]
    assert notes == list(range(200))
    assert len(pages) == 3  # a page of A3 has room for some eighty


def test_a_page_with_room_for_two_hundred_notes_has_them_all():
    notes = "".join(f"<footnote>n{i}.</footnote>" for i in range(200))
    pages = pages_of(
        f"<p>all{notes}</p>",
        head='<style element="footnote" font-size="3pt" line-height="1.1" margin-bottom="0"/>',
        page='<page size="A4" margin="5mm"/>',
    )
    assert len(pages) == 1
    assert numbers_in(pages, r"n(\d+)\.") == [list(range(200))]


def test_a_note_longer_than_a_page_continues_beside_the_text():
    words = " ".join(f"w{i}" for i in range(2500))
    pages = pages_of(f"<p>Called<footnote>{words}</footnote> here.</p><p>{WORDS * 10}</p>")
    found = [number for page in numbers_in(pages, r"\bw(\d+)\b") for number in page]
    assert found == list(range(2500))
    assert pages[0].startswith("Called")
    assert pages[1].startswith("word")  # the text does not wait for the end of the note
    assert len(pages) > 3


@pytest.mark.long
def test_ten_thousand_notes_are_laid_out():
    pages = pages_of(
        "<p for='i in range(1, 10001)'>x<footnote>note{{ i }}.</footnote></p>",
        head='<style element="footnote" font-size="4pt"/><style element="p" margin="0"/>',
        page='<page size="A3" margin="10mm"/>',
    )
    notes = [number for page in numbers_in(pages, r"note(\d+)\.") for number in page]
    assert notes == list(range(1, 10001))


def test_a_note_without_room_beside_unbreakable_content_moves_to_the_next_page():
    tall = f'<box height="120mm"><p>tall<footnote>{WORDS * 3} end</footnote></p></box>'
    pages = pages_of(f"{tall}<p>after</p>")
    assert "tall" in pages[0]
    assert pages[-1].rstrip().endswith("end")


def test_areas_are_filled_a_bounded_number_of_times(monkeypatch: pytest.MonkeyPatch):
    fillings = 0
    lay_out_stack = footnotes.lay_out_stack

    def count(*given, **named):
        nonlocal fillings
        fillings += 1
        return lay_out_stack(*given, **named)

    monkeypatch.setattr(footnotes, "lay_out_stack", count)
    tall = f'<div break-inside="avoid"><p>{WORDS * 3}<footnote>{WORDS * 5}</footnote></p></div>'
    pages = pages_of(tall * 20)
    assert fillings < len(pages) * 6 * footnotes.MAX_TRIALS


def test_numbers_restart_on_each_page():
    pages = pages_of(
        f"<p for='i in range(1, 30)'>{WORDS}call{{{{ i }}}}<footnote>note</footnote></p>",
        head='<style element="footnote" count-per="page"/>',
    )
    for page in pages:
        count = page.count("note")
        assert re.findall(r"(\d+) note", page) == [str(number + 1) for number in range(count)]


def test_numbers_restart_in_each_flow_and_at_a_counter_reset():
    pages = texts_of(
        pdf_of(
            '<document><style element="footnote" count-per="flow"/><page size="A6" margin="9mm">'
            '<area height="60mm"/><area flow="other" top="70mm"/></page>'
            "<flow><p>a<footnote>one</footnote><footnote>two</footnote></p>"
            '<h3 counter-reset="footnote">b<footnote>three</footnote></h3></flow>'
            '<flow name="other"><p>c<footnote>four</footnote></p></flow></document>'
        )
    )
    assert re.findall(r"(\d) (one|two|three|four)", pages[0]) == [
        ("1", "one"), ("2", "two"), ("1", "three"), ("1", "four"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("number", "shown"),
    [("1", "12"), ("a", "l"), ("A", "L"), ("i", "xii"), ("*", "‖‖"), ("(1)", "(12)"), ("none", "")],
)
def test_formats_of_numbers(number: str, shown: str):
    notes = "<footnote>n</footnote>" * 11
    last = f"<footnote number='{number}' counter='footnote'>n</footnote>"
    text = pages_of(f"<p>x{notes}</p><p>last:{last}.</p>")[0]
    assert f"last:{shown}." in text.replace("last: ", "last:").replace(" .", ".")


def test_numbers_and_notes_lead_to_each_other():
    pdf = pdf_of(
        document(
            "<p>a<footnote>one</footnote></p><p break-before='page'>b<footnote>two</footnote></p>"
        )
    )
    with pikepdf.open(io.BytesIO(pdf)) as file:
        for page in file.pages:
            links = [link for link in page.Annots if link.Subtype == "/Link"]
            assert len(links) == 2
            assert {link.Dest[0].objgen for link in links} == {page.objgen}
            for call, back in pairwise(links):
                assert abs(float(call.Dest[3]) - float(back.Rect[3])) < 20
                assert abs(float(back.Dest[3]) - float(call.Rect[3])) < 20


def test_a_heading_is_listed_without_the_number_of_its_note():
    pdf = pdf_of(document('<toc/><h1 id="h">Head<footnote>n</footnote></h1><p><ref to="h"/>.</p>'))
    assert "Head 1 Head1 Head." in texts_of(pdf)[0]
    with pikepdf.open(io.BytesIO(pdf)) as file, file.open_outline() as outline:
        assert [item.title for item in outline.root] == ["Head"]


def test_notes_of_columns_stand_at_the_foot_of_their_column():
    page = '<page size="A6 landscape" margin="8mm"><area columns="2"/></page>'
    pages = pages_of(
        f"<p for='i in range(1, 9)'>call{{{{ i }}}} {WORDS[:60]}<footnote>note{{{{ i }}}}.</footnote></p>",
        page=page,
    )
    assert len(pages) == 1
    order = re.findall(r"(call|note)(\d)", pages[0])
    column = [int(number) for kind, number in order if kind == "call"]
    assert order.index(("note", "1")) < order.index(("call", str(column[-1])))


def test_a_note_of_markdown_that_is_called_twice_stands_once():
    text = pages_of("<markdown>a[^1] b[^2] c[^1]\n\n[^1]: one\n\n[^2]: two\n</markdown>")[0]
    assert text.count("one") == 1
    assert re.search(r"a ?1 b ?2 c ?1", text)


def test_notes_of_markdown_have_no_place_in_notes_and_in_headers():
    source = document(
        "<markdown>a[^1]\n\n[^1]: one[^2]\n\n[^2]: two\n</markdown>",
        page='<page size="A6"><header><markdown>h[^1]\n\n[^1]: in the head\n</markdown></header></page>',
    )
    rendered = render(prepare_template(source.encode()), None, options=OPTIONS)
    text = texts_of(rendered.pdf)[0]
    assert "one" in text
    assert "two" not in text
    assert "in the head" not in text
    assert {warning.code for warning in rendered.warnings} == {"markdown-note"}


@pytest.mark.parametrize("overflow", ["error", "shrink", "hidden"])
def test_an_area_that_nothing_follows_keeps_room_for_its_notes(overflow: str):
    page = f'<page size="A6" margin="9mm"><area height="40mm" overflow="{overflow}"/></page>'
    assert "the note" in pages_of("<p>x<footnote>the note</footnote></p>", page=page)[0]


def test_notes_that_an_area_has_no_room_for_are_an_error():
    page = '<page size="A6" margin="9mm"><area height="20mm" overflow="error"/></page>'
    with pytest.raises(AuthoringError, match="Notes do not fit"):
        pages_of(f"<p>x<footnote>{WORDS * 4}</footnote></p>", page=page)


def test_too_many_notes_are_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(LIMITS, "too-many-notes", Limit(3, "notes"))
    with pytest.raises(AuthoringError, match="too-many-notes"):
        pages_of("<p>" + "x<footnote>n</footnote>" * 4 + "</p>")


def test_unstable_page_numbers_are_reported():
    # "1" needs the room that "10" has not: the tenth call goes to and fro between two pages.
    call = "<footnote number='{}' count-per='page'>n</footnote>".format("(" * 30 + "1" + ")" * 30)
    try:
        pages = pages_of("<p>" + f"word{call} " * 60 + "</p>")
    except AuthoringError as error:
        assert "not-settled" in str(error)  # noqa: PT017
    else:
        assert sum(page.count("n") for page in pages) >= 60


_BALANCED = '<page size="A5" margin="12mm"><area columns="2" column-fill="{}"/></page>'


def heights_of(file: bytes, text: str, page: int = 0) -> list[float]:
    """Return where each occurrence of a text stands on a page, from the lowest."""
    words = pypdfium2.PdfDocument(file)[page].get_textpage()
    search, found = words.search(text), []
    while (at := search.get_next()) is not None:
        found.append(round(words.get_charbox(at[0])[1], 1))
    return sorted(found)


@pytest.mark.parametrize(
    "float_", ["", '<figure float="top" span="columns"><div height="20mm"/></figure>']
)
def test_columns_with_notes_are_balanced_and_keep_them_at_the_foot(float_: str):
    calls = "<p margin-bottom='0' for='i in range(20)'>line<footnote if='i in [1, 14]'>note</footnote></p>"
    files = [
        pdf_of(document(float_ + calls, page=_BALANCED.format(fill)))
        for fill in ("balance", "auto")
    ]
    balanced, auto = (heights_of(file, "line") for file in files)
    assert len(balanced) == len(auto) == 20
    assert balanced[0] == balanced[1], "ten lines in each column"
    assert auto[0] != auto[1]
    foot = heights_of(files[1], "note")[0]
    assert heights_of(files[0], "note") == [foot, foot]


def test_columns_stay_unbalanced_where_a_note_continues_on_the_next_page():
    calls = f"<p margin-bottom='0' for='i in range(20)'>line<footnote if='i == 19'>{WORDS * 20}</footnote></p>"
    pages = pages_of(calls, page=_BALANCED.format("balance"))
    assert len(pages) > 1
    assert len(re.findall("word", "".join(pages))) == 800


def test_columns_with_figures_in_them_are_filled_one_after_the_other():
    figure = '<figure float="top"><div height="10mm"/></figure>'
    file = pdf_of(
        document(
            f"<p margin-bottom='0' for='i in range(20)'>line</p>{figure}<p>end</p>",
            page=_BALANCED.format("balance"),
        )
    )
    assert len(heights_of(file, "line")) == 20


@pytest.mark.parametrize("height", [23, 26, 29])
def test_a_note_whose_call_is_cut_from_an_overlong_word_is_printed_once(height: int):
    # The word fills its line, the last of the page, and its call begins the next page.
    source = (
        '<document lang="en"><style element="p" orphans="1" widows="1" margin-bottom="0"/>'
        '<page size="30mm 50mm" margin="5mm"/><flow>'
        f'<box height="{height}mm"/><p>aaaaaaaaaa<footnote>NOTE</footnote></p></flow></document>'
    )
    assert texts_of(pdf_of(source)) == ["aaaaaaaaaa", "1 1 NOTE"]
