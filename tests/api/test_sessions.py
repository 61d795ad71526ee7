"""Sessions of the Studio: opening, expiry, and protection against other sites."""

from __future__ import annotations

import pytest
import redis

from api.app import create_app
from shared.auth import accounts
from shared.auth.studio_sessions import MAX_SESSIONS, SessionLimits, StudioSessions
from shared.identifiers import new_api_key
from shared.queue.connection import connect
from shared.shards import PerShard
from tests.conftest import with_settings

HOST = {"Host": "pdf.example.org"}
FROM_PAGE = HOST | {"X-Pressroom-Studio": "1"}
PAGE = FROM_PAGE | {"Sec-Fetch-Site": "same-origin"}
PATH = "/v2/authcheck"


@pytest.fixture
def browser(ports):
    """Yield a client that uses the front over TLS, as a browser does through a proxy."""
    return client_of(ports)


def client_of(ports):
    return create_app(ports).test_client(use_cookies=False)


def sign_in(client, key, **headers):
    """Open a session; the client sends its cookie from then on, but where a test gives another."""
    headers = {**PAGE, "Authorization": f"Bearer {key}", **headers}
    answer = client.post("/v2/session", headers=headers)
    if answer.status_code == 201:
        client.environ_base["HTTP_COOKIE"] = cookie_of(answer).partition(";")[0]
    return answer


def ask(client, path=PATH, method="GET", **headers):
    return client.open(path, method=method, headers={**PAGE, **headers})


def cookie_of(answer):
    return answer.headers["Set-Cookie"]


def test_a_key_is_sent_once_and_replaced_by_a_cookie(browser, account):
    opened = sign_in(browser, account.api_key)
    assert opened.status_code == 201
    assert set(opened.json) == {"opened_at", "expires_at"}
    assert account.account_id in ask(browser).json["status"]
    assert ask(browser, "/v2/session").json == opened.json


def test_the_cookie_is_bound_to_the_host_and_hidden_from_scripts(browser, account):
    cookie = cookie_of(sign_in(browser, account.api_key))
    name, _, rest = cookie.partition("=")
    value, *attributes = rest.split("; ")
    assert name == "__Host-pressroom"
    assert set(attributes) == {"Path=/", "HttpOnly", "SameSite=Strict", "Secure"}
    assert account.api_key not in cookie
    assert value.startswith(account.key_id + ".")


def test_redis_has_neither_key_nor_token(browser, account, redis_url):
    cookie = cookie_of(sign_in(browser, account.api_key))
    token = cookie.partition("=")[2].partition(";")[0]
    with redis.Redis.from_url(redis_url) as client:
        kept = repr(client.hgetall(f"sessions:{account.key_id}"))
        assert 0 < client.ttl(f"sessions:{account.key_id}") <= 3700
    assert token not in kept
    assert token.partition(".")[2] not in kept
    assert account.api_key not in kept


def test_each_sign_in_has_a_token_of_its_own_and_ends_the_former(browser, account, ports):
    first = cookie_of(sign_in(browser, account.api_key)).partition(";")[0]
    second = cookie_of(sign_in(browser, account.api_key)).partition(";")[0]
    assert first != second
    other = client_of(ports)
    assert ask(other, Cookie=second).status_code == 200
    assert ask(other, Cookie=first).status_code == 401


def test_a_planted_token_is_never_adopted(ports, account):
    """Session fixation: what a browser had before it signed in opens nothing afterwards."""
    browser = client_of(ports)
    planted = f"__Host-pressroom={account.key_id}.{'A' * 43}"
    opened = sign_in(browser, account.api_key, Cookie=planted)
    assert planted not in cookie_of(opened)
    assert ask(client_of(ports), Cookie=planted).status_code == 401


@pytest.mark.parametrize("key", [None, "", "pr_short", "pr_" + "A" * 40])
def test_without_a_good_key_no_session_is_opened(browser, key):
    answer = browser.post(
        "/v2/session", headers=PAGE | ({} if key is None else {"Authorization": f"Bearer {key}"})
    )
    assert answer.status_code == 401
    assert "Set-Cookie" not in answer.headers


def test_a_session_cannot_open_another_session(browser, account):
    sign_in(browser, account.api_key)
    assert ask(browser, "/v2/session", "POST").status_code == 400


def test_signing_out_ends_the_session_on_the_server(browser, account, ports):
    cookie = cookie_of(sign_in(browser, account.api_key)).partition(";")[0]
    ended = ask(browser, "/v2/session", "DELETE")
    assert ended.status_code == 204
    assert "Max-Age=0" in cookie_of(ended)
    assert ask(client_of(ports), Cookie=cookie).status_code == 401


def test_a_revoked_key_ends_its_sessions_at_once(browser, account, ports, database):
    sign_in(browser, account.api_key)
    with database.session() as session:
        digest = accounts.revoke_key(session, account.key_id)
    ports.admissions.drop(account.account_id, [digest])
    answer = ask(browser)
    assert answer.status_code == 401
    assert answer.json["data"] == {"code": "ERR_KEY_REVOKED"}


def test_a_disabled_account_has_no_sessions(browser, account, ports, database):
    sign_in(browser, account.api_key)
    with database.session() as session:
        accounts.set_account(session, account.account_id, disabled=True)
        digests = accounts.key_digests_of(session, account.account_id)
    ports.admissions.drop(account.account_id, digests)
    assert ask(browser).status_code == 403


def test_a_session_of_one_key_does_not_end_with_another(browser, account, database):
    with database.session() as session:
        other = accounts.create_key(session, account.account_id)
    sign_in(browser, account.api_key)
    assert ask(browser, f"/v2/keys/{other.key_id}", "DELETE").status_code == 204
    assert ask(browser).status_code == 200


@pytest.mark.parametrize(
    "sent",
    [
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "none"},
        {"Sec-Fetch-Site": "cross-site", "Origin": "https://pdf.example.org"},
        {"Origin": "https://evil.example.org"},
        {"Origin": "http://pdf.example.org"},
        {"Origin": "https://pdf.example.org.evil.example"},
        {"Origin": "https://pdf.example.org:444"},
        {"Origin": "null"},
        {"Origin": ""},
        {},
    ],
)
@pytest.mark.parametrize(
    ("method", "path"), [("POST", "/v2/templates?name=x"), ("DELETE", "/v2/session")]
)
def test_no_other_site_changes_anything(browser, account, sent, method, path):
    sign_in(browser, account.api_key)
    answer = browser.open(path, method=method, headers={**FROM_PAGE, **sent})
    assert answer.status_code == 403
    assert ask(browser, "/v2/templates").json == {"templates": []}


def test_no_other_site_reads_anything(browser, account):
    sign_in(browser, account.api_key)
    for sent in ({"Sec-Fetch-Site": "cross-site"}, {"Origin": "https://evil.example.org"}):
        answer = browser.get("/v2/templates", headers={**FROM_PAGE, **sent})
        assert answer.status_code == 403


def test_a_cookie_without_the_studio_header_is_ignored(browser, account):
    sign_in(browser, account.api_key)
    answer = browser.get(PATH, headers={**HOST, "Sec-Fetch-Site": "same-origin"})
    assert answer.status_code == 401
    assert "API key is required" in answer.json["message"]


def test_without_sec_fetch_site_the_origin_is_checked(browser, account):
    sign_in(browser, account.api_key)
    own = FROM_PAGE | {"Origin": "https://pdf.example.org"}
    assert browser.post("/v2/templates?name=x", headers=own).status_code == 201
    assert browser.get(PATH, headers=FROM_PAGE).status_code == 200


def test_pages_of_allowed_origins_cannot_send_the_studio_header(ports, account):
    """CORS is for callers with a key: a preflight never admits the header of the Studio."""
    client = create_app(with_settings(ports, cors_origins="*")).test_client()
    asked = {
        "Origin": "https://shop.example.org",
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "x-pressroom-studio",
    }
    answer = client.options("/v2/templates", headers=asked)
    assert "x-pressroom-studio" not in answer.headers["Access-Control-Allow-Headers"].lower()
    assert "Access-Control-Allow-Credentials" not in answer.headers


def test_a_sign_in_from_another_site_is_rejected(browser, account):
    assert sign_in(browser, account.api_key, **{"Sec-Fetch-Site": "cross-site"}).status_code == 403
    without = browser.post("/v2/session", headers={"Authorization": f"Bearer {account.api_key}"})
    assert without.status_code == 403


def test_a_key_takes_precedence_over_a_session(browser, account):
    sign_in(browser, account.api_key)
    assert ask(browser, Authorization=f"Bearer {new_api_key()}").status_code == 401


@pytest.mark.parametrize("host", ["localhost:8000", "127.0.0.1:8000", "[::1]:8000", "localhost"])
def test_at_localhost_a_cookie_comes_without_tls_where_that_is_allowed(ports, account, host):
    client = create_app(with_settings(ports, studio_local_http=True)).test_client(use_cookies=False)
    cookie = cookie_of(sign_in(client, account.api_key, Host=host))
    assert cookie.startswith("pressroom-local=")
    assert "Secure" not in cookie
    assert "HttpOnly" in cookie
    own = {"X-Pressroom-Studio": "1", "Origin": f"http://{host}", "Host": host}
    sent = own | {"Cookie": cookie.partition(";")[0]}
    assert client.get(PATH, headers=sent).status_code == 200


@pytest.mark.parametrize(
    ("allowed", "host"),
    [(False, "localhost:8000"), (True, "192.168.0.9:8000"), (True, "localhost.evil.example")],
)
def test_anywhere_else_a_cookie_needs_tls(ports, account, allowed, host):
    client = create_app(with_settings(ports, studio_local_http=allowed)).test_client(
        use_cookies=False
    )
    answer = sign_in(client, account.api_key, Host=host)
    assert cookie_of(answer).startswith("__Host-pressroom=")
    assert "Secure" in cookie_of(answer)
    local = cookie_of(answer).partition(";")[0].replace("__Host-pressroom", "pressroom-local")
    answer = client.get(PATH, headers={**PAGE, "Host": host, "Cookie": local})
    assert answer.status_code == 401


@pytest.mark.parametrize(
    "token", ["", "x", "key_aaaaaaaaaaaaaaaaaaaaaaaa", "a" * 4000, "key_*.{}", "%00"]
)
def test_an_invalid_token_is_a_401(browser, token):
    answer = ask(browser, Cookie=f"__Host-pressroom={token}")
    assert answer.status_code == 401


def test_the_cookie_of_an_ended_session_is_deleted(browser, account):
    gone = f"__Host-pressroom={account.key_id}.{'A' * 43}"
    answer = ask(browser, Cookie=gone)
    assert answer.status_code == 401
    assert "Max-Age=0" in cookie_of(answer)
    assert "sign in again" in answer.json["message"]


def test_a_sign_in_counts_against_the_rate_of_the_account(browser, account, ports, database):
    with database.session() as session:
        accounts.set_account(session, account.account_id, rate_limit="3/minute")
    statuses = [sign_in(browser, account.api_key).status_code for _ in range(5)]
    assert statuses == [201, 201, 201, 429, 429]


def sessions_of(settings, *, idle=3600, absolute=3600):
    return StudioSessions(
        PerShard(settings.shards, lambda shard: connect(shard.url)), SessionLimits(idle, absolute)
    )


def test_an_unused_session_ends(settings, account, redis_url):
    sessions = sessions_of(settings, idle=3600)
    token = sessions.open(account.key_id, "ab" * 32).token
    assert sessions.find(token) is not None
    age(redis_url, account.key_id, used=3599)
    assert sessions.find(token) is not None
    age(redis_url, account.key_id, used=3601)
    assert sessions.find(token) is None


def test_a_session_in_use_ends_after_the_absolute_time(settings, account, redis_url):
    sessions = sessions_of(settings, idle=60, absolute=7200)
    token = sessions.open(account.key_id, "ab" * 32).token
    age(redis_url, account.key_id, opened=7190, used=10)
    assert sessions.find(token) is not None
    age(redis_url, account.key_id, opened=7201, used=10)
    assert sessions.find(token) is None


def test_requests_extend_a_session(settings, account, redis_url):
    sessions = sessions_of(settings, idle=60, absolute=7200)
    token = sessions.open(account.key_id, "ab" * 32).token
    age(redis_url, account.key_id, opened=50, used=50)
    sessions.find(token)
    age(redis_url, account.key_id, opened=50, used=50, only_later=True)
    assert sessions.find(token) is not None


def test_the_number_of_sessions_of_a_key_is_limited(settings, account, redis_url):
    sessions = sessions_of(settings)
    first, *others = [sessions.open(account.key_id, "ab" * 32).token for _ in range(MAX_SESSIONS)]
    age(redis_url, account.key_id, used=100)
    assert sessions.find(first) is not None  # used now, so it is not the one that goes
    newest = sessions.open(account.key_id, "ab" * 32).token
    alive = [token for token in others if sessions.find(token) is not None]
    assert len(alive) == MAX_SESSIONS - 2
    assert sessions.find(first) is not None
    assert sessions.find(newest) is not None


def age(redis_url, key_id, *, used, opened=None, only_later=False):
    """Move sessions a number of seconds into the past; with `only_later`, check that use was recorded."""
    with redis.Redis.from_url(redis_url) as client:
        now = client.time()[0]
        for token, entry in client.hgetall(f"sessions:{key_id}").items():
            digest, was_opened, was_used = entry.decode().split()
            if only_later:
                assert now - int(was_used) < used
                continue
            began = int(was_opened) if opened is None else now - opened
            client.hset(f"sessions:{key_id}", token, f"{digest} {began} {now - used}")
