"""Secrets at rest: unreadable without a key, and readable through every rotation."""

from __future__ import annotations

import stat

import pytest
from sqlalchemy import select

from shared.clock import now
from shared.db.session import open_database
from shared.db.tables import webhooks as webhook_table
from shared.encryption import SecretCipher, SecretUnreadableError, new_key
from shared.settings import WrongSetting, load_settings
from shared.webhooks import repository as webhooks

URLS = {
    "PRESSROOM_DATABASE_URL": "sqlite://",
    "PRESSROOM_REDIS_URL": "redis://127.0.0.1",
    "PRESSROOM_BLOB_URL": "file:///none",
}


def test_a_token_shows_nothing_and_is_read_by_its_key_alone():
    cipher = SecretCipher([new_key()])
    token = cipher.encrypt("whsec_ä")
    assert "whsec" not in token
    assert token != cipher.encrypt("whsec_ä")
    assert cipher.decrypt(token) == "whsec_ä"
    changed = token[:20] + ("B" if token[20] == "A" else "A") + token[21:]
    for other in (token[:-8], "whsec_ä", "", changed):
        with pytest.raises(SecretUnreadableError, match="PRESSROOM_SECRET_KEYS"):
            cipher.decrypt(other)
    with pytest.raises(SecretUnreadableError):
        SecretCipher([new_key()]).decrypt(token)


def test_a_new_key_encrypts_while_the_old_one_still_decrypts():
    old, new = new_key(), new_key()
    before, between = SecretCipher([old]), SecretCipher([new, old])
    token = before.encrypt("s")
    assert between.decrypt(token) == "s"
    assert not between.is_current(token)
    assert SecretCipher([new]).decrypt(between.encrypt("s")) == "s"


@pytest.mark.parametrize("text", ["short", "ä" * 44, f"{'A' * 43}= short", "A" * 88])
def test_a_wrong_key_is_named_and_not_shown(text):
    with pytest.raises(WrongSetting, match=r"PRESSROOM_SECRET_KEYS: .*openssl") as raised:
        load_settings({**URLS, "PRESSROOM_SECRET_KEYS": text})
    assert text not in str(raised.value)


def test_a_process_without_a_needed_key_reports_it():
    with pytest.raises(WrongSetting, match=r"PRESSROOM_SECRET_KEYS: .*need a key"):
        _ = load_settings(URLS).secret_cipher


def test_secrets_of_every_age_are_encrypted_with_the_newest_key(database, account):
    key, former = new_key(), new_key()
    old, new = SecretCipher([former]), SecretCipher([key, former])
    with database.session() as session:
        for secret in (old.encrypt("whsec_old"), new.encrypt("whsec_new")):
            webhooks.create_webhook(
                session, account.account_id, url="https://x", events=(), secret=secret, at=now()
            )
        first = webhooks.list_targets(session, webhooks.Webhook, account.account_id)[0]
        webhooks.rotate_secret(
            session, account.account_id, first.id, secret=old.encrypt("whsec_next"), at=now()
        )
    with database.session() as session:
        assert webhooks.encrypt_secrets(session, new) == 2
        assert webhooks.encrypt_secrets(session, new) == 0
    newest = SecretCipher([key])
    with database.snapshot() as session:
        rows = session.execute(
            select(webhook_table.c.secret, webhook_table.c.previous_secret)
        ).all()
    read = {newest.decrypt(token) for row in rows for token in row if token is not None}
    assert read == {"whsec_next", "whsec_old", "whsec_new"}


def test_a_lost_key_changes_nothing(database, account):
    with database.session() as session:
        token = SecretCipher([new_key()]).encrypt("whsec_x")
        webhooks.create_webhook(
            session, account.account_id, url="https://x", events=(), secret=token, at=now()
        )
    with pytest.raises(SecretUnreadableError), database.session() as session:
        webhooks.encrypt_secrets(session, SecretCipher([new_key()]))
    with database.snapshot() as session:
        assert session.scalar(select(webhook_table.c.secret)) == token


def test_the_file_of_a_database_is_its_owners_alone(tmp_path):
    readable = tmp_path / "old.sqlite"
    readable.touch(mode=0o644)
    for path in (readable, tmp_path / "new.sqlite"):
        database = open_database(f"sqlite:///{path}")
        with database.session() as session:
            session.exec_driver_sql("CREATE TABLE t (x INTEGER)")
            modes = {stat.S_IMODE(file.stat().st_mode) for file in tmp_path.glob(f"{path.name}*")}
        assert modes == {0o600}
        database.close()
    assert not list(tmp_path.parent.glob(":memory:*"))
