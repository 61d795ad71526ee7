"""The editor in the Studio: written, drawn, wrong and told so, kept, saved, and in conflict."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.system.services.studio.conftest import code, write

GOOD = (
    '<document><data><json>{"name": "Ada"}</json></data>\n<flow>\n<h1>Hello</h1>\n'
    "<p>Dear {{ name }}</p>\n</flow></document>"
)
BAD = GOOD.replace("<h1>", '<h1 colour="red">')


@pytest.fixture
def editor(page: Page, account) -> Page:
    """Return a page with the editor of a new template."""
    open_editor(page, account.store_template(GOOD.encode()))
    return page


def open_editor(page: Page, template: str) -> None:
    page.goto(page.url.partition("#")[0] + f"#/templates/{template}/edit")
    expect(code(page)).to_be_visible()


def test_a_page_is_drawn_while_one_writes(editor: Page):
    picture = editor.get_by_role("img", name="Page 1 of 1")
    expect(picture).to_be_visible()
    expect(editor.get_by_text("No errors and no warnings.")).to_be_visible()
    before = picture.get_attribute("src")
    write(editor, '{"name": "Grace"}', "json")
    expect(picture).not_to_have_attribute("src", before or "")
    write(editor, GOOD.replace("</flow>", "<break/><p>More</p></flow>"))
    expect(editor.get_by_role("img", name="Page 1 of 2")).to_be_visible()
    editor.get_by_role("button", name="Next page").click()
    expect(editor.get_by_role("img", name="Page 2 of 2")).to_be_visible()


def test_a_mistake_is_seen_where_it_is_and_goes(editor: Page):
    write(editor, BAD)
    expect(editor.locator(".cm-lintRange-error").first).to_be_visible()
    expect(editor.locator(".finding-list")).to_contain_text("colour")
    editor.get_by_role("button", name="line 3, column").first.click()
    expect(editor.locator(".code[data-kind='xml'] .cm-activeLine")).to_contain_text("colour")
    write(editor, GOOD)
    expect(editor.locator(".cm-lintRange-error")).to_have_count(0)
    write(editor, "<document>")
    expect(editor.locator(".finding-list").or_(editor.get_by_role("alert"))).to_be_visible()


def test_the_page_and_the_text_lead_to_each_other(editor: Page):
    expect(editor.get_by_role("img", name="Page 1 of 1")).to_be_visible()
    code(editor).get_by_text("Hello").click()
    expect(editor.locator(".mark").first).to_be_visible()
    mark = editor.locator(".mark").first.bounding_box()
    assert mark is not None
    code(editor).get_by_text("Dear").click()
    editor.mouse.click(mark["x"] + 8, mark["y"] + mark["height"] / 2)
    expect(editor.locator(".code[data-kind='xml'] .cm-activeLine")).to_contain_text("Hello")


def test_elements_and_attributes_are_completed_from_the_vocabulary(editor: Page):
    code(editor).get_by_text("Hello").click()
    editor.keyboard.press("End")
    editor.keyboard.type("<tab", delay=30)
    offered = editor.locator(".cm-tooltip-autocomplete")
    expect(offered).to_contain_text("table")
    editor.keyboard.press("Escape")
    expect(offered).to_have_count(0)


def test_f1_opens_the_page_of_the_element_at_the_cursor(editor: Page):
    code(editor).get_by_text("Dear").click()
    with editor.context.expect_page() as opened:
        editor.keyboard.press("F1")
    expect(opened.value).to_have_url(re.compile(r"/docs/language/p$"))
    expect(opened.value.get_by_role("heading", level=1)).to_be_visible()


def test_names_of_the_template_are_completed(editor: Page):
    offered = editor.locator(".cm-tooltip-autocomplete")

    def complete(text: str, *labels: str) -> None:
        write(editor, GOOD)
        code(editor).get_by_text("Hello").click()
        editor.keyboard.press("End")
        editor.keyboard.insert_text(text[:-1])
        editor.keyboard.type(text[-1])
        for label in labels:
            expect(offered.get_by_role("option", name=label, exact=True)).to_be_visible()
        editor.keyboard.press("Escape")

    write(editor, '{"lines": [{"text": "One", "price": 2}]}', "json")
    complete("<p>{{ n", 'name"Ada"')
    complete("<p>{{ l", "lines[1]")
    complete("<p>{{ name | up", "upper")
    complete('<p for="line in lines">{{ line.', 'text"One"', "price2")
    complete('<style name="total"/><p class="t', "total")
    complete('<p if="nam', 'name"Ada"')


def test_stored_images_values_and_members_are_completed(page: Page, account):
    account.store_logo()
    lists = GOOD.replace('"Ada"', '"Ada", "lines": [{"text": "One", "price": 2}]')
    open_editor(page, account.store_template(lists.encode()))
    offered = page.locator(".cm-tooltip-autocomplete")
    code(page).get_by_text("Hello").click()
    page.keyboard.press("End")
    page.keyboard.insert_text("<img sr")
    page.keyboard.type("c")
    expect(offered.get_by_role("option", name="src", exact=True)).to_be_visible()
    page.wait_for_timeout(100)  # a list that has just opened ignores Enter, as one types on
    page.keyboard.press("Enter")
    expect(offered.get_by_role("option", name="logo")).to_be_visible()
    page.wait_for_timeout(100)
    page.keyboard.press("Enter")
    expect(code(page)).to_contain_text('<img src="logo"')
    for place, rest, member in (("{", "}", '"lines"'), ('{"lines": [{', "}]}", '"price"')):
        write(page, place + rest, "json")
        page.keyboard.press("Home")
        for _ in place:
            page.keyboard.press("ArrowRight")
        page.keyboard.type('"')
        expect(offered.get_by_role("option", name=member)).to_be_visible()
    page.wait_for_timeout(100)
    page.keyboard.press("Enter")
    expect(code(page, "json")).to_have_text(re.compile(r'"lines": \[\{"\w+": \}\]'))


def test_a_misspelled_name_is_corrected_by_a_click(editor: Page):
    write(editor, GOOD.replace("<p>", '<p colour="maroon">').replace("name }}", "name | uper }}"))
    fixes = editor.get_by_role("button", name="Change to")
    expect(fixes).to_have_count(2)
    editor.get_by_role("button", name="Change to color").click()
    expect(code(editor)).to_contain_text('<p color="maroon">')
    expect(fixes).to_have_count(1)
    fixes.click()
    expect(code(editor)).to_contain_text("name | upper")
    expect(editor.get_by_text("No errors and no warnings.")).to_be_visible()
    write(editor, GOOD.replace("Dear", "<bold>Dear</bold>"))
    editor.get_by_role("button", name="Change to b").click()
    expect(code(editor)).to_contain_text("<b>Dear</b>")


def test_samples_of_each_kind_are_kept_for_the_template(editor: Page):
    rows = '<document><data><dataset name="rows" csv="true"/></data><flow>'
    body = '<p for="row in rows">{{ row.a }}</p><insert flow="notes"/></flow><flow name="notes"/>'
    write(editor, rows + body + "</document>")
    editor.get_by_label("Format of the data").select_option("csv")
    write(editor, "a\nx\ny", "csv")
    expect(editor.get_by_text("No errors and no warnings.")).to_be_visible()
    editor.get_by_role("button", name="New set").click()
    editor.get_by_role("dialog").get_by_label("Name").fill("Letter")
    editor.get_by_role("dialog").get_by_role("button", name="Create").click()
    editor.get_by_label("Format of the data").select_option("markdown")
    write(editor, "# Heading", "markdown")
    editor.get_by_label("Flow for the Markdown").select_option("notes")
    expect(editor.get_by_text("No errors and no warnings.")).to_be_visible()
    editor.reload()
    expect(code(editor, "markdown")).to_contain_text("# Heading")
    editor.get_by_label("Sample set").select_option("Sample")
    expect(code(editor, "csv")).to_contain_text("x")


def test_what_does_not_fit_is_marked_on_the_page(editor: Page):
    write(editor, GOOD.replace("<p>", '<box height="1mm"><p>').replace("</p>", "</p></box>"))
    wrong = editor.locator(".wrong").first
    expect(wrong).to_be_visible()
    expect(wrong).to_have_attribute("title", re.compile("fit"))
    before = wrong.bounding_box()
    editor.get_by_label("Zoom").select_option("3")
    editor.wait_for_function(
        "width => document.querySelector('.wrong').clientWidth > width * 1.5", arg=before["width"]
    )


def test_the_saved_text_is_the_live_content(editor: Page, account):
    template = account.request("GET", "/v2/templates").json["templates"][0]["id"]
    expect(editor.get_by_role("button", name="Save")).to_be_disabled()
    write(editor, GOOD.replace("Hello", "Saved"))
    editor.get_by_role("button", name="Save").click()
    expect(editor.get_by_text("Publish it to create a version.")).to_be_visible()
    assert "Saved" in account.request("GET", f"/v2/templates/{template}").json["content"]
    editor.reload()
    expect(code(editor)).to_contain_text("Saved")
    expect(editor.get_by_text("were restored")).to_have_count(0)


def test_nothing_that_was_typed_is_lost(editor: Page):
    write(editor, GOOD.replace("Hello", "Typed"))
    expect(editor.get_by_text("Not saved")).to_be_visible()
    editor.reload()
    expect(editor.get_by_text("Your unsaved changes were restored.")).to_be_visible()
    expect(code(editor)).to_contain_text("Typed")
    editor.get_by_role("button", name="Discard them").click()
    expect(code(editor)).to_contain_text("Hello")
    editor.reload()
    expect(code(editor)).to_contain_text("Hello")


def test_the_page_is_drawn_again_when_the_network_is_back(editor: Page, account):
    picture = editor.get_by_role("img", name="Page 1 of 1")
    picture.wait_for()
    before = picture.get_attribute("src")
    editor.context.set_offline(True)
    write(editor, GOOD.replace("Hello", "Offline"))
    expect(editor.get_by_role("alert")).to_contain_text("cannot be reached")
    editor.get_by_role("button", name="Save").click()
    expect(editor.get_by_role("alert").first).to_contain_text("cannot be reached")
    editor.context.set_offline(False)
    expect(picture).not_to_have_attribute("src", before or "")
    editor.get_by_role("button", name="Save").click()
    expect(editor.get_by_text("Publish it")).to_be_visible()
    expect(editor.get_by_role("alert")).to_have_count(0)


def test_a_page_is_drawn_after_an_outage_that_the_browser_does_not_notice(editor: Page):
    editor.get_by_role("img", name="Page 1 of 1").wait_for()
    editor.route("**/v2/preview", lambda route: route.abort())
    write(editor, GOOD.replace("Hello", "Outage"))
    expect(editor.get_by_role("alert")).to_contain_text("cannot be reached")
    editor.unroute("**/v2/preview")
    expect(editor.get_by_role("alert")).to_have_count(0)


def test_conflicting_tabs_overwrite_nothing_without_confirmation(sign_in, account):
    template = account.store_template(GOOD.encode())
    first, second = sign_in(account), sign_in(account)
    for page in (first, second):
        open_editor(page, template)
    write(first, GOOD.replace("Hello", "First"))
    first.get_by_role("button", name="Save").click()
    expect(first.get_by_text("Publish it")).to_be_visible()
    write(second, GOOD.replace("Hello", "Second"))
    second.get_by_role("button", name="Save").click()
    expect(second.get_by_role("alert")).to_contain_text("has changed")
    changes = second.get_by_role("group", name="The differences between")
    expect(changes).to_contain_text("First")
    expect(changes).to_contain_text("Second")
    path = f"/v2/templates/{template}"
    assert "First" in account.request("GET", path).json["content"]
    second.get_by_role("button", name="Overwrite their changes").click()
    expect(second.get_by_text("Publish it")).to_be_visible()
    assert "Second" in account.request("GET", path).json["content"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_in_the_editor(sign_in, account, find_violations, scheme):
    page = sign_in(account, color_scheme=scheme)
    long = BAD.replace("</flow>", "<p>A line of a long text</p>\n" * 100 + "</flow>")
    for text in (BAD, long):  # the longer one scrolls
        open_editor(page, account.store_template(text.encode()))
        expect(page.locator(".finding-list")).to_be_visible()
        assert find_violations(page) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_panel_of_the_search_is_translated_and_accessible(
    sign_in, account, find_violations, scheme
):  # fmt: skip
    template = account.store_template(GOOD.encode())
    page = sign_in(account, locale="de-AT", color_scheme=scheme)
    open_editor(page, template)
    code(page).click()
    page.keyboard.press("Control+f")
    page.get_by_role("textbox", name="Suchen").fill("name")
    for text in ("Weiter", "Zurück", "Alle ersetzen", "Schließen"):
        expect(page.get_by_role("button", name=text)).to_be_visible()
    expect(page.get_by_role("checkbox", name="Ganze Wörter")).to_be_visible()
    assert find_violations(page) == []


def test_findings_are_in_the_readers_language(page: Page, account):
    page.evaluate("localStorage.setItem('pressroom-language', 'de')")
    page.reload()
    open_editor(page, account.store_template(BAD.encode()))
    found = page.locator(".finding-list")
    expect(found).to_contain_text("`h1` hat kein Attribut `colour`; meinten Sie „color“?")
    page.get_by_role("button", name="Zu color ändern").first.click()
    expect(page.get_by_text("Keine Fehler und keine Warnungen.")).to_be_visible()
    assert "<h1 color=" in code(page).inner_text()
