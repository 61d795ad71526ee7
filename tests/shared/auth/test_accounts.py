"""Accounts and keys as operators make and change them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from sqlalchemy import text

from shared.auth import accounts
from shared.identifiers import digest_api_key


def make(database, **options):
    with database.session() as session:
        return accounts.create_account(session, email="ada@example.org", **options)


def test_a_key_authenticates_the_created_account(database):
    made = make(database, name="Ada", plan="paid", max_pages=5, max_draft_pages=2, renewal_day=31)
    with database.snapshot() as session:
        state = accounts.find_key_state(session, digest_api_key(made.api_key))
    assert state is not None
    assert (state.account_id, state.key_id) == (made.account_id, made.key_id)
    assert state.workspace_id == made.workspace_id
    assert (state.user_id, state.user_name, state.user_email) == (
        made.user.id,
        "Ada",
        "ada@example.org",
    )
    assert (state.plan, state.max_pages, state.max_draft_pages) == ("paid", 5, 2)
    assert (state.renewal_day, state.rate_limit) == (31, None)
    assert (state.key_revoked, state.key_expires_at) == (False, None)
    assert (state.account_disabled, state.email_verified) == (False, True)


def test_the_key_itself_is_stored_nowhere(database, tmp_path):
    made = make(database)
    assert made.api_key.startswith("pr_")
    assert len(made.api_key) == 43
    with database.session() as session:
        session.execute(text("SELECT 1"))
        rows = session.execute(text("SELECT * FROM api_keys")).mappings().one()
    assert made.api_key not in str(dict(rows))
    assert rows["display"] == f"{made.api_key[:7]}…{made.api_key[-4:]}"


def test_keys_are_made_listed_and_revoked_for_good(database):
    made = make(database)
    expires_at = datetime(2027, 1, 1, tzinfo=UTC)
    with database.session() as session:
        second = accounts.create_key(session, made.account_id, expires_at=expires_at)
    with database.session() as session:
        digest = accounts.revoke_key(session, made.key_id)
    assert digest == digest_api_key(made.api_key)
    with database.session() as session:
        first, listed = accounts.list_keys(session, made.account_id)
        assert first.revoked_at is not None
        accounts.revoke_key(session, made.key_id)
        assert accounts.list_keys(session, made.account_id)[0].revoked_at == first.revoked_at
        assert set(accounts.key_digests_of(session, made.account_id)) == {
            digest,
            digest_api_key(second.api_key),
        }
    assert listed.key_id == second.key_id
    assert listed.expires_at == expires_at
    assert listed.user == made.user


@pytest.mark.parametrize("call", ["create_key", "set_account", "list_keys"])
def test_an_unknown_account_is_named(database, call):
    with database.session() as session, pytest.raises(LookupError, match="acc_none"):
        getattr(accounts, call)(session, "acc_none")


def test_an_unknown_key_is_named(database):
    with database.session() as session, pytest.raises(LookupError, match="key_none"):
        accounts.revoke_key(session, "key_none")


@pytest.mark.parametrize(
    ("field", "options"),
    [
        ("email", {"email": "no-address"}), ("email", {"email": "a@b\n.org"}),
        ("name", {"name": "a\x00b"}), ("name", {"name": ""}), ("plan", {"plan": "gold"}),
        ("max_pages", {"max_pages": -1}), ("max_pages", {"max_pages": 2**63}),
        ("max_draft_pages", {"max_draft_pages": -1}), ("renewal_day", {"renewal_day": 0}),
        ("renewal_day", {"renewal_day": 32}),
    ],
)  # fmt: skip
def test_a_wrong_value_names_its_field(database, field, options):
    with database.session() as session, pytest.raises(ValueError, match=f"^{field}: "):
        accounts.create_account(session, **({"email": "ada@example.org"} | options))


@pytest.mark.parametrize("rate_limit", ["20", "0/second", "20/hour", "-1/second", "20/second\n"])
def test_a_wrong_rate_limit_is_refused(database, rate_limit):
    made = make(database)
    with database.session() as session, pytest.raises(ValueError, match="N/second"):
        accounts.set_account(session, made.account_id, rate_limit=rate_limit)
