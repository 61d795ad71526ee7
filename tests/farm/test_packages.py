"""Runs whose files are ZIPs: a PDF for each set, an index and digests; and archives of PDF/A."""

from __future__ import annotations

import csv
import zipfile
from datetime import timedelta
from hashlib import sha256
from io import BytesIO, StringIO

import pikepdf
import pypdfium2
import pytest
import zxingcpp

from shared.clock import now
from shared.encryption import SecretCipher, new_key
from shared.outbound import Outbound
from shared.webhooks.repository import lease_due
from tests.batches import TEMPLATE, SliceWorker, ndjson, send, store_template
from tests.engine.finish.archive_rules import find_violations
from tests.farm.runs import accept_run, account_of, decide, index_of, killed_in, store
from tests.farm.test_runs import HOUSEHOLDS, LETTERS
from workers.batches import assembly
from workers.webhooks.files import FileSender

PLAN = {
    "sort": ["to.zip"],
    "split": {"value": "to.country", "documents": 2},
    "fields": ["n"],
    "output": "zip",
}
DIGESTS = "manifest-sha256.txt"
ARCHIVED = TEMPLATE.replace("<document ", '<document lang="en" profile="pdf/a-3b" ')


@pytest.fixture
def begin(caller, numbered):
    """Return a function that accepts a run and returns its id."""

    def begin(plan=PLAN, documents=LETTERS, template=numbered, **options):
        return accept_run(caller, template, plan, documents, **{"output": "zip"} | options)

    return begin


def read_zip(caller, batch_id, number):
    """Return the files of a ZIP by name, whose digests are right."""
    answer = caller.get(f"/v2/batches/{batch_id}/files/{number}")
    assert answer.status_code == 200, answer.json
    assert answer.headers["Content-Type"] == "application/zip"
    assert ".zip" in answer.headers["Content-Disposition"]
    with zipfile.ZipFile(BytesIO(answer.data)) as archive:
        assert archive.testzip() is None
        files = {name: archive.read(name) for name in archive.namelist()}
    lines = [line.split("  ") for line in files.pop(DIGESTS).decode().splitlines()]
    assert {name: sha256(content).hexdigest() for name, content in files.items()} == {
        name: digest for digest, name in lines
    }
    return files


def read_codes(pdf):
    pages = [page.render(scale=3, grayscale=True).to_pil() for page in pypdfium2.PdfDocument(pdf)]
    return [[code.text for code in zxingcpp.read_barcodes(page)] for page in pages]


def test_a_file_of_a_run_is_a_zip_with_a_pdf_for_each_document(caller, run):
    batch_id = run(output="merged")  # the plan says zip
    files = [read_zip(caller, batch_id, number) for number in (1, 2, 3)]
    names = [["000002-doc-3.pdf", "000000-doc-1.pdf"], ["000005-doc-6.pdf"]]
    names += [["000001-doc-2.pdf", "000004-doc-5.pdf"]]
    assert [[*each] for each in files] == [[*each, "index.csv"] for each in names]
    for each in files:
        for name, pdf in each.items():
            if name.endswith(".pdf"):
                with pikepdf.open(BytesIO(pdf)) as opened:
                    assert not opened.check_pdf_syntax()
                    assert f"Number {name[11:-4]}" == str(opened.docinfo.Title)
    whole = index_of(caller, batch_id)
    assert [(row["file"], row["position"], row["first_page"], row["name"]) for row in whole] == [
        ("1", "1", "1", names[0][0]), ("1", "2", "1", names[0][1]), ("2", "1", "1", names[1][0]),
        ("3", "1", "1", names[2][0]), ("3", "2", "1", names[2][1]), ("", "", "", ""),
    ]  # fmt: skip
    own = [csv.DictReader(StringIO(each["index.csv"].decode())) for each in files]
    assert [row for rows in own for row in rows] == whole[:5]
    account = account_of(caller, batch_id)
    assert (account["delivered"], account["failed"], account["pages"]) == (5, 1, 8)
    assert [(each["documents"], each["sheets"]) for each in account["files"]] == [
        (2, 4), (1, 1), (2, 3),
    ]  # fmt: skip
    record = caller.get(f"/v2/batches/{batch_id}").json
    assert record["pages"] == account["pages"]


def test_a_merged_plan_makes_zips_for_a_batch_with_output_zip(caller, run, numbered):
    batch_id = run({"sort": ["-n"]}, [{"n": 1}, {"n": 2}])
    assert [*read_zip(caller, batch_id, 1)] == ["000001-doc-2.pdf", "000000-doc-1.pdf", "index.csv"]
    job = caller.get(f"/v2/batches/{batch_id}/items").json["items"][0]["job_id"]
    answer = caller.get(f"/v2/jobs/{job}/pdf")
    assert (answer.status_code, f"{batch_id}/files/1" in answer.json["message"]) == (409, True)
    for output, plan, told in (
        ("files", {}, "output=zip is"),
        ("zip", {"bundle": {"cover": "tray"}}, "bundle is of merged files"),
    ):
        store(caller, plan)
        answer = send(caller, numbered, ndjson([{}]), query="&plan=letters", output=output)
        assert (answer.status_code, told in answer.json["message"]) == (400, True), answer.json


def test_a_pdf_of_a_set_has_its_sheets_marks_and_blank_backs(caller, run, slices):
    plan = {
        "sort": ["zip"],
        "household": "home",
        "duplex": True,
        "split": {"sheets": 4},
        "marks": {"type": "datamatrix", "left": 3, "top": 3, "clear": 1},
    }
    batch_id = run(plan, HOUSEHOLDS)
    merged = [read_zip(caller, batch_id, number) for number in (1, 2, 3)]
    pdfs = [pdf for each in merged for name, pdf in each.items() if name.endswith(".pdf")]
    first, second, *others = [read_codes(pdf) for pdf in pdfs]
    assert first == [["0000010103"], [], ["0000010203"], [], ["0000010303"], []]
    assert second == [["0000020102"], [], ["0000020202"], []]
    assert others == [[[f"{number:06}0101"], []] for number in range(3, 8)]
    rows = index_of(caller, batch_id)
    assert [(row["set"], row["first_page"], row["first_sheet"]) for row in rows[:4]] == [
        ("1", "1", "1"), ("1", "5", "3"), ("2", "1", "1"), ("2", "3", "2"),
    ]  # fmt: skip
    account = account_of(caller, batch_id)
    assert [each["pages"] for each in account["files"]] == [6, 8, 6]
    decide(caller, batch_id, "reprint", 202, unit="sets", first=2, last=5)
    slices.work_off()
    again = read_zip(caller, batch_id, "reprint-1")
    assert [*again.values()] == pdfs[1:5]
    told = decide(caller, batch_id, "reprint", 400, unit="sets", first=2, last=5, copy=True)
    assert "copy marks merged files" in told["message"]


def test_held_documents_and_a_proof_leave_in_zips_of_their_own(caller, run, slices):
    held = {"conditions": [{"value": "n", "above": 5}], "proof": 3}
    batch_id = run(PLAN | {"hold": held, "split": {}})
    assert [*read_zip(caller, batch_id, "proof")] == [
        "000001-doc-2.pdf", "000002-doc-3.pdf", "000000-doc-1.pdf",
    ]  # fmt: skip
    assert account_of(caller, batch_id)["delivered"] == 0
    decide(caller, batch_id, "release", reason="proof")
    slices.work_off()
    before = read_zip(caller, batch_id, 1)
    decide(caller, batch_id, "release")
    slices.work_off()
    assert [*read_zip(caller, batch_id, 2)] == ["000005-doc-6.pdf", "index.csv"]
    assert read_zip(caller, batch_id, 1) == before
    account = account_of(caller, batch_id)
    assert (account["delivered"], account["held"], account["failed"]) == (5, 0, 1)
    assert [(row["file"], row["name"]) for row in index_of(caller, batch_id)][4] == (
        "2", "000005-doc-6.pdf",
    )  # fmt: skip


def test_an_archive_has_pdfs_that_each_claim_a_profile(caller, run):
    plan = {"output": "archive", "fields": ["n"]}
    batch_id = run(plan, [{"n": 1}, {"n": 2}], template=store_template(caller, ARCHIVED))
    files = read_zip(caller, batch_id, 1)
    assert [*files] == ["000000-doc-1.pdf", "000001-doc-2.pdf", "index.csv"]
    assert [find_violations(files[name], 3) for name in [*files][:2]] == [[], []]
    account = account_of(caller, run(plan, [{"n": 1}, {"n": 2}]))
    assert (account["delivered"], account["failed"], account["files"]) == (0, 2, [])


def test_an_archive_says_which_documents_and_plans_it_does_not_take(caller, run):
    [row] = index_of(caller, run({"output": "archive"}, [{"n": 1}]))
    assert "claims no profile of PDF/A" in row["error"]
    for member in ({"duplex": True}, {"household": "h"}, {"bundle": {"cover": "tray"}}):
        answer = caller.put("/v2/plans/letters", json={"output": "archive"} | member)
        assert (answer.status_code, "Invalid plan" in answer.json["message"]) == (400, True)


def test_zips_are_written_once_when_their_worker_is_killed(caller, begin, slices, settings):
    batch_id = begin()
    slices.work_once()
    task = slices.take()
    with killed_in(assembly, "add_files"):
        slices.run(task)
    assert account_of(caller, batch_id)["open"] == 5
    SliceWorker(settings).run(task)
    assert account_of(caller, batch_id)["delivered"] == 5
    names = [name for number in (1, 2, 3) for name in read_zip(caller, batch_id, number)]
    assert len({name for name in names if name.endswith(".pdf")}) == 5


def test_zips_are_split_by_the_bytes_of_their_pdfs(caller, run):
    documents = [{"n": n, "zip": str(n)} for n in range(20)]
    for more in ({}, {"duplex": True, "marks": {"type": "omr", "left": 3, "top": 3, "clear": 1}}):
        batch_id = run({"split": {"bytes": 40_000}, "output": "zip"} | more, documents)
        files = account_of(caller, batch_id)["files"]
        assert sum(each["documents"] for each in files) == 20
        own = [read_zip(caller, batch_id, each["number"]) for each in files]
        sizes = [sum(len(pdf) for name, pdf in each.items() if name[0] == "0") for each in own]
        assert len(files) > 1
        assert 10_000 < max(sizes) <= 40_000


def test_zips_of_a_run_are_delivered_with_their_extension(caller, run, ports, database):
    made = caller.post("/v2/destinations", json={"url": "https://93.184.216.34/in"}).json["id"]
    batch_id = run(query=f"&plan=letters&deliver={made}")
    sender = FileSender(database, ports.blobs, Outbound(), SecretCipher([new_key()]), "")
    with database.session() as session:
        at = now() + timedelta(seconds=9)
        [index] = lease_due(session, at=at, until=at, limit=9)
    assert sender.send(index, "") is None
    found = caller.get("/v2/deliveries?status=pending").json["deliveries"]
    names = {f"{batch_id}-{number}.zip" for number in (1, 2, 3)} | {f"{batch_id}.csv"}
    assert {each["name"] for each in found} == names
