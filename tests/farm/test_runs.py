"""Runs: the documents of a batch in the order of its plan, in files that an account adds up."""

from __future__ import annotations

import csv
import json
from datetime import timedelta
from hashlib import sha256
from io import StringIO
from threading import Thread
from xml.etree import ElementTree

import pytest
from sqlalchemy import func, select, update

from shared.batches import plan_checks, plans
from shared.batches.stored_plans import delete_plan
from shared.clock import now
from shared.db.tables import batch_files, batch_items, batches, webhook_deliveries
from shared.encryption import SecretCipher, new_key
from shared.outbound import Outbound
from shared.webhooks import repository as webhooks
from tests.batches import SliceWorker, accept, ndjson, send, store_template
from tests.farm.runs import accept_run, account_of, index_of, killed_in, read_pages, store, titles
from workers.batches import assembly
from workers.maintenance.recorded_work import expire_batches
from workers.webhooks.files import FileSender

LETTERS = [
    {"n": 1, "to": {"zip": "8004", "country": "CH"}},
    {"n": 2, "to": {"zip": "10115", "country": "DE"}, "extra": ["a", "b"]},
    {"n": 3, "to": {"zip": "3011", "country": "CH"}, "extra": ["a", "b", "c"]},
    {"n": "x", "to": {"zip": "1000", "country": "CH"}},
    {"n": 5, "to": {"country": "DE"}},
    {"n": 6, "to": {"zip": "8004", "country": "CH"}},
]
PLAN = {
    "sort": ["to.zip"],
    "split": {"value": "to.country", "sheets": 3},
    "duplex": True,
    "fields": ["to.zip", "n"],
}


def test_documents_are_sorted_split_and_begin_on_fronts(caller, run):
    batch_id = run()
    # 3011 has three pages, so two sheets; the second 8004 does not fit beside the first any more.
    assert titles(caller, batch_id, 1) == [("3", 1), ("1", 5)]
    assert titles(caller, batch_id, 2) == [("6", 1)]
    assert titles(caller, batch_id, 3) == [("2", 1), ("5", 3)]
    account = account_of(caller, batch_id)
    assert (account["delivered"], account["failed"], account["sheets"]) == (5, 1, 6)
    shown = [(each["value"], each["documents"], each["sheets"]) for each in account["files"]]
    assert shown == [("CH", 2, 3), ("CH", 1, 1), ("DE", 2, 2)]
    assert sum(each["pages"] for each in account["files"]) == account["pages"] == 12
    for each in account["files"]:
        found = caller.get(f"/v2/batches/{batch_id}/files/{each['number']}").data
        assert (sha256(found).hexdigest(), len(found)) == (each["sha256"], each["bytes"])
    record = caller.get(f"/v2/batches/{batch_id}").json
    assert (record["plan"], record["pages"]) == ("letters@1", 8)  # blank pages are not metered


def test_the_index_has_a_row_for_each_document(caller, run):
    batch_id = run()
    answer = caller.get(f"/v2/batches/{batch_id}/index")
    assert answer.headers["Content-Type"] == "text/csv; charset=utf-8"
    rows = list(csv.DictReader(StringIO(answer.text)))
    places = [(row["n"], row["file"], row["first_page"], row["first_sheet"]) for row in rows]
    assert places[:5] == [
        ("3", "1", "1", "1"), ("1", "1", "5", "3"), ("6", "2", "1", "1"), ("2", "3", "1", "1"), ("5", "3", "3", "2"),
    ]  # fmt: skip
    assert [row["to.zip"] for row in rows[:5]] == ["3011", "8004", "8004", "10115", ""]
    assert (rows[5]["status"], rows[5]["index"], rows[5]["file"]) == ("failed", "3", "")
    assert rows[5]["error"]


def test_a_field_of_the_name_of_a_column_of_the_index_has_a_column_of_its_own(caller, run):
    letters = [{"n": 1, "to": {}, "status": "paid"}]
    batch_id = run({"index": "csv", "fields": ["n", "status"]}, letters)
    [row] = csv.DictReader(StringIO(caller.get(f"/v2/batches/{batch_id}/index").text))
    assert (row["status"], row["fields.status"], row["n"]) == ("delivered", "paid", "1")


def test_marks_of_a_plan_are_read_back_from_fronts_with_their_place_in_the_run(caller, run):
    marks = {
        "type": "datamatrix",
        "left": 3,
        "top": 3,
        "format": "{job}{set:06}{sheet:02}{count:02}",
    }
    batch_id = run(PLAN | {"marks": marks | {"job": "N1", "clear": 1}})
    read = [codes for number in (1, 2, 3) for codes in read_pages(caller, batch_id, number)]
    fronts = [["N10000010102"], ["N10000010202"]]
    fronts += [[f"N100000{at}0101"] for at in (2, 3)]
    assert read[::2][:4] == fronts
    assert read[1::2] == [[]] * 6


@pytest.fixture
def begin(caller, numbered):
    """Return a function that accepts a run and returns the batch's id."""

    def begin(plan=PLAN, documents=LETTERS, **options):
        return accept_run(caller, numbered, plan, documents, **options)

    return begin


def read_codes(caller, batch_id, name):
    codes = read_pages(caller, batch_id, name)
    assert codes[1::2] == [[]] * (len(codes) // 2)
    return [code for found in codes[::2] for code in found]


HOUSEHOLDS = [
    {"n": 1, "zip": "1000", "home": "a", "extra": ["a", "b", "c"]},
    {"n": 2, "zip": "2000", "home": "b"},
    {"n": 3, "zip": "1000", "home": "a"},
    {"n": 4, "zip": "3000", "home": "b"},
    {"n": 5, "zip": "2000", "home": "b"},
    {"n": 6, "zip": "2500"},
    {"n": 7, "zip": "2500"},
    {"n": 8, "zip": "2600", "home": ""},
    {"n": 9, "zip": "2600", "home": ""},
]


def test_documents_of_a_household_are_one_set_that_is_not_divided(caller, run):
    plan = {
        "sort": ["zip"],
        "split": {"sheets": 4},
        "household": "home",
        "duplex": True,
        "fields": ["n"],
        "marks": {"type": "datamatrix", "left": 3, "top": 3, "clear": 1},
    }
    batch_id = run(plan, HOUSEHOLDS)
    read = [read_codes(caller, batch_id, number) for number in (1, 2, 3)]
    # The second household does not fit beside the first; number 4 is of its key but stands apart.
    assert read == [
        ["0000010103", "0000010203", "0000010303"],
        ["0000020102", "0000020202", "0000030101", "0000040101"],
        ["0000050101", "0000060101", "0000070101"],
    ]
    rows = index_of(caller, batch_id)
    assert [(row["n"], row["set"], row["first_sheet"], row["sheets"]) for row in rows] == [
        ("1", "1", "1", "2"), ("3", "1", "3", "1"), ("2", "2", "1", "1"), ("5", "2", "2", "1"),
        ("6", "3", "3", "1"), ("7", "4", "4", "1"), ("8", "5", "1", "1"), ("9", "6", "2", "1"),
        ("4", "7", "3", "1"),
    ]  # fmt: skip
    account = account_of(caller, batch_id)
    assert [each["sheets"] for each in account["files"]] == [3, 4, 3]
    assert (account["delivered"], account["sheets"]) == (9, 10)


def test_documents_of_a_household_are_apart_where_values_or_keys_may_differ():
    plan = plans.Plan(split=plans.Split(value="v", documents=2), household="h", sort=("h",))
    values = [("x", 1), ("x", 1), ("x", 1), ("x", 2), ("y" * 200, 3), ("y" * 200, 3)]
    documents = [plans.RunDocument(at, 1, {"h": h, "v": v}) for at, (h, v) in enumerate(values)]
    files = plans.arrange(plan, documents)
    # A household of more documents than a file may have is a file.
    assert [len(file.documents) for file in files] == [3, 1, 2]
    assert [len(file.sets) for file in files] == [1, 1, 2]


POSTAGE = {
    "inserts": [
        {"feeder": 4, "grams": 8.5, "conditions": [{"value": "n", "above": 8}]},
        {"feeder": 1, "grams": 0.2},
        {
            "feeder": 2,
            "grams": 3,
            "conditions": [{"value": "home", "one_of": ["b"]}, {"value": "n", "one_of": [6]}],
        },
    ],
    "weight": {
        "sheet": 4.6,
        "envelope": 0.4,
        "classes": [{"name": "standard", "up_to": 10}, {"name": "compact", "up_to": 14}],
    },
}


def test_inserts_decide_weight_and_class_and_are_read_back_from_marks(caller, run, slices):
    marks = {"type": "datamatrix", "left": 3, "top": 3, "clear": 1, "format": "{set:03}{inserts}"}
    plan = POSTAGE | {
        "sort": ["-set.weight", "zip"],
        "split": {"value": "set.class", "weight": 15},
        "household": "home",
        "fields": ["n"],
        "duplex": True,
        "marks": marks,
    }
    batch_id = run(plan, [*HOUSEHOLDS, {"n": "x"}])
    rows = index_of(caller, batch_id)
    columns = ("n", "file", "set", "weight", "class", "inserts")
    assert [",".join(row[name] for name in columns) for row in rows[:9]] == [
        "9,1,1,13.7,compact,1 4",
        "2,2,2,12.8,compact,1 2",
        "5,2,2,12.8,compact,1 2",
        "6,3,3,8.2,standard,1 2",
        "4,4,4,8.2,standard,1 2",
        "7,4,5,5.2,standard,1",
        "8,5,6,5.2,standard,1",
        "1,6,7,14.4,,1",  # too heavy for a class
        "3,6,7,14.4,,1",
    ]
    assert (rows[9]["status"], rows[9]["weight"]) == ("failed", "")
    read = [read_codes(caller, batch_id, number) for number in range(1, 7)]
    assert read == [
        ["0011001"],
        ["0021100"] * 2,
        ["0031100"],
        ["0041100", "0051000"],
        ["0061000"],
        ["0071000"] * 3,
    ]
    account = account_of(caller, batch_id)
    assert (account["delivered"], account["failed"], account["sheets"]) == (9, 1, 10)
    assert [each["sheets"] for each in account["files"]] == [1, 2, 1, 2, 1, 3]
    classes = [each.get("value") for each in account["files"]]
    assert classes == ["compact"] * 2 + ["standard"] * 3 + [None]
    again = {"unit": "sets", "first": 1, "last": 2}
    assert caller.post(f"/v2/batches/{batch_id}/reprint", json=again).status_code == 202
    slices.work_off()
    assert read_codes(caller, batch_id, "reprint-1") == ["0011001"] + ["0021100"] * 2


def test_sets_of_one_household_stay_apart_when_they_are_sorted_by_weight():
    plan = plans.Plan(household="h", sort=("zip", "set.weight"), weight=plans.Weight(sheet=5))
    values = [{"h": "a", "zip": 1}, {"h": "b", "zip": 2}, {"h": "a", "zip": 3}]
    pages = (2, 11, 2)
    documents = [plans.RunDocument(at, pages[at], each) for at, each in enumerate(values)]
    [file] = plans.arrange(plan, documents)
    assert [one.documents[0].index for one in file.sets] == [0, 1, 2]
    [file] = plans.arrange(plan.replace(sort=("set.weight", "-zip")), documents)
    assert [[each.index for each in one.documents] for one in file.sets] == [[2], [0], [1]]


@pytest.mark.parametrize(
    ("sheet", "pages", "expected"),
    [(5, 4, "light"), (5, 5, "middle"), (0.1, 200, "light"), (0.1, 201, "middle"), (50, 9, None)],
)
def test_the_class_is_the_first_that_a_set_is_not_too_heavy_for(sheet, pages, expected):
    classes = (plans.PostageClass("light", 20.3), plans.PostageClass("middle", 50))
    weight = plans.Weight(sheet, envelope=0.3, classes=classes)
    [file] = plans.arrange(plans.Plan(weight=weight), [plans.RunDocument(0, pages, {})])
    assert file.sets[0].find_value("set.class") == expected


LETTERHEAD = """<document title="Number {{ n }}"><data><json>{"more": []}</json><field name="n" type="integer"/></data>
<page/><page on="first" media="letterhead"/><flow><p>First</p>
<p for="line in more" break-before="page">{{ line }}</p></flow></document>"""


def test_sheets_weigh_by_the_medium_of_their_fronts(caller, slices):
    weight = {"sheet": 5, "envelope": 1, "paper": {"letterhead": 5.625, "slip": 4}}
    plan = {"duplex": True, "household": "home", "weight": weight, "fields": ["n"]}
    store(caller, plan)
    template = store_template(caller, LETTERHEAD)
    letters = ndjson(
        {"n": n, "more": ["a"] * more, "home": home}
        for n, more, home in ((1, 0, "b"), (2, 2, "c"), (3, 3, "a"), (4, 1, "a"))
    )
    batch_id = accept(caller, template, letters, output="merged", query="&plan=letters")
    slices.work_off()
    rows = index_of(caller, batch_id)
    # Of one sheet, of two, and of three sheets with two letterheads.
    assert [row["weight"] for row in rows] == ["6.625", "11.625", "17.25", "17.25"]


def test_sets_that_are_by_hand_have_files_of_their_own_at_the_end():
    by_hand = (plans.Condition("set.sheets", above=2), plans.Condition("frail", one_of=(True,)))
    split = plans.Split(value="to", by_hand=by_hand, documents=2)
    plan = plans.Plan(split=split, household="h", sort=("set.sheets",))
    assert plan.paths == ["to", "h", "frail"]
    values = [
        (3, {"to": "CH"}),
        (2, {"to": "DE"}),
        (1, {"to": "DE", "h": 1}),
        (1, {"to": "DE", "h": 1, "frail": True}),
        (1, {"to": "CH"}),
    ]
    documents = [plans.RunDocument(at, *each) for at, each in enumerate(values)]
    files = plans.arrange(plan, documents)
    found = [(file.value, [each.index for each in file.documents]) for file in files]
    assert found == [("CH", [4]), ("DE", [1]), ("by hand", [0]), ("by hand", [2, 3])]


@pytest.mark.parametrize(
    ("value", "is_held"),
    [
        (10_001, True), (10_000.5, True), ("10001", True), (" 10000.01 ", True), ("1" * 25, True),
        (10_000, False), ("9999.99", False), ("-10001", False), ("10001 EUR", False), (True, False),
        ("7", True), (7, True), (None, False), (1e30, True), ("nan", False),
    ],
)  # fmt: skip
def test_conditions_take_numbers_in_texts_as_cells_of_csv_are(value, is_held):
    conditions = plans.Condition("total", above=10_000), plans.Condition("total", one_of=(7,))
    assert any(each.holds(value) for each in conditions) is is_held


def test_a_document_of_a_csv_is_held_by_an_amount_above_or_unreadable(caller, slices):
    store(caller, {"hold": {"conditions": [{"value": "n", "above": 2}]}})
    template = store_template(caller, "<document><flow><p>{{ n }}</p></flow></document>")
    options = {"output": "merged", "query": "&plan=letters", "content_type": "text/csv"}
    batch_id = accept(caller, template, b'n\n1\n2\n30\n"1.234,56"\n', **options)
    slices.work_off()
    account = caller.get(f"/v2/batches/{batch_id}/account").json
    assert (account["held"], account["delivered"]) == (2, 2)


def test_names_of_sets_are_paths_of_the_payload_without_weights_and_inserts():
    plan = plans.Plan(sort=("set.weight",))
    assert plan.paths == ["set.weight"]
    assert plan.replace(weight=plans.Weight(5)).paths == []
    documents = [plans.RunDocument(at, at + 1, {"set.weight": 9 - at}) for at in range(2)]
    [file] = plans.arrange(plan, documents)
    assert [each.index for each in file.documents] == [1, 0]
    [file] = plans.arrange(plan.replace(weight=plans.Weight(5)), documents)
    assert [each.index for each in file.documents] == [0, 1]


def test_an_index_of_json_lines_and_a_falling_order(caller, run):
    plan = {"sort": ["-n"], "index": "ndjson", "fields": ["to.country"]}
    batch_id = run(plan, [each for each in LETTERS if each["n"] != "x"])
    rows = [
        json.loads(line) for line in caller.get(f"/v2/batches/{batch_id}/index").text.splitlines()
    ]
    assert [row["index"] for row in rows] == [4, 3, 2, 1, 0]
    assert rows[0]["fields"] == {"to.country": "CH"}
    assert [title for title, _ in titles(caller, batch_id, 1)] == ["6", "5", "3", "2", "1"]


def test_an_index_of_xml_has_the_columns_as_attributes_and_what_xml_has_no_place_for_is_left_out(
    caller, run
):
    plan = {"sort": ["n"], "index": "xml", "fields": ["to.country", "note", "none"]}
    letters = [
        {"n": 2, "to": {"country": "CH"}, "note": 'a < "b" & \x01ç\n'},
        {"n": 1, "to": {"country": "D"}, "note": 7.5},
    ]
    answer = caller.get(f"/v2/batches/{(batch_id := run(plan, letters))}/index")
    assert answer.headers["Content-Type"] == "application/xml"
    root = ElementTree.fromstring(answer.data)
    assert (root.tag, root.attrib) == ("index", {"batch": batch_id})
    assert [(row.get("index"), row.get("status"), row.get("first_page")) for row in root] == [
        ("1", "delivered", "1"),
        ("0", "delivered", "2"),
    ]
    assert [[(each.get("path"), each.text) for each in row] for row in root] == [
        [("to.country", "D"), ("note", "7.5")],
        [("to.country", "CH"), ("note", 'a < "b" & ç\n')],
    ]


def test_documents_of_many_slices_are_each_in_one_file_once(caller, run, monkeypatch):
    monkeypatch.setattr("workers.batches.slices.SLICE_SECONDS", 0)  # a part for each document
    documents = [{"n": number, "k": number * 37 % 40} for number in range(40)]
    batch_id = run({"sort": ["k"], "split": {"documents": 15}}, documents)
    found = [title for number in (1, 2, 3) for title, _ in titles(caller, batch_id, number)]
    assert found == [str(each["n"]) for each in sorted(documents, key=lambda each: each["k"])]
    assert account_of(caller, batch_id)["delivered"] == 40


def test_the_account_adds_up_before_and_after_a_kill(caller, numbered, slices, settings):
    store(caller, PLAN)
    body = ndjson(LETTERS)
    batch_id = accept(caller, numbered, body, output="merged", query="&plan=letters")
    assert account_of(caller, batch_id)["open"] == 6
    slices.work_once()
    rendered = account_of(caller, batch_id)
    assert (rendered["open"], rendered["failed"], rendered["delivered"]) == (5, 1, 0)
    task = slices.take()
    with killed_in(assembly, "add_files"):
        slices.run(task)
    assert account_of(caller, batch_id)["open"] == 5
    assert caller.get(f"/v2/batches/{batch_id}/files/1").status_code == 409
    SliceWorker(settings).run(task)
    assert account_of(caller, batch_id)["delivered"] == 5
    assert titles(caller, batch_id, 2) == [("6", 1)]


def test_the_index_of_a_run_is_delivered_after_its_files(caller, run, ports, database):
    made = caller.post("/v2/destinations", json={"url": "https://93.184.216.34/in"}).json["id"]
    batch_id = run(query=f"&plan=letters&deliver={made}")
    sender = FileSender(database, ports.blobs, Outbound(), SecretCipher([new_key()]), "")
    for _ in range(2):  # the files are put in the outbox, then the index waits for them
        with database.session() as session:
            at = now() + timedelta(seconds=9)
            due = webhooks.lease_due(session, at=at, until=at, limit=9)
        [index] = [each for each in due if each.name == f"{batch_id}.csv"]
        assert sender.send(index, "") is None
    found = caller.get("/v2/deliveries?status=pending").json["deliveries"]
    names = {f"{batch_id}-{number}.pdf" for number in (1, 2, 3)} | {f"{batch_id}.csv"}
    assert {each["name"] for each in found} == names
    assert caller.get("/v2/deliveries?status=delivered").json["deliveries"] == []
    account = account_of(caller, batch_id)["deliveries"]
    assert account == {"pending": 4, "delivered": 0, "undelivered": 0}
    with database.session() as session:
        for status, number in (("failed", 1), ("delivered", 2)):
            named = webhook_deliveries.c.name == f"{batch_id}-{number}.pdf"
            session.execute(update(webhook_deliveries).where(named).values(status=status))
    account = account_of(caller, batch_id)["deliveries"]
    assert account == {"pending": 2, "delivered": 1, "undelivered": 1}


def test_a_cancelled_run_delivers_nothing(caller, numbered, slices):
    store(caller, PLAN)
    batch_id = accept(caller, numbered, ndjson(LETTERS), output="merged", query="&plan=letters")
    slices.work_once()
    caller.delete(f"/v2/batches/{batch_id}")
    account = account_of(caller, batch_id)
    assert (account["cancelled"], account["failed"], account["files"]) == (5, 1, [])
    assert caller.get(f"/v2/batches/{batch_id}/files/1").status_code == 409


def test_a_deleted_run_leaves_neither_files_nor_rows(caller, run, slices, database):
    batch_id = run()
    assert caller.delete(f"/v2/batches/{batch_id}").status_code == 204
    expire_batches(slices.batch_context.flow)
    with database.snapshot() as session:
        for table in (batch_files, batch_items, batches):
            assert session.scalar(select(func.count()).select_from(table)) == 0
    assert list(slices.batch_context.blobs.list_keys(f"batches/{batch_id}/")) == []


def test_too_many_files_are_refused_by_name(caller, run, monkeypatch):
    monkeypatch.setattr(plans, "MAX_FILES", 2)
    batch_id = run({"split": {"documents": 1}})
    record = caller.get(f"/v2/batches/{batch_id}").json
    assert "more than 2 files" in record["error"]["message"]
    assert account_of(caller, batch_id)["failed"] == 6
    assert "more than 2 files" in caller.get(f"/v2/batches/{batch_id}/files/1").json["message"]


def test_more_documents_than_its_files_may_have_are_no_run(caller, numbered, ports, monkeypatch):
    monkeypatch.setattr(plan_checks, "MAX_FILES", 2)
    store(caller, {"split": {"documents": 2}})
    path = f"/v2/batches?template={numbered}&output=merged&plan=letters"
    sent = {"content_type": "application/x-ndjson"}
    refused = caller.post(path, data=ndjson([{"n": n} for n in range(5)]), **sent)
    assert refused.status_code == 400
    assert "split.documents 2 makes more than 2 files of the 5 documents" in refused.json["message"]
    assert list(ports.blobs.list_keys("batches/")) == []
    assert caller.post(path, data=ndjson([{"n": n} for n in range(4)]), **sent).status_code == 202


def test_a_run_keeps_the_plan_that_it_was_accepted_with(caller, numbered, slices):
    store(caller, {"sort": ["n"]})
    query = "&plan=letters"
    documents = ndjson([{"n": 2}, {"n": 1}])
    batch_id = accept(caller, numbered, documents, output="merged", query=query)
    assert store(caller, {"sort": ["-n"]})["version"] == 2
    caller.delete("/v2/plans/letters")
    slices.work_off()
    assert [title for title, _ in titles(caller, batch_id, 1)] == ["1", "2"]


def test_plans_are_stored_in_versions_listed_and_deleted(caller):
    first = store(caller, PLAN)
    assert (first["name"], first["version"], first["plan"]) == ("letters", 1, PLAN)
    assert store(caller, PLAN) == first
    assert store(caller, {"sort": ["n"]})["version"] == 2
    store(caller, {}, "as-sent")
    listed = caller.get("/v2/plans").json["plans"]
    assert [(each["name"], each["version"]) for each in listed] == [("as-sent", 1), ("letters", 2)]
    assert caller.get("/v2/plans/letters?version=1").json == first
    assert caller.get("/v2/plans/letters").json["version"] == 2
    assert caller.delete("/v2/plans/letters").status_code == 204
    assert caller.delete("/v2/plans/letters").status_code == 404
    assert caller.get("/v2/plans/letters").status_code == 404


def test_a_tag_names_a_version_and_moves_for_later_batches(caller, numbered, slices):
    store(caller, {"sort": ["n"]})
    store(caller, {"sort": ["-n"]})
    path = "/v2/plans/letters/tags/released"
    tagged = caller.put(path, json={"version": 1})
    assert (tagged.status_code, tagged.json) == (200, {"tag": "released", "version": 1})
    documents, how = ndjson([{"n": 2}, {"n": 1}]), {"query": "&plan=letters@released"}
    first = accept(caller, numbered, documents, output="merged", **how)
    assert caller.put(path, json={"version": 2}).status_code == 200
    second = accept(caller, numbered, documents, output="merged", **how)
    slices.work_off()
    for batch_id, plan, order in ((first, "letters@1", "12"), (second, "letters@2", "21")):
        assert caller.get(f"/v2/batches/{batch_id}").json["plan"] == plan
        assert [title for title, _ in titles(caller, batch_id, 1)] == [*order]
    for query in ("", "?version=1"):
        shown = caller.get(f"/v2/plans/letters{query}").json["tags"]
        assert shown == [{"tag": "released", "version": 2}]
    assert caller.get("/v2/plans/letters?version=released").status_code == 400
    assert caller.delete(path).status_code == 204
    assert caller.delete(path).status_code == 404
    assert "tags" not in caller.get("/v2/plans/letters").json


@pytest.mark.services
@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_a_plan_that_is_deleted_meanwhile_gets_no_tag(caller, database, account):
    store(caller, {})
    answers = []

    def tag():
        answers.append(caller.put("/v2/plans/letters/tags/released", json={"version": 1}))

    with database.session() as session:
        delete_plan(session, account.account_id, "letters")
        tagger = Thread(target=tag)
        tagger.start()
        tagger.join(0.5)
        assert tagger.is_alive()  # it waits for the deletion
    tagger.join(60)
    assert [each.status_code for each in answers] == [404]


@pytest.mark.parametrize(
    ("path", "body", "status", "told"),
    [
        ("letters/tags/released", {"version": 2}, 404, "letters@2"),
        ("missing/tags/released", {"version": 1}, 404, "missing@1"),
        ("letters/tags/latest", {"version": 1}, 400, "reserved"),
        ("letters/tags/7", {"version": 1}, 400, "all digits"),
        ("letters/tags/Released", {"version": 1}, 400, "lowercase"),
        ("letters/tags/released", {}, 400, "required field `version`"),
        ("letters/tags/released", {"version": 1, "guarded": True}, 400, "guarded"),
    ],
)
def test_a_wrong_tag_of_a_plan_is_refused(caller, path, body, status, told):
    store(caller, {})
    answer = caller.put(f"/v2/plans/{path}", json=body)
    assert (answer.status_code, told in answer.json["message"]) == (status, True), answer.json


def test_a_plan_has_a_hundred_tags_which_are_deleted_with_it(caller):
    store(caller, {})
    tag = "/v2/plans/letters/tags/t-{}".format
    for number in range(100):
        assert caller.put(tag(number), json={"version": 1}).status_code == 200
    assert caller.put(tag(100), json={"version": 1}).status_code == 409
    assert caller.put(tag(99), json={"version": 1}).status_code == 200
    assert caller.delete("/v2/plans/letters").status_code == 204
    store(caller, {})
    assert "tags" not in caller.get("/v2/plans/letters").json


@pytest.mark.parametrize(
    ("plan", "told"),
    [
        ({"weight": {}}, "Invalid plan: missing required field `sheet` - at `$.weight`."),
        ({"sort": ["a..b"]}, r"regex '^-?[^.\x00-\x1f]{1,100}"),
        ({"pages": 1}, "pages"),
        ({"split": {"by_hand": [{"value": "n"}]}}, "split.by_hand on n has no one_of"),
        ({"weight": {"sheet": 5, "paper": {"card": 9}}}, "unknown field `card`"),
        ({"marks": {"type": "qr", "left": 3, "top": 3}}, "marks.type"),
        ({"marks": {"type": "omr", "left": 3}}, "top"),
        ({"marks": {"type": "omr", "left": 3, "top": 3, "width": 1}}, "marks.width"),
        ({"marks": {"type": "omr", "left": 3, "top": 3, "format": "{page}"}}, "marks.format"),
        (
            {"marks": {"type": "code128", "left": 3, "top": 3, "format": "{set:09}" * 9}},
            "81 characters",
        ),
        (
            {"marks": {"type": "itf", "left": 3, "top": 3, "format": "{set:05}"}},
            "an even number of digits",
        ),
        ({"hold": {"warnings": ["Any"]}}, "hold.warnings"),
        ({"hold": {"proof": 0}}, "hold.proof"),
        ({"hold": {"conditions": [{"value": "n"}]}}, "on n has no one_of"),
        ({"hold": {"conditions": [{"value": "n", "equals": 1}]}}, "equals"),
        ({"hold": {"sample": 3}}, "sample"),
        ({"bundle": {"documents": 5}}, "cover"),
        ({"bundle": {"cover": "a b"}}, "bundle.cover"),
        (
            {"bundle": {"cover": "tray", "sheets": 5, "documents": 5}},
            "bundle take documents, sheets",
        ),
        ({"bundle": {"cover": "tray", "weight": 5}}, "bundle by weight need weight"),
        ({"sort": ["to..zip"]}, "sort"),
        ({"sort": "zip"}, "sort"),
        ({"split": {"documents": 0}}, "split.documents"),
        ({"split": {"documents": 5, "sheets": 5}}, "documents, sheets, weight or bytes"),
        ({"split": {"weight": 5}}, "split and bundle by weight need weight"),
        ({"inserts": [{"feeder": 5}]}, "inserts[0].feeder"),
        ({"inserts": [{"feeder": 1}, {"feeder": 1}]}, "two inserts have one feeder"),
        ({"inserts": [{"feeder": 1}] * 5}, "inserts"),
        ({"inserts": [{"feeder": 1, "grams": -1}]}, "inserts[0].grams"),
        ({"inserts": [{"feeder": 1, "conditions": [{"value": "a"}]}]}, "of inserts on a has no"),
        (
            {
                "inserts": [{"feeder": 1}],
                "marks": {"type": "omr", "left": 3, "top": 3, "inserts": "2"},
            },
            "not both",
        ),
        ({"weight": {"envelope": 5}}, "sheet"),
        ({"weight": {"sheet": 1e9}}, "weight.sheet"),
        ({"weight": {"sheet": 5, "classes": [{"name": "a", "up_to": 9}] * 2}}, "rises"),
        (
            {"weight": {"sheet": 5, "classes": [{"name": "a", "up_to": n} for n in range(51)]}},
            "classes",
        ),
        ({"split": {"pages": 5}}, "pages"),
        ({"household": "-home"}, "household"),
        ({"household": "home\n"}, "at `$.household`"),
        ({"sort": ["-to.zip\n"]}, "at `$.sort[...]`"),
        ({"split": {"by_hand": [{"value": "n\n", "missing": True}]}}, "by_hand[...].value`"),
        ({"marks": {"type": "omr", "left": 3, "top": 3, "inserts": "2\n"}}, "marks.inserts`"),
        ({"index": "html"}, "index"),
        ({"fields": ["a"] * 21}, "fields"),
        ({"sorted": []}, "sorted"),
    ],
)
def test_a_wrong_plan_is_refused_with_its_member(caller, plan, told):
    answer = caller.put("/v2/plans/letters", json=plan)
    assert answer.status_code == 400
    assert told in answer.json["message"]


@pytest.mark.parametrize(
    ("query", "status", "told"),
    [
        ("&plan=none", 404, "'none' does not exist"),
        ("&plan=No", 400, "name@version"),
        ("&plan=letters@x", 404, "letters@x"),
        ("&plan=letters@X", 400, "a version"),
        ("&plan=letters@2", 404, "letters@2"),
    ],
)
def test_a_batch_with_an_unknown_plan_is_refused(caller, numbered, query, status, told):
    store(caller, PLAN)
    answer = send(caller, numbered, ndjson(LETTERS), output="merged", query=query)
    assert answer.status_code == status
    assert told in answer.json["message"]


def test_values_that_have_no_order_stand_last_and_long_ones_are_cut():
    plan = plans.Plan(sort=("a.b",), fields=("c",))
    payload = json.dumps({"a": {"b": [1]}, "c": "x" * 1000}).encode()
    assert plans.read_values(plan.paths, payload) == {"c": "x" * 200}
    assert plans.read_values(plan.paths, b'{"a":{"b":1' + b"0" * 30 + b"}}") == {
        "a.b": "1" + "0" * 30
    }
    assert plans.read_values(plan.paths, b'{"c":"\\ud800"}') == {}
    values = [None, "b", 10, "a", True, 2.5]
    documents = [
        plans.RunDocument(index, 1, {} if value is None else {"a.b": value})
        for index, value in enumerate(values)
    ]
    [file] = plans.arrange(plan, documents)
    assert [document.index for document in file.documents] == [4, 5, 2, 3, 1, 0]
    [file] = plans.arrange(plan.replace(sort=("-a.b",)), documents)
    assert [document.index for document in file.documents] == [1, 3, 2, 5, 4, 0]
