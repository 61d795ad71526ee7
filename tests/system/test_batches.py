"""Batches on a whole farm, over HTTP: to the end, whatever is killed, and read back in a stream."""

import io
import json
import re
import zipfile
from itertools import chain, repeat
from pathlib import Path

from tests.waiting import wait_until

TEMPLATE = b"""<document filename="note-{{ n }}.pdf"><data><json>{"n": 0, "rows": 1}</json></data>
<flow><p>Number {{ n }}</p>
<table><col/><tbody><tr for="row in range(rows)"><td>Row {{ row }} of {{ n }}</td></tr></tbody></table>
</flow></document>"""
NDJSON = {"Content-Type": "application/x-ndjson"}


def accept(account, template, documents, output="zip"):
    body = "".join(json.dumps(each) + "\n" for each in documents).encode()
    path = f"/v2/batches?template={template}&output={output}"
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
    record = wait_until(lambda: ended(account, batch_id), 120)
    assert (record["succeeded"], record["failed"]) == (3, 1)
    answer = account.request("GET", f"/v2/batches/{batch_id}/result")
    with zipfile.ZipFile(io.BytesIO(answer.body)) as archive:
        assert archive.testzip() is None
        assert archive.namelist()[0] == "000000-note-0.pdf"
    assert account.settled_usage(pages=3)["apiCalls"] == 3


def ended(account, batch_id):
    record = read(account, batch_id, wait=10)
    return None if record["status"] in ("queued", "running") else record


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
