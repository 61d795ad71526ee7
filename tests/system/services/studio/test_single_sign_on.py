"""Sign-in at an OpenID Connect provider in a browser: cookies, redirects, and messages of the page."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from playwright.sync_api import expect

from deploy.embedded.demo.show import launched_farm
from deploy.embedded.loopback import free_port
from tests.oidc_provider import ANNA, SECRET, RunningProvider, run_provider


@dataclass(frozen=True)
class SignOnFarm:
    """A farm with a provider, and two of its accounts."""

    address: str
    provider: RunningProvider
    accounts: tuple[str, str]


@pytest.fixture(scope="module")
def sign_on(tmp_path_factory) -> Iterator[SignOnFarm]:
    folder, port = tmp_path_factory.mktemp("farm"), free_port()
    url = f"http://127.0.0.1:{port}"
    with launched_farm(folder, port=port) as farm:
        made = [
            farm.command("account", "create", "--email", f"{name}@example.org")["account_id"]
            for name in ("one", "two")
        ]
    with run_provider("studio", f"{url}/studio/sign-in/callback") as provider:
        environment = {
            "PRESSROOM_STUDIO_URL": url,
            "PRESSROOM_OIDC_ISSUER": provider.issuer,
            "PRESSROOM_OIDC_CLIENT_ID": "studio",
            "PRESSROOM_OIDC_CLIENT_SECRET": SECRET,
            "PRESSROOM_OIDC_NAME": "Example",
            "PRESSROOM_OIDC_GRANTS": f"authors={made[0]}:author ops={made[0]}:operator ops={made[1]}:operator",
        }
        with launched_farm(folder, port=port, environment=environment):
            yield SignOnFarm(f"{url}/studio/", provider, (made[0], made[1]))


def test_a_person_signs_in_works_and_signs_out(open_page, sign_on):
    sign_on.provider.order()
    page = open_page()
    page.goto(sign_on.address)
    page.get_by_role("link", name="Sign in with Example").click()
    page.get_by_role("heading", name="Templates", exact=True).wait_for()
    assert page.url.partition("#")[0] == sign_on.address
    expect(page.get_by_role("link", name="Jobs")).to_be_visible()
    (cookie,) = page.context.cookies(sign_on.address)
    assert (cookie["httpOnly"], cookie["sameSite"]) == (True, "Strict")
    assert page.evaluate("JSON.stringify([document.cookie, {...localStorage}])").find("eyJ") < 0
    page.reload()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_text("You are signed out.")).to_be_visible()
    assert page.context.cookies(sign_on.address) == []


def test_who_has_several_accounts_chooses_one(open_page, sign_on):
    sign_on.provider.order({**ANNA, "groups": ["ops"]})
    page = open_page()
    page.goto(sign_on.address)
    page.get_by_role("link", name="Sign in with Example").click()
    expect(page.get_by_text("several accounts")).to_be_visible()
    page.get_by_role("link", name=sign_on.accounts[1]).click()
    page.get_by_role("heading", name="Templates", exact=True).wait_for()
    page.get_by_role("link", name="Account", exact=True).click()
    expect(page.get_by_role("rowheader", name="Example: anna@example.org sign-in")).to_be_visible()
    page.get_by_role("button", name="Revoke: Example: anna@example.org").click()
    expect(page.get_by_role("dialog")).to_contain_text("signs you out")


def test_a_refused_person_reads_why_and_may_use_a_key(open_page, sign_on):
    sign_on.provider.order({**ANNA, "groups": []})
    page = open_page()
    page.goto(sign_on.address)
    page.get_by_role("link", name="Sign in with Example").click()
    expect(page.get_by_role("alert")).to_contain_text("no access here")
    expect(page.get_by_label("API key")).to_be_visible()


def test_an_address_made_by_another_shows_no_text_of_theirs(open_page, sign_on):
    page = open_page()
    page.goto(f"{sign_on.address}#/sign-in/several/<b>evil<b>/acc_evil")
    page.get_by_role("link", name="Sign in with Example").wait_for()
    expect(page.get_by_text("evil")).to_have_count(0)
    page.goto(f"{sign_on.address}#/sign-in/constructor")
    expect(page.get_by_role("alert")).to_have_count(0)
