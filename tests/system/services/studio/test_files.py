"""Images and fonts in the Studio: dropped, listed, used, refused and deleted."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Page, expect

GOLDEN = Path(__file__).parents[3] / "golden"


def go_to(page: Page, name: str) -> None:
    page.get_by_role("link", name=name, exact=True).click()
    page.get_by_role("heading", name=name, exact=True, level=1).wait_for()


def test_an_image_is_stored_and_drawn(page: Page, account, tmp_path):
    go_to(page, "Images")
    expect(page.get_by_text("No images yet")).to_be_visible()
    chosen = tmp_path / "Ünser LOGO (neu).png"
    chosen.write_bytes((GOLDEN / "images/logo.png").read_bytes())
    page.get_by_label("Choose images, or drop them here").set_input_files([chosen])
    expect(page.get_by_text("1 file was stored.")).to_be_visible()
    expect(page.get_by_role("row", name="unser-logo-neu")).to_contain_text("PNG")
    expect(page.get_by_role("row", name="unser-logo-neu").locator(".thumbnail img")).to_be_visible()
    use = page.get_by_role("row", name="unser-logo-neu").locator("code").inner_text()
    answer = account.render(f"<document><flow>{use}</flow></document>")
    assert answer.status == 200
    assert answer.headers["X-Warning-Count"] in ("0", "1")  # an image without a description
    page.get_by_role("button", name="Delete: unser-logo-neu").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.get_by_text("No images yet")).to_be_visible()


def test_the_profile_of_a_press_is_stored_and_named_by_a_document(page: Page, account):
    go_to(page, "Images")
    page.get_by_label("Choose images, or drop them here").set_input_files(
        GOLDEN / "images/press.icc"
    )
    row = page.get_by_role("row", name="press")
    expect(row).to_contain_text("ICC profile")
    expect(row.locator(".thumbnail img")).to_be_visible()
    use = row.locator("code").inner_text()
    drawn = f'<document title="a" profile="pdf/x-4" {use}><flow><p>A</p></flow></document>'
    answer = account.render(drawn)
    assert answer.status == 200, answer.body


def test_a_file_that_is_not_an_image_is_rejected_with_the_services_message(page: Page, tmp_path):
    go_to(page, "Images")
    wrong = tmp_path / "wrong.png"
    wrong.write_bytes(b"not an image")
    good = GOLDEN / "images/dot.png"
    page.get_by_label("Choose images, or drop them here").set_input_files([wrong, good])
    expect(page.get_by_role("alert")).to_contain_text("wrong")
    expect(page.get_by_role("row", name="dot")).to_be_visible()
    expect(page.get_by_role("row", name="wrong")).to_have_count(0)


def test_files_are_dropped(page: Page):
    """A drop is an event with files; the browser itself is not dragged over."""
    go_to(page, "Images")
    handle = page.evaluate_handle(
        """(text) => {
          const carried = new DataTransfer();
          carried.items.add(new File([text], "drawn.svg", {type: "image/svg+xml"}));
          return carried;
        }""",
        '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9">'
        "<script>alert(1)</script><rect width='9' height='9'/></svg>",
    )
    page.locator(".drop").dispatch_event("drop", {"dataTransfer": handle})
    expect(page.get_by_role("row", name="drawn").or_(page.get_by_role("alert"))).to_be_visible()


def test_a_font_is_stored_and_used(page: Page, account):
    go_to(page, "Fonts")
    chosen = GOLDEN / "fonts/brand-regular.ttf"
    page.get_by_label("Choose fonts, or drop them here").set_input_files([chosen])
    row = page.get_by_role("row", name="brand-regular")
    expect(row.locator(".thumbnail img")).to_be_visible()
    declared = row.locator("code").inner_text()
    answer = account.render(f"<document>{declared}<flow><p>A</p></flow></document>")
    assert answer.status == 200, answer.body


def test_an_account_without_a_workspace_sees_a_message(sign_in, farm, make_account):
    page = sign_in(make_account(farm, with_workspace=False))
    for name in ("Images", "Fonts"):
        go_to(page, name)
        expect(page.get_by_text("The account has no workspace")).to_be_visible()
