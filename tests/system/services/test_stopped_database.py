"""A front whose PostgreSQL stands still answers 503 within 5 s, and serves again when it goes on."""

from __future__ import annotations

import os
import signal
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy import text

from shared.auth.accounts import create_account
from tests.api.conftest import running_front


@pytest.fixture
def database_url(make_postgresql, migrated_postgresql):
    return make_postgresql(template=migrated_postgresql)


def ask(port, key) -> tuple[int, float]:
    begun = time.monotonic()
    asked = urllib.request.Request(
        f"http://127.0.0.1:{port}/v2/templates", headers={"x-api-key": key}
    )
    try:
        with urllib.request.urlopen(asked, timeout=30) as answer:
            return answer.status, time.monotonic() - begun
    except urllib.error.HTTPError as error:
        error.close()
        return error.code, time.monotonic() - begun


def test_a_database_that_stands_still_is_a_503_within_five_seconds(settings, database, tmp_path):
    with database.session() as session:
        account = create_account(session, email="ada@example.org")
    with running_front(settings, tmp_path, processes=1) as front, ThreadPoolExecutor(12) as pool:

        def ask_often() -> list[tuple[int, float]]:
            return list(pool.map(lambda _: ask(front.port, account.api_key), range(12)))

        assert {status for status, _ in ask_often()} == {200}
        with database.snapshot() as session:
            backends = session.scalars(text("SELECT pid FROM pg_stat_activity WHERE datname = current_database()")).all()  # fmt: skip
        server = int(Path(f"/proc/{backends[0]}/stat").read_text().rpartition(") ")[2].split()[1])
        for pid in (server, *backends):
            os.kill(pid, signal.SIGSTOP)
        try:
            answers = ask_often()
        finally:
            for pid in (server, *backends):
                os.kill(pid, signal.SIGCONT)
        assert {status for status, _ in answers} == {503}
        assert max(seconds for _, seconds in answers) < 5
        assert {status for status, _ in ask_often()} == {200}
