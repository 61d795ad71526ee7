"""Bundles of runs: where they are cut, and the cover that stands before the documents of each."""

from __future__ import annotations

import pypdfium2
import pytest

from shared.batches import plans
from shared.batches.plans import Bundle, Plan, RunDocument, arrange, find_bundles
from shared.clock import now
from shared.db.orphans import delete_orphaned_content
from shared.db.tables import contents
from tests.batches import SliceWorker, ndjson, store_template
from tests.farm.runs import (
    accept_run,
    account_of,
    decide,
    index_of,
    killed_in,
    read_contents,
    read_pages,
    store,
    titles,
)
from workers.batches import assembly
from workers.batches.writers import MergedPartWriter

COVER = """
<document title="Tray {{ bundle }} of {{ bundles }}">
  <data>
    <field name="bundle" type="integer" required="true"/>
    <field name="bundles" type="integer" required="true"/>
    <field name="weight" type="decimal"/>
  </data>
  <page size="A6"/>
  <flow>
    <p>file {{ file }} value {{ value }} sets {{ sets }} documents {{ documents }} sheets {{ sheets }}</p>
    <p>{{ first.to.zip }} to {{ last.to.zip }}</p>
    <p if="weight">{{ weight }} grams</p>
  </flow>
</document>
"""
# Of one page and two sheets by turns, in three regions.
LETTERS = [
    {"n": n, "to": {"zip": f"{n // 4}{n:03}"}, "region": n // 4, "extra": ["a", "b", "c"] * (n % 2)}
    for n in range(10)
]
PLAN = {"sort": ["-to.zip"], "split": {"documents": 6}, "duplex": True, "fields": ["n"]}


@pytest.fixture
def cover(caller) -> str:
    return store_template(caller, COVER)


@pytest.fixture
def begin(caller, numbered, slices):
    """Return a function that accepts a run and returns its id."""

    def begin(plan, documents=LETTERS, template=numbered):
        return accept_run(caller, template, plan, documents)

    return begin


def texts(caller, batch_id, name):
    pdf = caller.get(f"/v2/batches/{batch_id}/files/{name}").data
    return [page.get_textpage().get_text_bounded() for page in pypdfium2.PdfDocument(pdf)]


def test_a_cover_with_the_values_of_its_bundle_stands_before_its_documents(caller, run, cover):
    plan = PLAN | {"bundle": {"cover": cover, "value": "region", "documents": 3}}
    batch_id = run(plan | {"weight": {"sheet": 5, "envelope": 2}})
    assert titles(caller, batch_id, 1) == [
        ("Tray 1 of 3", 1), ("9", 3), ("8", 7), ("Tray 2 of 3", 9), ("7", 11), ("6", 15), ("5", 17),
        ("Tray 3 of 3", 21), ("4", 23),
    ]  # fmt: skip
    assert [title for title, _ in titles(caller, batch_id, 2)] == [
        "Tray 1 of 2", "3", "2", "1", "Tray 2 of 2", "0",
    ]  # fmt: skip
    shown = [page.split() for page in texts(caller, batch_id, 1)]
    assert " ".join(shown[8]) == (
        "file 1 value 1 sets 3 documents 3 sheets 5 1007 to 1005 31.0 grams"
    )
    assert shown[1] == shown[9] == []  # documents begin on fronts
    account = account_of(caller, batch_id)
    assert [(each["documents"], each["sheets"], each["covers"]) for each in account["files"]] == [
        (6, 9, 3),
        (4, 6, 2),
    ]
    assert [each["pages"] for each in account["files"]] == [18, 12]
    assert (account["pages"], account["sheets"], account["covers"]) == (30, 15, 5)


def test_covers_are_in_the_places_of_the_index_and_not_metered(caller, run, cover, slices):
    batch_id = run(PLAN | {"bundle": {"cover": cover, "documents": 4}})
    rows = {row["n"]: row for row in index_of(caller, batch_id)}
    for number in (1, 2):
        places = dict(titles(caller, batch_id, number))
        own = [row for row in rows.values() if row["file"] == str(number)]
        assert {row["n"]: int(row["first_page"]) for row in own}.items() <= places.items()
        assert all(int(row["first_page"]) == 2 * int(row["first_sheet"]) - 1 for row in own)
    bundles = {n: (row["file"], row["bundle"]) for n, row in rows.items()}
    assert (bundles["6"], bundles["5"], bundles["3"]) == (("1", "1"), ("1", "2"), ("2", "1"))
    assert len(slices.events()) == 10
    assert caller.get(f"/v2/batches/{batch_id}").json["pages"] == 20


def test_marks_count_documents_alone_and_are_on_no_cover(caller, run, cover):
    marks = {"type": "datamatrix", "left": 3, "top": 3, "clear": 1, "format": "{set:06}{sheet:02}"}
    batch_id = run(PLAN | {"marks": marks, "bundle": {"cover": cover, "documents": 3}})
    assert read_pages(caller, batch_id, 1)[:12:2] == [
        [], ["00000101"], ["00000102"], ["00000201"], ["00000301"], ["00000302"],
    ]  # fmt: skip


def test_a_reprint_takes_the_same_covers_with_the_documents_that_follow_them(
    caller, run, cover, slices
):
    batch_id = run(PLAN | {"bundle": {"cover": cover, "documents": 3}})
    before = read_contents(caller.get(f"/v2/batches/{batch_id}/files/1").data)
    changed = COVER.replace("sets", "other").encode()
    caller.put(f"/v2/templates/{cover}", data=changed, content_type="text/xml")
    # Sheet 1 is a cover, 2 and 3 are document 9, 4 is 8, 5 and 6 are 7, and 7 is the second cover.
    for number, sheet, expected in (
        (1, 2, ["Tray 1 of 2", "9"]),
        (2, 4, ["8"]),
        (3, 7, ["Tray 2 of 2", "6"]),
    ):
        decide(caller, batch_id, "reprint", 202, unit="sheets", file=1, first=sheet, last=sheet)
        slices.work_off()
        assert [title for title, _ in titles(caller, batch_id, f"reprint-{number}")] == expected
        own = caller.get(f"/v2/batches/{batch_id}/files/reprint-{number}").data
        assert all(page in before for page in read_contents(own))
        written = account_of(caller, batch_id)["reprints"][-1]
        assert (written["documents"], written["covers"]) == (1, len(expected) - 1)
    answer = caller.post(
        f"/v2/batches/{batch_id}/reprint",
        json={"unit": "sheets", "file": 1, "first": 1, "last": 99},
    )
    files = account_of(caller, batch_id)["files"]
    assert f"1 to {files[0]['sheets'] + files[0]['covers']}" in answer.json["message"]


def test_a_release_has_covers_of_its_own_after_the_template_changed(
    caller, run, cover, slices, database
):
    hold = {"conditions": [{"value": "n", "above": 7}]}
    batch_id = run(PLAN | {"hold": hold, "bundle": {"cover": cover}})
    with database.session() as session:
        digests = session.scalars(contents.select().with_only_columns(contents.c.sha256)).all()
    changed = COVER.replace("Tray", "Box").encode()
    caller.put(f"/v2/templates/{cover}", data=changed, content_type="text/xml")
    with database.session() as session:
        removed = [delete_orphaned_content(session, each, stored_before=now()) for each in digests]
        assert not any(removed)
    decide(caller, batch_id, "release")
    slices.work_off()
    assert titles(caller, batch_id, 3)[:2] == [("Tray 1 of 1", 1), ("9", 3)]
    assert account_of(caller, batch_id)["delivered"] == 10


def test_a_kill_between_leaves_no_cover_twice(caller, begin, cover, slices, settings):
    batch_id = begin(PLAN | {"bundle": {"cover": cover, "documents": 3}})
    slices.work_once()
    task = slices.take()
    with killed_in(assembly, "add_files"):
        slices.run(task)
    assert account_of(caller, batch_id)["covers"] == 0
    SliceWorker(settings).run(task)
    assert account_of(caller, batch_id)["covers"] == 4
    assert [title for title, _ in titles(caller, batch_id, 1)].count("Tray 1 of 2") == 1


def test_values_that_documents_have_not_are_empty_on_covers(caller, run, cover):
    documents = [{"n": 0, "to": "x"}, {"n": 1, "to": {"zip": "8004"}}, {"n": 2}]
    plan = {"sort": ["to.zip"], "fields": ["to", "n.part"], "bundle": {"cover": cover}}
    batch_id = run(plan, documents)
    [shown, *_] = texts(caller, batch_id, 1)
    assert " ".join(shown.split()) == "file 1 value sets 3 documents 3 sheets 3 8004 to"


def test_a_cover_that_failed_inside_the_service_is_rendered_again(
    caller, begin, cover, slices, monkeypatch
):
    batch_id = begin(PLAN | {"bundle": {"cover": cover}})
    slices.work_once()
    task = slices.take()
    with monkeypatch.context() as patch:

        def fail(*_, **__):
            raise RuntimeError

        patch.setattr(MergedPartWriter, "add", fail)
        slices.run(task)
    assert account_of(caller, batch_id)["open"] == 10
    slices.run(task)
    assert (account_of(caller, batch_id)["delivered"], titles(caller, batch_id, 1)[0]) == (
        10,
        ("Tray 1 of 1", 1),
    )


@pytest.mark.parametrize(
    ("template", "told"),
    [
        (COVER.replace('"bundle" type="integer"', '"absent"'), "The cover of bundle 1 of file 1: "),
        (
            COVER.replace("<flow>", '<flow><p for="n in [1, 2, 3, 4]" height="90mm">long</p>'),
            "It has 5 pages",
        ),
    ],
)
def test_a_run_with_a_wrong_cover_says_what_is_wrong(caller, run, template, told):
    batch_id = run(PLAN | {"bundle": {"cover": store_template(caller, template)}})
    record = caller.get(f"/v2/batches/{batch_id}").json
    assert record["status"] == "finished"
    assert told in record["error"]["message"]
    assert account_of(caller, batch_id)["failed"] == 10


def test_a_batch_without_the_template_of_its_covers_is_refused(caller, numbered):
    store(caller, {"bundle": {"cover": "absent"}})
    answer = caller.post(
        f"/v2/batches?template={numbered}&plan=letters",
        data=ndjson(LETTERS),
        content_type="application/x-ndjson",
    )
    assert answer.status_code == 404
    assert "absent" in answer.json["message"]


def test_bundles_are_of_files_and_as_many_as_may_be(monkeypatch):
    documents = [RunDocument(n, 1, {"region": n // 4}) for n in range(10)]
    plan = Plan(bundle=Bundle(cover="tray", value="region", sheets=3))
    [file] = arrange(plan, documents)
    sizes = [(bundle.value, len(bundle.documents)) for bundle in find_bundles(plan, file)]
    assert sizes == [(0, 3), (0, 1), (1, 3), (1, 1), (2, 2)]
    monkeypatch.setattr(plans, "MAX_COVERS", 4)
    with pytest.raises(plans.TooManyFilesError, match="more than 4 bundles"):
        arrange(plan, documents)
