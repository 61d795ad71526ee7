"""Sign-in to the Studio at an OpenID Connect provider, which runs as a process of its own."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import parse_qs, urlsplit

import pytest

from api.app import create_app
from api.wiring import wire
from deploy.embedded.loopback import free_port
from shared.auth import accounts
from shared.auth.sign_in_keys import restore_sign_in
from shared.auth.studio_sessions import end_sessions
from shared.settings import WrongSetting
from tests.oidc_provider import ANNA, SECRET, run_provider

STUDIO = "https://pdf.example.org"
HOST = {"Host": "pdf.example.org"}
PAGE = HOST | {"X-Pressroom-Studio": "1", "Sec-Fetch-Site": "same-origin"}
BEGIN = "/studio/sign-in/begin"
CALLBACK = "/studio/sign-in/callback"


@pytest.fixture(scope="module")
def running_provider():
    with run_provider("studio", STUDIO + CALLBACK) as provider:
        yield provider


@pytest.fixture
def provider(running_provider):
    running_provider.order()
    return running_provider


@pytest.fixture
def database_url(sqlite_url):
    return sqlite_url


@pytest.fixture
def terms(settings, provider, account):
    """Return settings with the provider, which is on loopback without TLS."""
    return replace(
        settings,
        studio_local_http=True,
        studio_url=STUDIO,
        oidc_issuer=provider.issuer,
        oidc_client_id="studio",
        oidc_client_secret=SECRET,
        oidc_name="Example",
        oidc_grants=f"authors={account.account_id}:author ops={account.account_id}:operator "
        f"all%20staff={account.account_id}:reader",
    )


class Browser:
    """A browser on the front of some settings; it has its cookies, as long as they last."""

    def __init__(self, terms) -> None:
        self.ports = wire(terms)
        self.client = create_app(self.ports).test_client()

    def get(self, path, **headers):
        return self.client.get(path, base_url=STUDIO, headers=PAGE | headers)

    def begin(self, query=""):
        return self.get(BEGIN + query)

    def sign_in(self, provider, query="", cookies=None):
        """Sign in, and return the answer to the provider's redirect back."""
        back = provider.visit(self.begin(query).headers["Location"])
        return self.get(back.removeprefix(STUDIO))

    def cookie(self, name="__Host-pressroom"):
        found = self.client.get_cookie(name, domain="pdf.example.org")
        return None if found is None else found.value


@pytest.fixture
def browsers(terms):
    """Return a function that makes browsers."""
    made = []

    def make(changed=terms):
        made.append(Browser(changed))
        return made[-1]

    yield make
    for browser in made:
        browser.ports.database.close()


@pytest.fixture
def browser(browsers):
    return browsers()


def problem_of(answer):
    """Return the problem that the sign-in page is to tell, after which no session is open."""
    assert answer.status_code == 303
    place, _, fragment = answer.headers["Location"].partition("#")
    assert place == "/studio/"
    assert "__Host-pressroom=" not in str(answer.headers.getlist("Set-Cookie"))
    return fragment.removeprefix("/sign-in/")


def own_key(browser):
    """Return the key of the session, as the account lists it."""
    account = browser.get("/v2/account").json
    with browser.ports.database.snapshot() as session:
        keys = accounts.list_keys(session, account["id"])
    return next(key for key in keys if key.key_id == account["key_id"])


def test_a_person_signs_in_with_the_role_of_their_group(browser, provider, account):
    answer = browser.sign_in(provider)
    assert (answer.status_code, answer.headers["Location"]) == (303, "/studio/")
    seen = browser.get("/v2/account").json
    assert seen["id"] == account.account_id
    assert seen["scopes"] == ["read", "render", "templates"]
    assert browser.get("/v2/templates").status_code == 200
    assert browser.get("/v2/keys").status_code == 403


def test_the_studio_names_the_provider(browser, stranger):
    assert browser.get("/studio/sign-in").json == {"provider": "Example"}
    assert stranger.get("/studio/sign-in").json == {"provider": None}


@pytest.mark.parametrize("path", [BEGIN, CALLBACK])
def test_without_a_provider_there_is_no_such_sign_in(stranger, path):
    assert stranger.get(path).status_code == 404


def test_the_session_cookie_is_that_of_keys(browser, provider):
    cookies = browser.sign_in(provider).headers.getlist("Set-Cookie")
    cookie = next(each for each in cookies if each.startswith("__Host-pressroom="))
    assert set(cookie.split("; ")[1:]) == {"Path=/", "HttpOnly", "SameSite=Strict", "Secure"}


def test_the_cookie_of_a_begun_sign_in_is_bound_to_the_host(browser, provider):
    (cookie,) = browser.begin().headers.getlist("Set-Cookie")
    assert cookie.startswith("__Host-pressroom-sign-in=")
    assert {"Secure", "HttpOnly", "Path=/", "SameSite=Lax"} == set(cookie.split("; ")[1:])
    browser.sign_in(provider)
    assert browser.cookie("__Host-pressroom-sign-in") is None


def test_the_request_has_state_nonce_and_a_challenge(browser):
    begun = [parse_qs(urlsplit(browser.begin().headers["Location"]).query) for _ in range(2)]
    for query in begun:
        assert query["redirect_uri"] == [STUDIO + CALLBACK]
        assert query["code_challenge_method"] == ["S256"]
        assert "code_verifier" not in query
    for name in ("state", "nonce", "code_challenge"):
        assert len({query[name][0] for query in begun}) == 2


def test_the_redirect_is_the_configured_address_whatever_host_is_asked(browser):
    answer = browser.get(BEGIN, Host="evil.example")
    assert parse_qs(urlsplit(answer.headers["Location"]).query)["redirect_uri"] == [
        STUDIO + CALLBACK
    ]


def test_no_parameter_changes_where_the_sign_in_leads(browser, provider):
    for name in ("next", "redirect_uri", "return_to"):
        assert browser.begin(f"?{name}=https://evil.example").status_code == 400
    back = provider.visit(browser.begin().headers["Location"])
    answer = browser.get(back.removeprefix(STUDIO) + "&next=https://evil.example")
    assert answer.headers["Location"] == "/studio/"


def test_a_code_for_another_browser_signs_nobody_in(browsers, provider):
    """Login CSRF: a page of another site sends the visitor to the callback with a code of its own."""
    attacker, victim = browsers(), browsers()
    back = provider.visit(attacker.begin().headers["Location"]).removeprefix(STUDIO)
    assert problem_of(victim.get(back)) == "expired"
    victim.begin()
    assert problem_of(victim.get(back)) == "expired"


def test_an_answer_is_accepted_once(browser, provider):
    back = provider.visit(browser.begin().headers["Location"]).removeprefix(STUDIO)
    assert browser.get(back).headers["Location"] == "/studio/"
    assert problem_of(browser.get(back)) == "expired"


def test_a_forged_cookie_of_a_begun_sign_in_is_refused(browser, provider):
    back = provider.visit(browser.begin().headers["Location"]).removeprefix(STUDIO)
    forged = browser.cookie("__Host-pressroom-sign-in")[:-3] + "AAA"
    browser.client.set_cookie("__Host-pressroom-sign-in", forged, domain="pdf.example.org")
    assert problem_of(browser.get(back)) == "expired"


@pytest.mark.parametrize(
    "orders",
    [
        {"wrong": {"nonce": "of another sign-in"}},
        {"wrong": {"nonce": None}},
        {"wrong": {"iss": "https://evil.example"}},
        {"wrong": {"aud": ["another client"]}},
        {"wrong": {"aud": ["another client"], "azp": "studio"}},
        {"wrong": {"aud": ["studio", "another client"], "azp": "another client"}},
        {"wrong": {"exp": 1}},
        {"wrong": {"sub": ""}},
        {"wrong": {"sub": ["anna"]}},
        {"wrong": {"at_hash": "AAAA"}},
        {"algorithm": "HS256"},
        {"other_key": True},
        {"error": "server_error"},
    ],
)
def test_an_id_token_that_is_not_valid_signs_nobody_in(browser, provider, orders):
    provider.order(**orders)
    assert problem_of(browser.sign_in(provider)) == "provider"


def test_an_answer_of_another_issuer_is_refused(browser, provider):
    """Mix-up, RFC 9207; and a provider whose description names another one."""
    back = provider.visit(browser.begin().headers["Location"]).removeprefix(STUDIO)
    assert problem_of(browser.get(back + "&iss=https://evil.example")) == "provider"


def test_an_answer_without_the_issuer_that_is_promised_in_it_is_refused(browser, provider):
    provider.order(names_itself=True)
    back = provider.visit(browser.begin().headers["Location"]).removeprefix(STUDIO)
    assert problem_of(browser.get(back)) == "provider"
    back = provider.visit(browser.begin().headers["Location"]).removeprefix(STUDIO)
    accepted = browser.get(f"{back}&iss={provider.issuer}")
    assert accepted.headers["Location"] == "/studio/"


def test_a_provider_that_describes_another_issuer_is_refused(browser, provider):
    provider.order(described_issuer="https://evil.example")
    assert problem_of(browser.begin()) == "provider"


def test_a_provider_that_does_not_answer_is_told(browsers, terms):
    down = replace(terms, oidc_issuer=f"http://127.0.0.1:{free_port()}")
    assert problem_of(browsers(down).begin()) == "provider"


def test_cancelling_at_the_provider_is_told(browser, provider):
    provider.order(error="access_denied")
    assert problem_of(browser.sign_in(provider)) == "cancelled"


@pytest.mark.parametrize(
    "groups", [[], ["others"], None, "", {"authors": True}, [["authors"]], "authors,ops", [1]]
)
def test_people_without_a_grant_get_nothing(browser, provider, groups, account, database):
    provider.order({**ANNA, "groups": groups})
    assert problem_of(browser.sign_in(provider)) == "no-access"
    with database.snapshot() as session:
        assert len(accounts.list_keys(session, account.account_id)) == 1


@pytest.mark.parametrize(
    ("groups", "scopes"),
    [
        ("authors", ["read", "render", "templates"]),
        (["all staff"], ["read"]),
        (["authors", "ops", "all staff"], ["read", "render", "templates", "account"]),
    ],
)
def test_the_highest_role_counts(browser, provider, groups, scopes):
    provider.order({**ANNA, "groups": groups})
    browser.sign_in(provider)
    assert browser.get("/v2/account").json["scopes"] == scopes


@pytest.mark.parametrize("verified", [False, None, "true", 1])
def test_an_address_that_is_not_verified_grants_nothing(
    browsers, provider, terms, account, verified
):
    by_email = replace(
        terms, oidc_claim="email", oidc_grants=f"anna@example.org={account.account_id}:author"
    )
    provider.order({**ANNA, "email_verified": verified})
    assert problem_of(browsers(by_email).sign_in(provider)) == "unverified"
    provider.order()
    assert browsers(by_email).sign_in(provider).headers["Location"] == "/studio/"


def test_several_accounts_are_chosen_from(browser, browsers, provider, terms, account, database):
    with database.session() as session:
        other = accounts.create_account(session, email="b@example.org").account_id
        third = accounts.create_account(session, email="c@example.org").account_id
    grants = f"{terms.oidc_grants} authors={other}:reader"
    both = browsers(replace(terms, oidc_grants=grants))
    listed = "/".join(sorted((account.account_id, other)))
    assert problem_of(both.sign_in(provider)) == f"several/{listed}"
    assert problem_of(both.sign_in(provider, f"?account={third}")) == "no-access"
    both.sign_in(provider, f"?account={other}")
    assert both.get("/v2/account").json["id"] == other
    assert both.get("/v2/account").json["scopes"] == ["read"]


def test_a_changed_role_holds_from_the_next_sign_in_for_all_sessions_of_the_person(
    browsers, provider
):
    first, second = browsers(), browsers()
    provider.order({**ANNA, "groups": ["ops"]})
    first.sign_in(provider)
    assert first.get("/v2/keys").status_code == 200
    made = first.client.post("/v2/keys", json={}, base_url=STUDIO, headers=PAGE)
    assert "expires_at" not in made.json  # the sign-in ends, the key is meant to stay
    provider.order({**ANNA, "groups": ["all staff"]})
    second.sign_in(provider)
    for browser in (first, second):
        assert browser.get("/v2/account").json["scopes"] == ["read"]
        assert browser.get("/v2/keys").status_code == 403


def test_people_have_keys_of_their_own_which_requests_cannot_send(browsers, provider, account):
    anna, ben = browsers(), browsers()
    anna.sign_in(provider)
    provider.order({"sub": "ben", "name": "Ben\n\u202e B.", "groups": ["authors"]})
    ben.sign_in(provider)
    keys = [own_key(browser) for browser in (anna, ben)]
    assert [key.name for key in keys] == ["Example: anna@example.org", "Example: Ben   B."]
    assert {key.display for key in keys} == {"sign-in"}
    assert keys[0].key_id != keys[1].key_id
    assert all(key.expires_at is not None for key in keys)


def test_a_revoked_person_is_thrown_out_and_stays_out_until_restored(
    browsers, provider, account, database, redis
):
    browser = browsers()
    browser.sign_in(provider)
    old = browser.cookie()
    key_id = own_key(browser).key_id
    with database.session() as session:
        digest = accounts.revoke_key(session, key_id)
    browser.ports.admissions.drop(account.account_id, [digest])
    assert browser.get("/v2/account").status_code == 401
    assert problem_of(browser.sign_in(provider)) == "revoked"

    end_sessions(redis, key_id)
    with database.session() as session:
        restore_sign_in(session, key_id)
    browser.ports.admissions.drop(account.account_id, [digest])
    fresh = browsers()
    assert fresh.sign_in(provider).headers["Location"] == "/studio/"
    stale = browsers()
    stale.client.set_cookie("__Host-pressroom", old, domain="pdf.example.org")
    assert stale.get("/v2/account").status_code == 401


def test_a_session_planted_before_the_sign_in_is_not_adopted(browsers, provider):
    """Session fixation: the token is new, and the one before is ended."""
    attacker, victim = browsers(), browsers()
    attacker.sign_in(provider)
    planted = attacker.cookie()
    victim.client.set_cookie("__Host-pressroom", planted, domain="pdf.example.org")
    victim.sign_in(provider)
    assert victim.cookie() != planted
    assert victim.get("/v2/account").status_code == 200
    assert attacker.get("/v2/account").status_code == 401


def test_a_disabled_account_is_told(browser, provider, account, database):
    with database.session() as session:
        accounts.set_account(session, account.account_id, disabled=True)
    assert problem_of(browser.sign_in(provider)) == "account"


@pytest.mark.parametrize(
    ("changed", "names"),
    [
        ({"oidc_client_id": ""}, "PRESSROOM_OIDC_CLIENT_ID"),
        ({"oidc_grants": ""}, "PRESSROOM_OIDC_GRANTS"),
        ({"studio_url": ""}, "PRESSROOM_STUDIO_URL"),
        ({"studio_url": "http://pdf.example.org"}, "PRESSROOM_STUDIO_URL"),
        ({"oidc_issuer": "http://sso.example.org"}, "PRESSROOM_OIDC_ISSUER"),
        ({"studio_local_http": False}, "PRESSROOM_OIDC_ISSUER"),
    ],
)
def test_what_single_sign_on_lacks_is_named_at_start(terms, changed, names):
    with pytest.raises(WrongSetting, match=names):
        create_app(wire(replace(terms, **changed)))
