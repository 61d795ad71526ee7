"""The order of checks: each check comes before the next, and a refusal there costs nothing of it.

One request carries every fault at once. Taking the faults away one by one, from the first check
on, must show the statuses in the contract's order.
"""

from __future__ import annotations

import pytest
from redis import Redis
from sqlalchemy import event

from shared.auth import accounts
from shared.db.session import Database
from shared.identifiers import new_api_key
from shared.limits import MAX_BODY_BYTES
from shared.queue.names import INTERACTIVE


class Body:
    """A body that counts how often it is read."""

    def __init__(self, data: bytes) -> None:
        self.reads = 0
        self._data = data

    def read(self, size: int = -1) -> bytes:
        self.reads += 1
        data, self._data = self._data, b""
        return data


@pytest.fixture
def statements(ports) -> list[str]:
    """Record the statements the front sends to the database."""
    seen: list[str] = []
    with ports.database.snapshot() as connection:
        engine = connection.engine

    def note(_connection, _cursor, statement, *_):
        if not statement.startswith("BEGIN"):
            seen.append(statement)

    event.listen(engine, "before_cursor_execute", note)
    return seen


def ask(client, key, query, media, body, length=None):
    headers = {"x-api-key": key}
    return client.post(
        f"/v2/pdf{query}",
        content_type=media,
        headers=headers,
        environ_overrides={
            "wsgi.input": body,
            "wsgi.input_terminated": True,
            "CONTENT_LENGTH": str(length or 2),
        },
    )


def use_up(database: Database, ports, account) -> None:
    with database.session() as session:
        accounts.set_account(session, account.account_id, max_pages=0)
        ports.admissions.drop(
            account.account_id, accounts.key_digests_of(session, account.account_id)
        )


def test_the_checks_come_in_the_contracts_order(
    stranger, caller, ports, database, account, statements, redis_url
):
    empty = caller.post("/v2/templates?name=Empty").json["id"]
    full = caller.post("/v2/templates?name=F", data=b"<d/>", content_type="text/xml").json["id"]
    use_up(database, ports, account)
    with database.session() as session:
        accounts.set_account(session, account.account_id, disabled=True)
    key, over = account.api_key, MAX_BODY_BYTES + 1
    missing, bad = "?template=none", "?template=a@@&x=1"
    del statements[:]

    def refused(status, answer, body=None, *, queries=None):
        assert answer.status_code == status, answer.json
        if body is not None:
            assert body.reads == 0
        if queries is not None:
            assert len(statements) == queries, statements
        del statements[:]

    # 1. Authentication: a key that cannot be one costs no query, an unknown one costs one.
    body = Body(b"{}")
    refused(401, ask(stranger, "nonsense", bad, "image/png", body, over), queries=0)
    refused(401, ask(stranger, new_api_key(), bad, "image/png", body, over), queries=1)
    # 2. Account state.
    refused(403, ask(stranger, key, bad, "image/png", body, over))
    with database.session() as session:
        accounts.set_account(session, account.account_id, disabled=False)
        ports.admissions.drop(
            account.account_id, accounts.key_digests_of(session, account.account_id)
        )
    # 4. Parameters, 5. type, 6. size: nothing is read, nothing is asked.
    ports.admissions.of(account.account_id).drop_all()
    assert ask(stranger, key, bad, "image/png", Body(b"{}"), over).status_code == 400
    del statements[:]
    refused(400, ask(stranger, key, bad, "image/png", body, over), queries=0)
    refused(415, ask(stranger, key, missing, "image/png", body, over), queries=0)
    refused(413, ask(stranger, key, missing, "application/json", body, over), queries=0)
    # 7. Template resolution comes after the body, before the allowance.
    refused(404, ask(stranger, key, missing, "application/json", Body(b"{}")), queries=1)
    refused(400, ask(stranger, key, f"?template={empty}", "application/json", Body(b"{}")))
    # 8. Allowance: nothing is queued.
    refused(402, ask(stranger, key, f"?template={full}", "application/json", Body(b"{}")))
    with Redis.from_url(redis_url) as client:
        assert client.llen(INTERACTIVE) == 0


def test_the_next_render_is_pinned_to_new_content(caller, worker):
    made = caller.post("/v2/templates?name=a", data=b"<document/>", headers=XML_TYPE)
    path = f"/v2/pdf?template={made.json['id']}"
    for content in (b"<document/>", b"<document lang='de'/>", b"<document lang='fr'/>"):
        kept = caller.put(f"/v2/templates/{made.json['id']}", data=content, headers=XML_TYPE)
        caller.post(path, data=b"{}", headers=JSON_TYPE)
        assert worker.jobs[-1].template.sha256 == kept.json["sha256"]


XML_TYPE = {"Content-Type": "application/xml"}
JSON_TYPE = {"Content-Type": "application/json"}
