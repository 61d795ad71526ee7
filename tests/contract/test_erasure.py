"""Results are kept as an account wants, and whatever is stored of a data subject is erased."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy import insert, select, update

from api.jobs import routes
from shared.auth.accounts import set_account
from shared.auth.administration import delete_account
from shared.clock import now
from shared.db.tables import audit_log, batches, jobs, metadata, usage_ledger
from shared.errors import ServiceError
from shared.queue.names import BATCH
from tests.bench.feeding import make_batch
from tests.contract.test_destinations import add
from workers.maintenance.recorded_work import expire_batches, expire_jobs

XML = {"data": b"<d/>", "content_type": "text/xml"}
ASYNC = {"Prefer": "respond-async"}


@pytest.fixture
def worker(worker):
    worker.queues = [BATCH]
    return worker


def render(caller, query="") -> str:
    job: str = caller.post(f"/v2/pdf?{query}", headers=ASYNC, **XML).json["id"]
    assert caller.get(f"/v2/jobs/{job}?wait=60").json["status"] == "succeeded"
    return job


def test_without_retention_a_pdf_is_gone_once_it_is_fetched(
    caller, worker, database, account, ports
):
    with database.session() as session:
        set_account(session, account.account_id, result_hours=0, record_days=1)
    job = render(caller)
    key = next(ports.blobs.list_keys(f"jobs/{job}/"))
    part = caller.get(f"/v2/jobs/{job}/pdf", headers={"Range": "bytes=0-3"})
    assert part.status_code == 206
    assert caller.get(f"/v2/jobs/{job}/pdf").data == worker.pdf
    assert caller.get(f"/v2/jobs/{job}/pdf").status_code == 410
    assert list(ports.blobs.list_keys(f"jobs/{job}/")) == [], key
    assert caller.get(f"/v2/jobs/{job}").json["status"] == "succeeded"


def test_a_pdf_that_is_to_be_delivered_stays_when_it_is_fetched(caller, worker, database, account):
    with database.session() as session:
        set_account(session, account.account_id, result_hours=0)
    job = render(caller, f"deliver={add(caller)}")
    for _ in range(2):
        assert caller.get(f"/v2/jobs/{job}/pdf").data == worker.pdf


@pytest.mark.parametrize("terms", [{"result_hours": -1}, {"result_hours": 25}, {"record_days": 0}])
def test_retention_is_within_that_of_the_service(database, account, terms):
    with database.session() as session, pytest.raises(ValueError, match="is not a number from"):
        set_account(session, account.account_id, **terms)


def test_what_two_calls_erase_together_is_in_one_receipt(caller, worker, monkeypatch):
    render(caller, "subject=customer-47")
    find, receipts = routes.list_work_of_subject, []

    def find_and_erase(*arguments, **options):
        found = find(*arguments, **options)
        monkeypatch.setattr(routes, "list_work_of_subject", find)
        receipts.append(caller.delete("/v2/subjects?key=customer-47").json)
        return found

    monkeypatch.setattr(routes, "list_work_of_subject", find_and_erase)
    receipts.append(caller.delete("/v2/subjects?key=customer-47").json)
    assert [each["jobs"] for each in receipts] == [1, 0]


def test_a_subject_is_erased_with_a_receipt(caller, worker, account, database, ports):
    made = add(caller)
    kept = render(caller, "subject=customer-5")
    job = render(caller, f"subject=customer-47&deliver={made}")
    about = make_batch(account.account_id, now()).replace(subject="customer-47")
    batch = about.id
    with database.session() as session:
        session.execute(insert(batches).values(about.to_builtins() | {"charset": None}))
    receipt = caller.delete("/v2/subjects?key=customer-47").json
    assert (receipt["jobs"], receipt["batches"], receipt["deliveries"]) == (1, 1, 1)
    for gone in (f"/v2/jobs/{job}", f"/v2/batches/{batch}"):
        assert caller.get(gone).status_code == 404
    assert caller.get(f"/v2/jobs/{kept}").status_code == 200
    assert list(ports.blobs.list_keys(f"jobs/{job}/")) == []
    with database.snapshot() as session:
        found = {
            table.name
            for table in metadata.sorted_tables
            if job in str(session.execute(select(table)).all())
        }
        assert found <= {"usage_ledger"}
        assert session.scalar(select(usage_ledger.c.pages).where(usage_ledger.c.job_id == job)) == 1
        entry = session.scalars(
            select(audit_log.c.details).order_by(audit_log.c.number.desc())
        ).first()
        assert session.scalar(select(jobs.c.subject)) == "customer-5"
    assert entry == {"jobs": 1, "batches": 1, "deliveries": 1}
    again = caller.delete("/v2/subjects?key=customer-47").json
    assert (again["jobs"], again["batches"], again["deliveries"]) == (0, 0, 0)


def test_a_subject_must_be_named_in_printable_characters(caller):
    assert caller.delete("/v2/subjects").status_code == 400
    assert caller.delete("/v2/subjects?key=").status_code == 400
    assert caller.post("/v2/pdf?subject=%07", headers=ASYNC, **XML).status_code == 400


def test_an_account_with_a_legal_hold_keeps_what_is_due_and_what_its_clients_delete(
    caller, worker, database, account, ports
):
    """Until it is released: then maintenance deletes what is due."""
    job = render(caller, "subject=customer-47")
    made = make_batch(account.account_id, now() - timedelta(days=400))
    with database.session() as session:
        ended = now() - timedelta(days=400)
        session.execute(insert(batches).values(made.to_builtins() | {"charset": None}))
        finished = {"status": "finished", "finished_at": ended, "sweep_at": ended}
        session.execute(update(batches).values(finished))
        session.execute(update(jobs).values(finished_at=ended, sweep_at=ended))
        set_account(session, account.account_id, held=True, disabled=False, result_hours=0)
    flow = ports.cell(account.account_id)
    assert (expire_jobs(flow.jobs), expire_batches(flow.batches)) == (0, 0)
    for path in (f"/v2/jobs/{job}", f"/v2/batches/{made.id}", "/v2/subjects?key=customer-47"):
        refused = caller.delete(path)
        assert (refused.status_code, "legal hold" in refused.json["message"]) == (409, True)
    for _ in range(2):  # though the account keeps no results
        assert caller.get(f"/v2/jobs/{job}/pdf").data == worker.pdf
    with database.session() as session:
        with pytest.raises(ServiceError, match="legal hold"):
            delete_account(session, account.account_id)
        set_account(session, account.account_id, held=False)
    assert (expire_jobs(flow.jobs), expire_batches(flow.batches)) == (1, 1)
    assert caller.get(f"/v2/jobs/{job}").status_code == 404
    assert list(ports.blobs.list_keys(f"jobs/{job}/")) == []
