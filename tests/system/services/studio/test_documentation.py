"""The documentation at /docs/: every page, its links, and one search over all of them and the API."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from deploy.tools.language.elements import SHARED, is_shared
from workers.engine.syntax.vocabulary import ELEMENTS


@pytest.fixture
def open_docs(open_page, address):
    """Provide a function that opens a page of the documentation."""

    def open_it(path: str = "", **options) -> Page:
        page = open_page(**options, base_url=address)
        page.goto(f"/docs/{path}")
        page.locator("main h1").first.wait_for()
        return page

    return open_it


def list_addresses(page: Page) -> list[str]:
    return page.locator(".contents a").evaluate_all("all => all.map(one => one.pathname)")


def test_each_page_is_shown_and_each_link_leads_somewhere(open_docs):
    page = open_docs()
    shown = [*list_addresses(page), *list_addresses(open_docs("language"))]
    links, anchors = set(), set()
    for path in dict.fromkeys(shown):
        if path in ("/docs", "/docs/"):
            continue
        page.goto(path)
        page.locator("article h1").first.wait_for()
        texts = page.locator("article :is(h1, h2, h3, p, li, td)").all_inner_texts()
        assert [text for text in texts if re.search(r"(?m)^(#{1,6} |```|\| ?---)", text)] == [], (
            path
        )
        anchors |= {path} | {
            f"{path}#{one}"
            for one in page.evaluate("[...document.querySelectorAll('[id]')].map(one => one.id)")
        }
        links |= set(
            page.locator("article a").evaluate_all(
                "all => all.filter(one => one.host === location.host).map(one => one.pathname + one.hash)"
            )
        )
        assert (
            page.evaluate(
                "[...document.images].filter(one => one.getAttribute('src') === null).length"
            )
            == 0
        )
    assert sorted(link for link in links - anchors if not link.startswith("/docs/files/")) == []
    names = [f"property.{name}" for name in SHARED]
    for element, spec in ELEMENTS.items():
        names += [
            f"{element}.{name}" for name, one in spec.attributes.items() if not is_shared(one)
        ]
    ends = {anchor.rpartition("#")[2] for anchor in anchors}
    assert [name for name in names if name not in ends] == []


def test_an_attribute_opens_at_its_place(open_docs):
    page = open_docs("language/td.rowspan")
    expect(page.get_by_role("heading", name="td", exact=True)).to_be_visible()
    expect(page.locator("tr.sought")).to_contain_text("Number of rows that it spans")
    expect(page.locator("tr.sought")).to_be_in_viewport()


@pytest.mark.parametrize(
    ("words", "title", "end"),
    [
        ("first invoice", "A first invoice", "/docs/first-invoice"),
        ("td", "td", "/docs/language/td"),
        ("rowspan", "rowspan", "/docs/language/td#td.rowspan"),
        ("cancelBatch", "Cancel or remove a batch", "/docs#cancelBatch"),
        ("PRESSROOM_BODY_MB", "PRESSROOM_BODY_MB", "/docs/settings"),
    ],
)
def test_one_search_finds_pages_the_language_and_calls(open_docs, words, title, end):
    page = open_docs()
    page.keyboard.press("/")
    page.keyboard.type(words)
    found = page.locator(".found a")
    expect(found.first).to_be_visible()
    expect(found.first.locator("b")).to_have_text(title)
    page.keyboard.press("ArrowDown")
    expect(found.first).to_be_focused()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(re.escape(end)))


def test_pages_are_german_for_readers_of_german(open_docs):
    page = open_docs("first-invoice", locale="de-DE")
    expect(page.get_by_role("heading", name="Eine erste Rechnung")).to_be_visible()
    page.get_by_role("link", name="Das Studio").click()
    expect(page.get_by_role("article")).to_contain_text("Eine Webseite für Autoren von Vorlagen")
    page.goto("/docs/studio#signing-in")
    expect(page.get_by_role("heading", name="Anmelden")).to_be_in_viewport()
    page.get_by_label("Sprache").select_option("en")
    expect(page.get_by_role("heading", name="Signing in")).to_be_in_viewport()


def test_what_is_not_there_is_said(open_docs):
    page = open_docs(locale="de-DE")
    page.get_by_role("searchbox", name="Dokumentation durchsuchen").fill("xyzzy")
    expect(page.get_by_text("Nichts enthält „xyzzy“.")).to_be_visible()
    page.goto("/docs/language/nothing")
    expect(page.get_by_text("Diese Seite gibt es nicht")).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_pages_have_no_finding_of_axe(open_docs, find_violations, scheme):
    page = open_docs(color_scheme=scheme, locale="de-DE")
    for path in ("", "language/td", "api", "studio"):
        page.set_viewport_size({"width": 1400, "height": 800})
        page.goto(f"/docs/{path}")
        page.locator("main h1").first.wait_for()
        page.get_by_role("searchbox").fill("page")
        page.locator(".found a").first.wait_for()
        assert find_violations(page) == []
        page.set_viewport_size({"width": 390, "height": 844})
        assert page.evaluate("document.scrollingElement.scrollWidth") <= 390
