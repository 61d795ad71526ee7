"""The operator's commands do what their help says, on a farm that is up or down."""

import json
import stat
from contextlib import closing
from datetime import timedelta

import pytest

from api.jobs.accepting import make_record
from deploy.cli.main import main
from shared.auth import audit
from shared.auth.accounts import find_key_state
from shared.auth.admission import AdmissionCache
from shared.auth.scopes import ALL_SCOPES
from shared.auth.sign_in_keys import SignInRevokedError, record_sign_in
from shared.auth.studio_sessions import SessionLimits, StudioSessions
from shared.clock import now
from shared.db.migrate import upgrade
from shared.db.session import open_database
from shared.identifiers import digest_api_key
from shared.jobs.records import (
    Allowance,
    BodyKind,
    Claim,
    ClaimStorage,
    JobOutcome,
    Lane,
    Meter,
    OutcomeStatus,
    PinnedTemplate,
    RenderJob,
)  # fmt: skip
from shared.jobs.repository import add_jobs, count_unfinished_jobs, end_jobs
from shared.queue.connection import connect
from shared.shards import PerShard, ShardAddress


@pytest.fixture
def run(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("PRESSROOM_DATABASE_URL", "PRESSROOM_REDIS_URL"):
        monkeypatch.delenv(name, raising=False)

    def run(*arguments, code=0):
        assert main([*arguments, "--json"]) == code
        printed = capsys.readouterr()
        return json.loads(printed.out) if code == 0 else printed.err

    return run


@pytest.fixture
def made(run):
    return run(
        "account", "create", "--email", "a@example.org", "--name", "Example", "--plan", "paid"
    )


def state_of(api_key, url):
    database = open_database(url)
    with database.snapshot() as session:
        state = find_key_state(session, digest_api_key(api_key))
    database.close()
    return state


def test_an_account_is_created_with_a_user_a_workspace_and_a_key(made):
    assert set(made) == {"account_id", "workspace_id", "user", "key_id", "api_key"}
    assert made["user"] == {"id": made["user"]["id"], "name": "Example", "email": "a@example.org"}
    assert made["api_key"].startswith("pr_")


def test_unrecorded_usage_is_unknown_while_redis_is_unavailable(run, made):
    used = run("account", "usage", made["account_id"])["production"]
    assert (used["pages"], used["pages_not_in_the_ledger_yet"]) == (0, None)


def test_an_account_without_a_workspace_has_none(run):
    made = run("account", "create", "--email", "a@example.org", "--no-workspace", "--unverified")
    assert made["workspace_id"] is None


def test_the_default_folder_is_private(made, tmp_path):
    assert stat.S_IMODE((tmp_path / ".pressroom").stat().st_mode) == 0o700


def test_only_the_given_properties_of_an_account_change(run, made, tmp_path):
    run("account", "set", made["account_id"], "--disabled", "--rate-limit", "5/minute")
    url = f"sqlite:///{tmp_path}/.pressroom/pressroom.sqlite3"
    state = state_of(made["api_key"], url)
    assert (state.account_disabled, state.rate_limit, state.plan) == (True, "5/minute", "paid")
    run("account", "set", made["account_id"], "--enabled")
    assert not state_of(made["api_key"], url).account_disabled


def test_the_audit_log_has_the_scopes_of_a_key(run, made, capsys):
    run("key", "create", made["account_id"], "--scopes", "account,render")
    assert main(["audit", "export"]) == 0
    entry = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert (entry["action"], entry["details"]) == ("key.created", {"scopes": ["render", "account"]})


def test_keys_are_created_listed_and_revoked(run, made):
    second = run("key", "create", made["account_id"], "--expires-at", "2027-01-31T12:00:00Z")
    assert set(second) == {"key_id", "api_key"}
    assert run("key", "revoke", made["key_id"]) == {"key_id": made["key_id"], "revoked": True}
    first, other = run("key", "list", made["account_id"])["keys"]
    assert first["state"].startswith("revoked ")
    assert other["state"] == "expires 2027-01-31T12:00:00.000Z"
    assert made["api_key"] not in json.dumps(first)
    assert other["scopes"] == ["read", "render", "templates", "account"]
    run("key", "create", made["account_id"], "--scopes", "account,render")
    assert run("key", "list", made["account_id"])["keys"][2]["scopes"] == ["render", "account"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("key", "revoke", "key_none"), "'key_none'"),
        (("key", "restore", "key_none"), "'key_none'"),
        (("key", "list", "acc_none"), "'acc_none'"),
        (("account", "set", "acc_none", "--disabled"), "'acc_none'"),
        (("account", "set", "acc_none"), "--max-pages"),
        (("account", "create", "--email", "someone"), "'someone' is not an address"),
        (("account", "create", "--email", "a@b.c", "--renewal-day", "32"), "renewal_day: 32"),
        (("account", "create", "--email", "a@b.c", "--max-pages", "-1"), "max_pages: -1"),
    ],
)
def test_a_failed_command_prints_its_error_to_stderr(run, arguments, told):
    assert told in run(*arguments, code=1)


@pytest.mark.parametrize(
    "arguments",
    [
        ("account", "create"),
        ("account", "create", "--email", "a@b.c", "--plan", "gold"),
        ("key", "create", "acc_1", "--expires-at", "tomorrow"),
        ("key", "create", "acc_1", "--scopes", "render,all"),
        ("up", "--port", "70000"),
        ("up", "--workers", "0"),
        ("account", "set", "acc_1", "--enabled", "--disabled"),
        ("nonsense",),
    ],
)
def test_a_misused_command_ends_with_its_usage(arguments, capsys):
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert "usage: pressroom" in capsys.readouterr().err


def test_a_production_farm_is_reached_by_both_its_urls(run, database_url, redis_url, monkeypatch):
    monkeypatch.setenv("PRESSROOM_DATABASE_URL", database_url)
    assert "PRESSROOM_REDIS_URL is not set" in run(
        "account", "create", "--email", "a@example.org", code=1
    )
    monkeypatch.setenv("PRESSROOM_REDIS_URL", redis_url)
    made = run("account", "create", "--email", "a@example.org")
    digest = digest_api_key(made["api_key"])
    cache = AdmissionCache(connect(redis_url))
    cache.put(digest, state_of(made["api_key"], database_url))
    assert cache.find(digest) is not None
    run("key", "revoke", made["key_id"])
    assert cache.find(digest) is None


def test_a_restored_person_may_sign_in_again_and_has_no_session(
    run, database_url, redis_url, monkeypatch
):
    monkeypatch.setenv("PRESSROOM_DATABASE_URL", database_url)
    monkeypatch.setenv("PRESSROOM_REDIS_URL", redis_url)
    made = run("account", "create", "--email", "a@example.org")
    assert made["key_id"] in run("key", "restore", made["key_id"], code=1)
    terms = {"name": "SSO: Anna", "scopes": ALL_SCOPES, "expires_at": now() + timedelta(hours=1)}

    def sign_in():
        with closing(open_database(database_url)) as database, database.session() as session:
            record_sign_in(session, made["account_id"], "d" * 64, **terms)

    sign_in()
    key_id = run("key", "list", made["account_id"])["keys"][1]["key_id"]
    server = connect(redis_url)
    sessions = StudioSessions(
        PerShard((ShardAddress("main", redis_url),), lambda _: server), SessionLimits(60, 60)
    )
    token = sessions.open(key_id, "d" * 64).token
    run("key", "revoke", key_id)
    with pytest.raises(SignInRevokedError):
        sign_in()
    assert run("key", "restore", key_id) == {"key_id": key_id, "restored": True}
    sign_in()
    assert sessions.find(token) is None
    server.close()
    with closing(open_database(database_url)) as database, database.snapshot() as session:
        own, farm = (
            [entry.action for entry in audit.list_entries(session, chain, limit=9)[0]]
            for chain in (made["account_id"], audit.FARM)
        )
    assert (own, farm) == (["key.restored", "key.revoked"], ["accounts.created"])


def test_a_change_that_fronts_may_not_apply_yet_is_reported(run, database_url, monkeypatch):
    monkeypatch.setenv("PRESSROOM_DATABASE_URL", database_url)
    monkeypatch.setenv("PRESSROOM_REDIS_URL", "redis://127.0.0.1:1/0")
    made = run("account", "create", "--email", "a@example.org")
    assert "Redis does not respond" in run("key", "revoke", made["key_id"], code=1)


def test_migrating_creates_the_tables_and_is_idempotent(run, tmp_path):
    for _ in range(2):
        assert run("migrate", "--data", str(tmp_path / "farm")) == {"migrated": True}
    database = open_database(f"sqlite:///{tmp_path}/farm/pressroom.sqlite3")
    with database.snapshot() as session:
        assert count_unfinished_jobs(session) == 0
    database.close()


def test_a_job_is_shown_as_its_client_and_its_operator_see_it(run, made, tmp_path):
    meter = Meter(made["account_id"], "2026-11-01", Allowance.DRAFT, None)
    body = Claim(ClaimStorage.INLINE, 4, data=b"<d/>")
    template = PinnedTemplate("t", 3, "f" * 64)
    job = RenderJob(
        "job_" + "a" * 24, "req_1", None, meter, BodyKind.XML, body, None, template, None,
        admitted_at=1_790_000_000.0, deadline=1_790_086_400.0, lane=Lane.BATCH, is_recorded=True,
    )  # fmt: skip
    database = open_database(f"sqlite:///{tmp_path}/.pressroom/pressroom.sqlite3")
    with database.session() as session:
        add_jobs(session, [make_record(job, user_id="usr_1", template="letter@3")])
    shown = run("job", "show", job.id)
    assert (shown["id"], shown["status"], shown["template"]) == (job.id, "queued", "letter@3")
    assert (shown["account_id"], shown["lane"]) == (made["account_id"], "batch")
    assert shown["pinned"] == {"version": 3, "sha256": "f" * 64}
    assert shown["body"] == {"kind": "xml", "bytes": 4}
    with database.session() as session:
        claim = Claim(ClaimStorage.BLOB, 9, key="jobs/x/pdf")
        pdf = JobOutcome(job.id, OutcomeStatus.SUCCEEDED, pages=2, pdf=claim)
        assert end_jobs(session, {job.id: pdf}, at=now())
    database.close()
    assert run("job", "show", job.id)["pdf"] == {"key": "jobs/x/pdf", "bytes": 9}


@pytest.mark.parametrize("job_id", ["x", "job_" + "b" * 24, f"job_{'b' * 24}-0"])
def test_an_unknown_job_is_an_error(run, made, job_id):
    assert "does not exist" in run("job", "show", job_id, code=1)


def test_the_status_of_a_production_farm_has_no_secrets(
    database_url, redis_url, tmp_path, capsys, monkeypatch
):
    upgrade(database_url)
    monkeypatch.setenv("PRESSROOM_DATABASE_URL", database_url)
    monkeypatch.setenv("PRESSROOM_REDIS_URL", redis_url)
    monkeypatch.setenv("PRESSROOM_BLOB_URL", f"file://{tmp_path}/blobs")
    assert main(["status", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["problems"] == [
        f"no worker takes from queue {queue}"
        for queue in ("interactive", "preview", "validate", "batch")
    ]
    assert set(found["stores"]) == {"redis", "database", "object_store"}
    monkeypatch.setenv("PRESSROOM_BLOB_URL", "gopher://key:s3cret@127.0.0.1/bucket")
    monkeypatch.setenv("PRESSROOM_REDIS_URL", "redis://:s3cret@127.0.0.1:1/0")
    monkeypatch.setenv("PRESSROOM_DATABASE_URL", "postgresql+psycopg://u:s3cret@127.0.0.1:1/farm")
    assert main(["status"]) == 1
    told = capsys.readouterr().out
    for part in ("Redis", "the database", "the object store"):
        assert f"PROBLEM: {part} does not respond" in told
    assert "s3cret" not in told
