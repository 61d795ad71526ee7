"""Decisions on runs: documents that a plan holds are released or rejected, delivered ones are reprinted."""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta
from hashlib import sha256

import pytest
from sqlalchemy import update

from shared.batches import decisions
from shared.batches.lifecycle import BatchLifecycle
from shared.batches.repository import find_batch, list_due_batches
from shared.clock import now
from shared.db.queries import find_retention
from shared.db.tables import accounts, batches
from shared.encryption import SecretCipher, new_key
from shared.errors import ServiceError
from shared.outbound import Outbound, PostResult
from shared.webhooks.destinations import FileSource
from shared.webhooks.repository import Attempt, DeliveryStatus, lease_due, record_attempt
from tests.batches import TEMPLATE, SliceWorker, accept, ndjson
from tests.farm.runs import (
    KilledError,
    accept_run,
    account_of,
    decide,
    die,
    index_of,
    killed_in,
    read_contents,
    store,
    titles,
)
from workers.batches import assembly
from workers.maintenance.recorded_work import expire_batches
from workers.webhooks import files
from workers.webhooks.files import FileSender

DOCUMENTS = [
    {"n": 9}, {"n": 1, "nn": 0}, {"n": 5000, "extra": ["a"]}, {"n": 3}, {"n": 2}, {"n": "x"},
]  # fmt: skip
HOLD = {
    "warnings": ["unknown-member"],
    "conditions": [{"value": "n", "above": 1000}, {"value": "n", "one_of": [2, "CU"]}],
}
PLAN = {"sort": ["n"], "fields": ["n"], "duplex": True, "hold": HOLD}


@pytest.fixture
def begin(caller, numbered):
    """Return a function that accepts a run and returns its id."""

    def begin(plan=PLAN, documents=DOCUMENTS):
        return accept_run(caller, numbered, plan, documents)

    return begin


def rows(caller, batch_id):
    found = index_of(caller, batch_id)
    return {row["n"] or "x": (row["status"], row["file"], row["reason"]) for row in found}


def test_held_documents_are_in_the_account_and_in_the_index(caller, run):
    batch_id = run()
    account = account_of(caller, batch_id)
    assert (account["delivered"], account["held"], account["failed"]) == (2, 3, 1)
    assert [title for title, _ in titles(caller, batch_id, 1)] == ["3", "9"]
    assert rows(caller, batch_id) == {
        "3": ("delivered", "1", ""),
        "9": ("delivered", "1", ""),
        "1": ("held", "", "warning:unknown-member"),
        "5000": ("held", "", "condition:n"),
        "2": ("held", "", "condition:n"),
        "x": ("failed", "", ""),
    }


def test_released_documents_leave_as_further_files(caller, run, slices):
    batch_id = run()
    first = caller.get(f"/v2/batches/{batch_id}/files/1").data
    opened = decide(caller, batch_id, "release", reason="condition")
    assert (opened["open"], opened["held"]) == (2, 1)
    slices.work_off()
    account = account_of(caller, batch_id)
    assert (account["delivered"], account["held"], account["open"]) == (4, 1, 0)
    assert [title for title, _ in titles(caller, batch_id, 2)] == ["2", "5000"]
    assert caller.get(f"/v2/batches/{batch_id}/files/1").data == first
    assert decide(caller, batch_id, "release", reason="condition") == account
    decide(caller, batch_id, "release", documents=[1])
    slices.work_off()
    assert [title for title, _ in titles(caller, batch_id, 3)] == ["1"]
    assert rows(caller, batch_id)["1"] == ("delivered", "3", "warning:unknown-member")
    shown = account_of(caller, batch_id)["files"]
    assert [each["documents"] for each in shown] == [2, 2, 1]


def test_rejected_documents_are_counted_and_stay_out(caller, run, slices):
    batch_id = run()
    assert decide(caller, batch_id, "reject", documents=[2, 0])["rejected"] == 1
    slices.work_off()
    assert rows(caller, batch_id)["5000"] == ("rejected", "", "condition:n")
    decide(caller, batch_id, "release")
    slices.work_off()
    account = account_of(caller, batch_id)
    assert (account["delivered"], account["rejected"], account["held"]) == (4, 1, 0)
    assert [title for title, _ in titles(caller, batch_id, 2)] == ["1", "2"]


def test_decisions_are_in_the_audit_log_once(caller, run, slices):
    batch_id = run()
    for _ in range(2):
        decide(caller, batch_id, "reject", documents=[2])
    decide(caller, batch_id, "release")
    slices.work_off()
    decide(caller, batch_id, "reprint", 202, documents=[0])
    found = caller.get("/v2/audit").json["entries"]
    own = [(each["action"], each["details"]) for each in found if each["subject"] == batch_id]
    assert own == [
        ("documents.reprinted", {"number": 1, "documents": [0]}),
        ("documents.released", {"changed": 2}),
        ("documents.rejected", {"documents": [2], "changed": 1}),
    ]


def test_a_run_is_kept_as_long_as_its_plan_says(caller, run, slices, database, account, ports):
    batch_id = run(PLAN | {"keep": {"result_hours": 2, "record_days": 1}})

    def kept():
        with database.snapshot() as session:
            return round((find_batch(session, batch_id).expires_at - now()) / timedelta(hours=1), 2)

    assert kept() == 2
    with database.session() as session:
        session.execute(update(batches).values(expires_at=now() + timedelta(minutes=1)))
    decide(caller, batch_id, "release")
    assert kept() == 2
    slices.work_off()
    flow = ports.cell(account.account_id).batches
    for hours, status in ((3, 200), (25, 404)):
        with database.session() as session:
            ended = now() - timedelta(hours=hours)
            due = {"finished_at": ended, "sweep_at": ended, "expires_at": ended}
            session.execute(update(batches).values(due))
        assert expire_batches(flow) == 1
        assert list(ports.blobs.list_keys(f"batches/{batch_id}/")) == []
        assert caller.get(f"/v2/batches/{batch_id}").status_code == status


def test_a_plan_keeps_nothing_longer_than_the_service(caller, run, database, account):
    long = {"result_hours": 20, "record_days": 7}
    assert store(caller, {"keep": long})
    for member, value in (("result_hours", 25), ("result_hours", 0), ("record_days", 8)):
        refused = caller.put("/v2/plans/letters", json={"keep": {member: value}})
        assert refused.status_code == 400
        assert f"keep.{member} {value} is not from 1 to" in refused.json["message"]
    for own, plan, expected in ((2, long, 20), (2, {}, 2), (0, long, 1), (None, {}, 24)):
        times = tuple(map(plan.get, ("result_hours", "record_days")))
        with database.session() as session:
            session.execute(update(accounts).values(result_hours=own))
            found = find_retention(session, account.account_id, *times)[0]
        assert found == timedelta(hours=expected)


def test_a_killed_release_is_repeated_and_delivers_once(caller, run, slices, settings):
    batch_id = run()
    decide(caller, batch_id, "release")
    task = slices.take()
    with killed_in(assembly, "finish_decisions"):
        slices.run(task)
    assert account_of(caller, batch_id)["open"] == 3
    other = SliceWorker(settings)
    other.run(task)
    slices.run(task)
    assert account_of(caller, batch_id)["delivered"] == 5
    assert [title for title, _ in titles(caller, batch_id, 2)] == ["1", "2", "5000"]


def test_a_release_before_the_first_delivery_is_delivered_once(
    caller, numbered, slices, database, monkeypatch
):
    to = caller.post("/v2/destinations", json={"url": "https://8.8.8.8/in/"}).json["id"]
    store(caller, PLAN)
    body, query = ndjson(DOCUMENTS), f"&plan=letters&deliver={to}"
    batch_id = accept(caller, numbered, body, output="merged", query=query)
    slices.work_off()
    decide(caller, batch_id, "release")
    slices.work_off()
    sent = []
    blobs, cipher = slices.batch_context.blobs, SecretCipher([new_key()])
    sender = FileSender(database, blobs, Outbound(), cipher, "")

    def upload(item):
        sent.append(item.name.removeprefix(batch_id))
        return PostResult(200)

    monkeypatch.setattr(files, "upload", upload)
    for _ in range(6):
        later = now() + timedelta(minutes=1)
        with database.session() as session:
            due = lease_due(session, at=later, until=now(), limit=99)
        for delivery in due:
            if sender.send(delivery, "") is not None:
                attempt, status = Attempt(1, now(), 0, 200), DeliveryStatus.DELIVERED
                with database.session() as session:
                    record_attempt(
                        session, delivery.id, attempt, status=status, next_attempt_at=None
                    )
    assert (sorted(sent), sent[-1]) == (["-1.pdf", "-2.pdf", ".csv", ".csv"], ".csv")
    counts = {"pending": 0, "delivered": 4, "undelivered": 0}
    assert account_of(caller, batch_id)["deliveries"] == counts


def test_files_of_decisions_in_close_succession_are_all_delivered(
    caller, numbered, slices, database, monkeypatch
):
    address = {"url": "https://8.8.8.8/in/"}
    to = caller.post("/v2/destinations", json=address).json["id"]
    store(caller, PLAN)
    body, query = ndjson(DOCUMENTS), f"&plan=letters&deliver={to}"
    batch_id = accept(caller, numbered, body, output="merged", query=query)
    slices.work_off()
    sender = FileSender(
        database, slices.batch_context.blobs, Outbound(), SecretCipher([new_key()]), ""
    )

    def read_ordered() -> list[str]:
        """Let the deliverer add the files that wait for it, and return their names."""
        with database.session() as session:
            due = lease_due(session, at=now(), until=now(), limit=99)
        for delivery in due:
            if FileSource.decode(delivery.payload).after is not None:
                sender.send(delivery, "")
        found = caller.get("/v2/deliveries?limit=1000").json["deliveries"]
        return sorted(each["name"].removeprefix(batch_id) for each in found)

    assert read_ordered() == ["-1.pdf", ".csv"]
    decide(caller, batch_id, "release", reason="condition")
    write = assembly.arrange_run

    def write_late(*arguments, **options):
        files = write(*arguments, **options)
        monkeypatch.setattr(assembly, "arrange_run", write)
        decide(caller, batch_id, "reject", documents=[1])
        return files

    monkeypatch.setattr(assembly, "arrange_run", write_late)
    slices.work_off()
    ordered = read_ordered()
    assert [name for name in ordered if name.endswith(".pdf")] == ["-1.pdf", "-2.pdf"]
    assert ordered.count(".csv") > 1


def test_a_decision_that_meets_a_deletion_does_not_keep_the_files(caller, run, database):
    batch_id = run()
    caller.delete(f"/v2/batches/{batch_id}")
    for change in (
        lambda session: decisions.decide(
            session, batch_id, decisions.HeldDocuments(), is_release=True, at=now()
        ),
        lambda session: decisions.order_reprint(
            session, batch_id, decisions.Reprint(documents=(0,)), at=now()
        ),
    ):
        with pytest.raises(ServiceError, match="does not exist"), database.session() as session:
            change(session)
    with database.snapshot() as session:
        assert [each.id for each in list_due_batches(session, at=now(), limit=9)] == [batch_id]


def test_a_batch_without_a_plan_is_delivered_once_it_is_merged(caller, numbered, slices):
    batch_id = accept(caller, numbered, ndjson(DOCUMENTS), output="merged")
    assert slices.work_once()
    account = account_of(caller, batch_id)
    assert (account["delivered"], account["failed"], account["open"]) == (0, 1, 5)
    caller.delete(f"/v2/batches/{batch_id}")
    account = account_of(caller, batch_id)
    assert (account["delivered"], account["failed"], account["cancelled"]) == (0, 1, 5)
    batch_id = accept(caller, numbered, ndjson(DOCUMENTS), output="merged")
    slices.work_off()
    account = account_of(caller, batch_id)
    assert (account["delivered"], account["failed"], account["pages"] > 4) == (5, 1, True)


def test_maintenance_repeats_a_release_whose_task_was_lost(caller, run, slices):
    batch_id = run()
    decide(caller, batch_id, "release")
    slices.take()
    slices.batch_context.queue.remove(assembly.Assembly(batch_id))
    for _ in range(2):
        slices.keep()
    slices.work_off()
    assert account_of(caller, batch_id)["delivered"] == 5


PROOF = {"sort": ["-n"], "fields": ["n"], "hold": {"proof": 2, "warnings": ["any"]}}
THREE = [{"n": 1}, {"n": 2}, {"n": 3, "nn": 0}, {"n": 4}]


def test_the_files_of_a_run_wait_until_its_proof_is_released(caller, run, slices):
    batch_id = run(PROOF, THREE)
    account = account_of(caller, batch_id)
    assert (account["held"], account["delivered"], account["proof"]["documents"]) == (4, 0, 2)
    assert [title for title, _ in titles(caller, batch_id, "proof")] == ["2", "1"]
    assert caller.get(f"/v2/batches/{batch_id}/files/1").status_code == 404
    decide(caller, batch_id, "release", reason="proof")
    slices.work_off()
    assert [title for title, _ in titles(caller, batch_id, 1)] == ["4", "2", "1"]
    assert account_of(caller, batch_id)["held"] == 1


@pytest.fixture
def proved(caller, begin, slices, monkeypatch):
    """Return a run whose proof is written, and whose other documents are not rendered."""
    monkeypatch.setattr("workers.batches.slices.SLICE_SECONDS", 0)  # a part for each document
    batch_id = begin(PROOF, THREE)
    while account_of(caller, batch_id).get("proof") is None:
        assert slices.work_once()
    assert account_of(caller, batch_id)["open"]
    return batch_id


def test_a_proof_is_released_while_its_run_is_rendered(caller, proved, slices):
    assert [title for title, _ in titles(caller, proved, "proof")] == ["2", "1"]
    decide(caller, proved, "release", 409)
    for _ in range(2):
        assert decide(caller, proved, "release", reason="proof")["held"] == 0
    decide(caller, proved, "reject", reason="proof")  # it is not held any more
    slices.work_off()
    account = account_of(caller, proved)
    assert (account["delivered"], account["held"]) == (3, 1)
    assert [title for title, _ in titles(caller, proved, 1)] == ["4", "2", "1"]


def test_a_rejected_proof_cancels_its_run(caller, proved, slices):
    decide(caller, proved, "reject", reason="proof")
    slices.work_off()
    account = account_of(caller, proved)
    assert caller.get(f"/v2/batches/{proved}").json["status"] == "cancelled"
    assert (account["delivered"], account["open"]) == (0, 0)
    assert account["rejected"] >= 2
    decide(caller, proved, "release", 409)


def test_a_rejected_proof_cancels_its_run_though_its_front_dies(
    caller, proved, slices, monkeypatch
):
    monkeypatch.setattr(BatchLifecycle, "report_cancelled", die)
    with suppress(KilledError):
        caller.post(f"/v2/batches/{proved}/reject", json={"reason": "proof"})
    slices.work_off()
    assert caller.get(f"/v2/batches/{proved}").json["status"] == "cancelled"
    assert account_of(caller, proved)["rejected"] >= 2


def test_a_run_whose_proof_is_released_while_its_files_are_written_is_repeated(
    caller, begin, slices, monkeypatch
):
    batch_id = begin(PROOF, THREE)
    slices.work_once()
    write_index = assembly.write_index
    with monkeypatch.context() as patch:

        def release(*arguments):
            decide(caller, batch_id, "release", reason="proof")
            write_index(*arguments)

        patch.setattr(assembly, "write_index", release)
        slices.work_off()
    assert account_of(caller, batch_id)["open"]
    for _ in range(2):
        slices.keep()
    slices.work_off()
    assert account_of(caller, batch_id)["delivered"] == 3


MARKED = {
    "sort": ["-n"],
    "duplex": True,
    "split": {"documents": 4},
    "marks": {"type": "datamatrix", "left": 3, "top": 3, "clear": 1},
}


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ({"documents": [9, 0, 3]}, [9, 3, 0]),
        ({"first": 3, "last": 5}, [5, 4, 3]),
        ({"unit": "sets", "first": 4, "last": 6}, [6, 5, 4]),
        ({"unit": "sheets", "file": 2, "first": 2, "last": 3}, [4, 3]),
    ],
)
def test_a_reprint_has_the_same_bytes_after_the_template_changed(
    caller, numbered, run, slices, wanted, expected
):
    documents = [{"n": n, "extra": ["a"] * (n % 3)} for n in range(10)]
    batch_id = run(MARKED, documents)
    pages = {}
    for number in (1, 2, 3):
        found = titles(caller, batch_id, number)
        drawn = read_contents(caller.get(f"/v2/batches/{batch_id}/files/{number}").data)
        ends = [start for _, start in found[1:]] + [len(drawn) + 1]
        for (title, start), end in zip(found, ends, strict=True):
            pages[int(title)] = drawn[start - 1 : end - 1]
    changed = TEMPLATE.replace("This is", "Another").encode()
    caller.put(f"/v2/templates/{numbered}", data=changed, content_type="text/xml")
    used = len(slices.events())
    reprint = decide(caller, batch_id, "reprint", 202, **wanted)
    path = f"/v2/batches/{batch_id}/files/reprint-1"
    assert (reprint["bytes"], caller.get(path).status_code) == (0, 409)
    slices.work_off()
    pdf = caller.get(path).data
    assert read_contents(pdf) == [page for n in expected for page in pages[n]]
    [written] = account_of(caller, batch_id)["reprints"]
    assert (written["documents"], written["bytes"]) == (len(expected), len(pdf))
    assert written["sha256"] == sha256(pdf).hexdigest()
    assert len(slices.events()) == used  # it is not metered


def test_each_page_of_a_copy_says_so_above_the_same_bytes(caller, run, slices):
    batch_id = run({"sort": ["n"]}, [{"n": 1, "extra": ["a"] * 3}, {"n": 2}])
    decide(caller, batch_id, "reprint", 202, documents=[0], copy=True)
    decide(caller, batch_id, "reprint", 202, documents=[1])
    slices.work_off()
    plain = read_contents(caller.get(f"/v2/batches/{batch_id}/files/1").data)
    copied = caller.get(f"/v2/batches/{batch_id}/files/reprint-1").data
    assert read_contents(copied, 1) == plain[: len(read_contents(copied))]
    assert read_contents(copied) != read_contents(copied, 1)
    assert [title for title, _ in titles(caller, batch_id, "reprint-2")] == ["2"]


@pytest.mark.parametrize(
    ("what", "body", "told"),
    [
        ("release", {"documents": []}, "documents"),
        ("release", {"documents": [-1]}, "documents"),
        ("reject", {"reasons": "proof"}, "reasons"),
        ("reprint", {}, "first"),
        ("reprint", {"first": 2, "last": 1}, "first"),
        ("reprint", {"documents": [0, 5]}, "document 5 was not delivered"),
        ("reprint", {"first": 90, "last": 99}, "no document from 90 to 99"),
        ("reprint", {"documents": [0], "first": 1}, "not both"),
        ("reprint", {"unit": "sets", "first": 1, "last": 3}, "the run has the sets 1 to 2"),
        ("reprint", {"unit": "sheets", "first": 1, "last": 1}, "takes a file"),
        ("reprint", {"unit": "sheets", "file": 7, "first": 1, "last": 1}, "file 7"),
        ("reprint", {"unit": "pages", "first": 1, "last": 1}, "unit"),
    ],
)
def test_a_wrong_decision_is_refused_by_name(caller, run, what, body, told):
    answer = caller.post(f"/v2/batches/{run()}/{what}", json=body)
    assert answer.status_code == 400
    assert told in answer.json["message"]


def test_decisions_are_of_runs_that_have_ended_and_are_kept(caller, numbered, begin, database):
    assert caller.post("/v2/batches/batch_none/release").status_code == 404
    plain = accept(caller, numbered, ndjson(DOCUMENTS), output="merged")
    decide(caller, plain, "release", 409)
    batch_id = begin()
    assert "not ended" in decide(caller, batch_id, "release", 409)["message"]
    assert "not ended" in decide(caller, batch_id, "reprint", 409, documents=[0])["message"]
    assert caller.post(f"/v2/batches/{batch_id}/reprint").status_code == 400
    values = {"status": "finished", "expires_at": batches.c.created_at}
    with database.session() as session:
        session.execute(update(batches).values(**values))
    decide(caller, batch_id, "release", 410)


def test_a_plan_without_a_body_is_refused(caller):
    answer = caller.put("/v2/plans/letters")
    assert (answer.status_code, "empty" in answer.json["message"]) == (400, True)


SETS = {
    "sort": ["n"],
    "fields": ["n"],
    "household": "home",
    "duplex": True,
    "hold": {"conditions": [{"value": "set.sheets", "above": 2}, {"value": "n", "one_of": [6]}]},
}
# Two sets of household a stand on both sides of one of three sheets, which is held.
OF_SETS = [
    {"n": 1, "home": "a"},
    {"n": 2, "home": "b", "extra": ["x"] * 4},
    {"n": 3, "home": "b"},
    {"n": 4, "home": "a"},
    {"n": 5, "home": "a"},
    {"n": 6},
]


def test_a_condition_on_sets_holds_all_their_documents_and_joins_no_others(
    caller, begin, slices, settings
):
    batch_id = begin(SETS, OF_SETS)
    slices.work_once()
    rendered = account_of(caller, batch_id)
    assert (rendered["open"], rendered["held"]) == (5, 1)
    task = slices.take()
    with killed_in(assembly, "record_held"):
        slices.run(task)
    assert account_of(caller, batch_id) == rendered
    SliceWorker(settings).run(task)
    ended = account_of(caller, batch_id)
    assert (ended["delivered"], ended["held"], ended["open"], ended["sheets"]) == (3, 3, 0, 3)
    assert rows(caller, batch_id)["3"] == ("held", "", "condition:set.sheets")
    first = caller.get(f"/v2/batches/{batch_id}/index").text.splitlines()[1:4]
    assert [row.split(",")[10] for row in first] == ["1", "2", "2"]
    decide(caller, batch_id, "reject", documents=[2])
    decide(caller, batch_id, "release", reason="condition:set.sheets")
    slices.work_off()
    ended = account_of(caller, batch_id)
    assert (ended["delivered"], ended["held"], ended["rejected"]) == (4, 1, 1)
    assert [title for title, _ in titles(caller, batch_id, 1)] == ["1", "4", "5"]
    assert [title for title, _ in titles(caller, batch_id, 2)] == ["2"]
    found = caller.get(f"/v2/batches/{batch_id}/index").text.splitlines()
    assert [row.split(",")[10] for row in found[1:5]] == ["1", "2", "2", "3"]


@pytest.mark.parametrize("is_released_before", [True, False])
def test_a_set_that_is_held_stays_held_when_the_proof_is_released(
    caller, begin, slices, is_released_before
):
    plan = SETS | {"hold": {"conditions": SETS["hold"]["conditions"][:1], "proof": 1}}
    batch_id = begin(plan, OF_SETS)
    if is_released_before:
        decide(caller, batch_id, "release", reason="proof")
    slices.work_off()
    if not is_released_before:
        account = account_of(caller, batch_id)
        assert (account["delivered"], account["held"]) == (0, 6)
        decide(caller, batch_id, "release", reason="proof")
        slices.work_off()
    account = account_of(caller, batch_id)
    assert (account["delivered"], account["held"]) == (4, 2)
    decide(caller, batch_id, "release")
    slices.work_off()
    assert account_of(caller, batch_id)["delivered"] == 6
