"""The Python client and `pressroom batch` on the running farm."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pikepdf
import pytest

from pressroom_client import ApiError, Document, Pressroom

ROOT = Path(__file__).parents[2]
TEMPLATE = b"""<document title="Note {{ n }}" filename="note-{{ n }}.pdf">
<data><field name="n" type="integer" required="true"/></data>
<flow><h1>Note {{ n }}</h1><p>From the client.</p></flow></document>"""


@pytest.fixture
def client(farm, account) -> Pressroom:
    return Pressroom(farm.record.url, account.api_key)


@pytest.fixture
def template(client) -> str:
    return client.create_template("note", TEMPLATE)


def run(account, folder, *arguments, code=0):
    done = subprocess.run(
        [sys.executable, "-m", "deploy.cli.main", "batch", *arguments, "--json"],
        cwd=folder,
        env=environment(account),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == code, done.stderr
    return json.loads(done.stdout) if done.stdout else {}, done.stderr


def environment(account):
    return {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(ROOT),
        "PRESSROOM_URL": account.farm.record.url,
        "PRESSROOM_KEY": account.api_key,
    }


def write_notes(path, count, *, bad=()):
    lines = [json.dumps({"n": "x" if n in bad else n}) for n in range(count)]
    path.write_text("\n".join(lines) + "\n")
    return path


def test_a_document_is_rendered(client, template) -> None:
    rendered = client.render(data={"n": 7}, template=template)
    assert rendered.filename == "note-7.pdf"
    assert rendered.pages == 1
    assert rendered.timings.keys() == {"queue", "merge", "layout", "finish"}
    assert rendered.pdf.startswith(b"%PDF-1.7")
    alone = Document(b"<document><flow><p>x</p></flow></document>", "application/xml")
    assert client.render(alone, draft=True).pages == 1


def test_an_authoring_error_has_its_elements(client, template) -> None:
    with pytest.raises(ApiError) as refused:
        client.render(data={"n": "x"}, template=template)
    assert refused.value.status == 400
    assert refused.value.stack_trace[0]["tagName"] == "field"


def test_a_job_is_waited_for(client, template) -> None:
    job = client.wait(client.submit(data={"n": 3}, template=template).id)
    assert (job.status, job.pages) == ("succeeded", 1)
    assert client.pdf(job.id).filename == "note-3.pdf"
    client.cancel(job.id)
    with pytest.raises(ApiError) as gone:
        client.job(job.id)
    assert gone.value.status == 404


def test_the_same_key_renders_once(client, account, template) -> None:
    first, again = (
        client.render(data={"n": 1}, template=template, idempotency_key="note-1") for _ in range(2)
    )
    assert first == again
    assert account.settled_usage(pages=1)["apiCalls"] == 1


def test_a_batch_is_submitted_from_an_iterator(client, template, tmp_path) -> None:
    payloads = ({"n": n} for n in range(25))
    batch = client.submit_batch(template, payloads, output="zip")
    seen = []
    batch = client.wait_batch(batch.id, progress=lambda record: seen.append(record.ended))
    assert (batch.status, batch.succeeded, batch.failed, batch.pages) == ("finished", 25, 0, 25)
    assert seen[-1] == 25
    assert [item.index for item in client.items(batch.id)] == list(range(25))
    result = client.save_result(batch.id, tmp_path / "notes.zip")
    with zipfile.ZipFile(result) as archive:
        assert archive.testzip() is None
        assert "000024-note-24.pdf" in archive.namelist()
    item = next(client.items(batch.id))
    assert client.pdf(item.job_id).filename == "note-0.pdf"


def test_the_command_makes_one_pdf(account, template, tmp_path) -> None:
    write_notes(tmp_path / "notes.ndjson", 30)
    result, said = run(account, tmp_path, template, "notes.ndjson", "-o", "notes.pdf")
    assert (result["status"], result["succeeded"]) == ("finished", 30)
    with pikepdf.open(tmp_path / "notes.pdf") as pdf, pdf.open_outline() as outline:
        assert len(pdf.pages) == 30
        assert [entry.title for entry in outline.root] == [f"Note {n}" for n in range(30)]
    assert "30/30 documents" in said
    assert {path.name for path in tmp_path.iterdir()} == {"notes.ndjson", "notes.pdf"}


def test_the_command_fills_a_folder_and_tells_what_failed(account, template, tmp_path) -> None:
    write_notes(tmp_path / "notes.ndjson", 12, bad={3, 9})
    result, said = run(account, tmp_path, template, "notes.ndjson", "-o", "out/", code=1)
    assert (result["succeeded"], result["failed"]) == (10, 2)
    assert "document 4: " in said
    assert "document 10: " in said
    names = {path.name for path in (tmp_path / "out").glob("*.pdf")}
    assert len(names) == 10
    assert "000000-note-0.pdf" in names


def test_rows_of_a_csv_file_are_documents(account, template, tmp_path) -> None:
    (tmp_path / "notes.csv").write_text("n\n1\n2\n3\n")
    result, _ = run(account, tmp_path, template, "notes.csv", "-o", "notes.zip")
    assert result["documents"] == 3
    with zipfile.ZipFile(io.BytesIO((tmp_path / "notes.zip").read_bytes())) as archive:
        assert sum(name.endswith(".pdf") for name in archive.namelist()) == 3


def test_an_interrupted_command_goes_on_where_it_was(account, template, tmp_path) -> None:
    write_notes(tmp_path / "notes.ndjson", 300)
    # Nothing is rendered before the command is interrupted, however fast the farm is.
    account.farm.command("queue", "drain", "batch", "--wait", "30")
    try:
        note, said = interrupt(account, template, tmp_path)
    finally:
        account.farm.command("queue", "resume", "batch")
    assert "goes on where it was" in said
    assert not (tmp_path / "notes.zip").exists()
    batch_id = json.loads(note.read_text())["batch_id"]
    result, _ = run(account, tmp_path, template, "notes.ndjson", "-o", "notes.zip")
    assert (result["batch"], result["succeeded"]) == (batch_id, 300)
    assert not note.exists()
    assert account.settled_usage(pages=300)["apiCalls"] == 300


def interrupt(account, template, folder):
    """Press Ctrl-C once the batch is accepted; gives the note of it and what the command said."""
    command = [sys.executable, "-m", "deploy.cli.main", "batch", template, "notes.ndjson"]
    # Tests that run in the background of a shell ignore it, and so would what they start.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    note = folder / ".notes.zip.pressroom"
    give_up_at = time.monotonic() + 60
    with subprocess.Popen(
        [*command, "-o", "notes.zip"],
        cwd=folder,
        env=environment(account),
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            while not (note.exists() and json.loads(note.read_text())["batch_id"]):
                assert time.monotonic() < give_up_at
                time.sleep(0.02)
            process.send_signal(signal.SIGINT)
            _, said = process.communicate(timeout=30)
        finally:
            process.kill()
    assert process.returncode == 130
    return note, said
