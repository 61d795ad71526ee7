"""Ends of batches that are not as hoped: no PDF of them all, no room for one more, a hang."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import select, update

from api.app import create_app
from api.wiring import wire
from shared.db.tables import batch_parts, batches, webhook_deliveries
from shared.errors import Unavailable
from tests.batches import SliceWorker, accept, items_of, numbers, send, store_template
from tests.farm.runs import KilledError
from workers.batches import assembly


@pytest.fixture
def worker(settings) -> Iterator[SliceWorker]:
    yield SliceWorker(settings)
    SliceWorker.close_all()


@pytest.fixture
def template(caller) -> str:
    return store_template(caller)


@pytest.fixture
def merged(caller, template, worker) -> str:
    """Return the id of a merged batch whose documents have all ended, its assembly queued."""
    batch_id = accept(caller, template, numbers(3), output="merged")
    worker.work_once()
    return batch_id


def keep_and_work(worker, rounds: int) -> None:
    """Run maintenance and the work it queues; it treats work as lost in its second round."""
    for _ in range(2 * rounds):
        worker.keep()
        worker.work_off()


def damage_part(database, settings) -> None:
    [part] = _find_parts(database, settings)
    part.write_bytes(b"%PDF-1.7 nothing")


def _find_parts(database, settings) -> list[Path]:
    with database.snapshot() as session:
        key = session.scalar(select(batch_parts.c.blob_key))
    folder = Path(settings.blob_url.removeprefix("file://"))
    return [path for path in folder.rglob("*") if path.is_file() and str(path).endswith(key)]


def count_tries(monkeypatch) -> list[str]:
    tries: list[str] = []
    real = assembly.join_parts

    def counting(*args, **options):
        tries.append("try")
        return real(*args, **options)

    monkeypatch.setattr(assembly, "join_parts", counting)
    return tries


def test_documents_that_cannot_be_merged_finish_their_batch_after_three_tries(
    caller, database, settings, worker, merged, monkeypatch
):
    hook = caller.post("/v2/webhooks", json={"url": "https://1.1.1.1/hook"})
    assert hook.status_code == 201
    damage_part(database, settings)
    tries = count_tries(monkeypatch)
    worker.work_off()
    keep_and_work(worker, rounds=6)
    assert len(tries) == 3
    record = caller.get(f"/v2/batches/{merged}").json
    assert (record["status"], record["succeeded"], record["pages"]) == ("finished", 3, 3)
    assert record["error"]["statusCode"] == 500
    assert "could not be merged" in record["error"]["message"]
    answer = caller.get(f"/v2/batches/{merged}/result")
    assert answer.status_code == 409
    assert record["error"]["message"] in answer.json["message"]
    assert [item["status"] for item in items_of(caller, merged)] == ["succeeded"] * 3
    with database.snapshot() as session:
        [told] = session.scalars(select(webhook_deliveries.c.payload)).all()
    assert "could not be merged" in str(told)


def test_documents_that_need_too_much_memory_to_be_merged_say_so(
    caller, worker, merged, monkeypatch
):
    def exhaust(*_args, **_options):
        raise MemoryError

    monkeypatch.setattr(assembly, "join_parts", exhaust)
    worker.work_off()
    keep_and_work(worker, rounds=3)
    error = caller.get(f"/v2/batches/{merged}").json["error"]
    assert error["statusCode"] == 400
    assert "several batches" in error["message"]


def test_an_assembly_that_ends_its_process_is_given_up_after_twelve(
    caller, worker, merged, monkeypatch
):
    died = []

    def die(*_args, **_options):
        died.append(1)
        raise KilledError

    monkeypatch.setattr(assembly, "join_parts", die)
    for _ in range(20):
        with suppress(KilledError):
            worker.work_off()
        worker.keep()
    assert len(died) == 12
    record = caller.get(f"/v2/batches/{merged}").json
    assert (record["status"], record["error"]["statusCode"]) == ("finished", 500)


def test_an_outage_costs_an_assembly_no_try_but_ends_it_after_a_day(
    caller, database, worker, merged, monkeypatch
):
    def be_away(*_args, **_options):
        raise Unavailable("object store")

    with monkeypatch.context() as patched:
        patched.setattr(assembly, "join_parts", be_away)
        for _ in range(5):
            with pytest.raises(Unavailable):
                assembly.run_assembly(assembly.Assembly(merged), worker.batch_context)
        assert caller.get(f"/v2/batches/{merged}").json["status"] == "running"
        with database.session() as session:
            begun = batches.c.assembly_begun_at
            [at] = session.scalars(select(begun)).all()
            session.execute(update(batches).values(assembly_begun_at=at - timedelta(hours=25)))
        assembly.run_assembly(assembly.Assembly(merged), worker.batch_context)
    record = caller.get(f"/v2/batches/{merged}").json
    assert (record["status"], record["error"]["statusCode"]) == ("finished", 500)


def test_a_part_that_is_not_there_is_waited_for_an_hour(caller, database, settings, worker, merged):
    [part] = _find_parts(database, settings)
    part.rename(part.with_suffix(".away"))
    for _ in range(4):
        with pytest.raises(Unavailable):
            assembly.run_assembly(assembly.Assembly(merged), worker.batch_context)
    assert caller.get(f"/v2/batches/{merged}").json["status"] == "running"
    with database.session() as session:
        [at] = session.scalars(select(batches.c.assembly_begun_at)).all()
        session.execute(update(batches).values(assembly_begun_at=at - timedelta(minutes=61)))
    assembly.run_assembly(assembly.Assembly(merged), worker.batch_context)
    record = caller.get(f"/v2/batches/{merged}").json
    assert (record["status"], record["error"]["statusCode"]) == ("finished", 500)


def test_a_cancelled_merged_batch_reports_that_it_has_no_pdf(caller, template, worker):
    batch_id = accept(caller, template, numbers(300), output="merged")
    worker.work_once()
    caller.delete(f"/v2/batches/{batch_id}")
    worker.work_off()
    answer = caller.get(f"/v2/batches/{batch_id}/result")
    assert answer.status_code == 409
    assert "cancelled" in answer.json["message"]
    assert "output=zip" in answer.json["message"]


@pytest.fixture
def narrow(settings, account):
    """Return a client of a front that allows two unfinished batches per account."""
    ports = wire(replace(settings, max_unfinished_batches=2))
    client = create_app(ports).test_client()
    client.environ_base["HTTP_AUTHORIZATION"] = f"Bearer {account.api_key}"
    yield client
    ports.database.close()


def test_one_more_unfinished_batch_than_an_account_may_have_is_refused(narrow, worker):
    template = store_template(narrow)
    key = {"Idempotency-Key": "the-first"}
    first = send(narrow, template, numbers(2), headers=key)
    accept(narrow, template, numbers(2))
    refused = send(narrow, template, numbers(2))
    assert refused.status_code == 429
    for told in ("the limit is 2", "GET /v2/batches?status=running", "DELETE /v2/batches/{id}"):
        assert told in refused.json["message"]
    assert int(refused.headers["Retry-After"]) >= 1
    # A repeated call is not a batch more.
    repeated = send(narrow, template, numbers(2), headers=key)
    assert (repeated.status_code, repeated.json["id"]) == (202, first.json["id"])
    worker.work_off()
    accept(narrow, template, numbers(2))


def test_a_cancelled_batch_makes_room_for_another(narrow):
    template = store_template(narrow)
    first = accept(narrow, template, numbers(2))
    accept(narrow, template, numbers(2))
    narrow.delete(f"/v2/batches/{first}")
    accept(narrow, template, numbers(2))


def test_batches_sent_at_once_do_not_exceed_the_limit(narrow):
    template = store_template(narrow)

    def send_one(_):
        client = narrow.application.test_client()
        client.environ_base.update(narrow.environ_base)
        return send(client, template, numbers(2)).status_code

    with ThreadPoolExecutor(12) as pool:
        assert Counter(pool.map(send_one, range(24))) == {202: 2, 429: 22}
