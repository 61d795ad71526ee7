"""Batches on a whole farm, over HTTP: to the end, whatever is killed, and read back in a stream."""

import io
import json
import re
import subprocess
import zipfile
from itertools import chain, repeat
from pathlib import Path

import pikepdf
import pytest
from pypdf import PdfReader

from deploy.embedded.demo.show import pressroom
from tests.waiting import wait_until

ROOT = Path(__file__).parents[2]
TEMPLATE = b"""<document filename="note-{{ n }}.pdf"><data><json>{"n": 0, "rows": 1}</json></data>
<flow><p>Number {{ n }}</p>
<table><col/><tbody><tr for="row in range(rows)"><td>Row {{ row }} of {{ n }}</td></tr></tbody></table>
</flow></document>"""
NDJSON = {"Content-Type": "application/x-ndjson"}


COVER = b"""<document title="Tray {{ bundle }}"><page size="A6"/>
<flow><p>{{ documents }} of {{ first.n }} to {{ last.n }}</p></flow></document>"""


def accept(account, template, documents, output="zip", query=""):
    body = "".join(json.dumps(each) + "\n" for each in documents).encode()
    path = f"/v2/batches?template={template}&output={output}{query}"
    answer = account.request("POST", path, body, headers=NDJSON)
    assert answer.status == 202, answer.body
    return answer.json["id"]


def read(account, batch_id, wait=0):
    answer = account.request("GET", f"/v2/batches/{batch_id}?wait={wait}")
    assert answer.status == 200, answer.body
    return answer.json


def test_a_batch_is_rendered_and_read_back(account):
    template = account.store_template(TEMPLATE)
    batch_id = accept(account, template, [{"n": 0}, {"n": 1}, {"n": "x", "rows": "y"}, {"n": 3}])
    record = account.await_end(f"/v2/batches/{batch_id}")
    assert (record["succeeded"], record["failed"]) == (3, 1)
    answer = account.request("GET", f"/v2/batches/{batch_id}/result")
    with zipfile.ZipFile(io.BytesIO(answer.body)) as archive:
        assert archive.testzip() is None
        assert archive.namelist()[0] == "000000-note-0.pdf"
    assert account.settled_usage(pages=3)["apiCalls"] == 3


def test_a_merged_batch_for_a_press_has_a_document_part_for_each_record(account):
    press = (ROOT / "tests/golden/images/press.icc").read_bytes()
    as_profile = {"Content-Type": "application/vnd.iccprofile"}
    stored = account.request("PUT", "/v2/images/press", press, headers=as_profile)
    assert stored.status == 201, stored.body
    head = b'<document profile="pdf/x-4" output-intent="press" title="Note {{ n }}"'
    template = account.store_template(TEMPLATE.replace(b"<document", head))
    batch_id = accept(account, template, [{"n": 0}, {"n": 1}, {"n": 2}], "merged")
    account.await_end(f"/v2/batches/{batch_id}")
    answer = account.request("GET", f"/v2/batches/{batch_id}/result")
    assert answer.status == 200, answer.body
    with pikepdf.open(io.BytesIO(answer.body)) as pdf:
        [parts] = pdf.Root.DPartRoot.DPartRootNode.DParts
        titles = [str(part.DPM.Record.Title) for part in parts]
        assert titles == ["Note 0", "Note 1", "Note 2"]
        assert [part.Start.objgen for part in parts] == [page.obj.objgen for page in pdf.pages]


def test_covers_of_a_run_for_a_press_are_for_it_too_and_read_back(account):
    press = (ROOT / "tests/golden/images/press.icc").read_bytes()
    as_profile = {"Content-Type": "application/vnd.iccprofile"}
    assert account.request("PUT", "/v2/images/press", press, headers=as_profile).status == 201
    head = b'<document profile="pdf/x-4" output-intent="press" title="Note {{ n }}"'
    letter = account.store_template(TEMPLATE.replace(b"<document", head))

    def run(cover):
        plan = {"sort": ["-n"], "bundle": {"cover": cover, "documents": 2}}
        body = json.dumps(plan).encode()
        as_json = {"Content-Type": "application/json"}
        stored = account.request("PUT", "/v2/plans/trays", body, headers=as_json)
        assert stored.status in (200, 201), stored.body
        documents = [{"n": 0}, {"n": 1}, {"n": 2}]
        batch_id = accept(account, letter, documents, "merged", "&plan=trays")
        return batch_id, account.await_end(f"/v2/batches/{batch_id}")

    _, record = run(account.store_template(COVER))
    assert record["error"]["message"].startswith("The cover has another `profile` or `output-")
    tray = COVER.replace(b"<document", b'<document profile="pdf/x-4" output-intent="press"')
    batch_id, record = run(account.store_template(tray))
    answer = account.request("GET", f"/v2/batches/{batch_id}/files/1")
    assert answer.status == 200, (answer.body, record)
    with pikepdf.open(io.BytesIO(answer.body)) as pdf:
        [parts] = pdf.Root.DPartRoot.DPartRootNode.DParts
        titles = [str(part.DPM.Record.Title) for part in parts]
        assert titles == ["Tray 1", "Note 2", "Note 1", "Tray 2", "Note 0"]
        assert len(pdf.Root.OutputIntents) == 1
    texts = [
        page.extract_text().split("\n")[0] for page in PdfReader(io.BytesIO(answer.body)).pages
    ]
    assert texts == ["2 of 2 to 1", "Number 2", "Number 1", "1 of 0 to 0", "Number 0"]


def test_the_processor_time_of_every_document_is_in_the_report_of_costs(farm, account):
    template = account.store_template(TEMPLATE)
    as_json = {"Content-Type": "application/json"}
    path = f"/v2/pdf?template={template}"
    for headers in (as_json, as_json | {"Prefer": "respond-async"}):
        sent = account.request("POST", path, b'{"n": 1}', headers=headers)
        assert sent.status in (200, 202), sent.body
    batches = [accept(account, template, [{"n": 1}], each) for each in ("files", "merged")]
    drawn = account.render("<document><flow><p>a</p></flow></document>")
    assert drawn.status == 200
    for batch_id in batches:
        account.await_end(f"/v2/batches/{batch_id}")

    def rows():
        found = farm.command("account", "usage", account.id)
        return found["production"]["renders"] == 5 and found

    told = wait_until(rows, 120)
    command = pressroom("ledger", "export", "--account", account.id, "--format", "ndjson")
    exported = subprocess.run(
        [*command, "--data", str(farm.folder.path)], capture_output=True, check=True
    )
    spent = [json.loads(line)["cpu_us"] for line in exported.stdout.splitlines()]
    assert len(spent) == 5
    # A machine may count processor time in steps that are longer than a render.
    assert min(spent) >= 0, spent
    assert 0 < sum(spent) < 60_000_000, spent
    costs = account.request("GET", "/v2/account/costs").json
    assert costs["cpuSeconds"] == told["cpu_seconds"] == pytest.approx(sum(spent) / 1e6, abs=0.001)
    by_template = {each.get("template"): each["cpuSeconds"] for each in costs["templates"]}
    assert set(by_template) == {template, None}
    assert list(by_template.values()) == sorted(by_template.values(), reverse=True)
    for each in (costs["templates"], costs["days"]):
        listed = sum(one["cpuSeconds"] for one in each)
        assert listed == pytest.approx(costs["cpuSeconds"], abs=0.002)
    first = account.request("GET", "/v2/account/costs?limit=1").json
    assert (len(first["templates"]), first["has_more"]) == (1, True)
    before = account.request("GET", "/v2/account/costs?date=2024-02-29").json
    assert (before["cpuSeconds"], before["days"], before["templates"]) == (0, [], [])


def test_a_batch_under_way_is_cancelled(account):
    template = account.store_template(TEMPLATE)
    batch_id = accept(account, template, [{"n": n, "rows": 200} for n in range(1000)])
    wait_until(lambda: read(account, batch_id)["status"] != "queued")
    assert account.request("DELETE", f"/v2/batches/{batch_id}").status == 204
    assert read(account, batch_id)["status"] == "cancelled"
    wait_until(lambda: not read(account, batch_id)["running"])
    record = read(account, batch_id)
    assert record["succeeded"] < 1000
    assert account.settled_usage(pages=record["pages"])["apiCalls"] == record["succeeded"]


def test_half_a_gigabyte_streams_through_the_front_and_no_byte_more(farm, account):
    template = account.store_template(TEMPLATE)
    path = f"/v2/batches?template={template}"
    line = b'{"x":"' + b"a" * ((1 << 20) - 9) + b'"}\n'
    idle = front_memory(farm)
    refused = account.request("POST", path, chain(repeat(line, 512), [b"\n"]), headers=NDJSON)
    assert (refused.status, "512 MB" in refused.json["message"]) == (413, True)
    accepted = account.request("POST", path, repeat(line, 512), headers=NDJSON)
    assert (accepted.status, accepted.json["total"]) == (202, 512)
    assert account.request("DELETE", accepted.headers["Location"]).status == 204
    assert front_memory(farm) - idle < 50 << 20
    assert not any((farm.folder.path / "blobs/batches" / accepted.json["id"]).glob("body"))


def front_memory(farm) -> int:
    """Return the peak bytes of a process of the front."""
    front = farm.folder.read_record().processes["front"]
    children = Path(f"/proc/{front}/task/{front}/children").read_text().split()
    texts = [Path(f"/proc/{pid}/status").read_text() for pid in children]
    return max(int(re.search(r"VmHWM:\s+(\d+) kB", text)[1]) for text in texts) << 10
