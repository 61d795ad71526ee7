"""The Python client and `pressroom batch` on the running farm."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import zipfile
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import pikepdf
import pytest
import urllib3

from api.app import describe_api
from pressroom_client import ApiError, Document, Pressroom
from tests.engine.einvoices.test_external import XML
from tests.waiting import wait_until

ROOT = Path(__file__).parents[2]
TEMPLATE = b"""<document title="Note {{ n }}" filename="note-{{ n }}.pdf">
<data><field name="n" type="integer" required="true"/></data>
<flow><h1>Note {{ n }}</h1><p>From the client.</p></flow></document>"""


@pytest.fixture
def client(farm, account) -> Pressroom:
    return Pressroom(farm.record.url, account.api_key)


@pytest.fixture
def template(client) -> str:
    return client.templates.create("note", TEMPLATE).id


def call(account, folder, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "deploy.cli.main", *arguments],
        cwd=folder,
        env=environment(account),
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
        timeout=120,
    )


def run(account, folder, *arguments, code=0, command=("batch",)):
    done = call(account, folder, *command, *arguments, "--json")
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
    assert client.render(alone, draft=True, filename="Über.pdf").filename == "Über.pdf"


def test_an_authoring_error_has_its_elements(client, farm, template) -> None:
    with pytest.raises(ApiError) as refused:
        client.render(data={"n": "x"}, template=template)
    assert (refused.value.status, refused.value.kind) == (400, "authoring")
    with pytest.raises(ApiError) as broken:
        client.render("<document>")
    assert broken.value.kind == "authoring"
    with pytest.raises(ApiError) as unknown:
        Pressroom(farm.record.url, "pr_1").check()
    assert unknown.value.kind == "authentication"
    assert refused.value.stack_trace[0]["tagName"] == "field"


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


def test_the_command_writes_the_files_of_a_plan_and_their_index(
    client, account, template, tmp_path
) -> None:
    write_notes(tmp_path / "notes.ndjson", 30)
    plan = {"sort": ["-n"], "split": {"documents": 20}, "fields": ["n"]}
    headers = {"Content-Type": "application/json"}
    account.request("PUT", "/v2/plans/notes", json.dumps(plan).encode(), headers=headers)
    told, _ = run(account, tmp_path, template, "notes.ndjson", "-o", "notes/", "--plan", "notes")
    names = sorted(path.name for path in (tmp_path / "notes").iterdir())
    assert names == ["001.pdf", "002.pdf", "index.csv"]
    assert [each["documents"] for each in client.batch_account(told["batch"])["files"]] == [20, 10]


def test_commands_reject_release_and_reprint_documents_of_a_run(
    client, account, template, tmp_path
) -> None:
    client.put_plan("held", {"hold": {"conditions": [{"value": "n", "below": 5}]}, "sort": ["n"]})
    batch = client.submit_batch(template, [{"n": n} for n in range(8)], plan="held")
    client.wait_batch(batch.id, timeout_seconds=60)

    def decide(command, *options, code=0):
        return run(account, tmp_path, batch.id, *options, code=code, command=("run", command))

    assert decide("reject", "--documents", "0,1")[0]["rejected"] == 2
    assert decide("release", "--reason", "condition")[0]["held"] == 0
    assert "no numbers" in decide("reprint", "--sets", "a-b", "-o", "a.pdf", code=1)[1]
    assert "accepted are documents" in decide("reprint", "-o", "a.pdf", code=1)[1]
    assert decide("reprint", "--sets", "2-3", "-o", "a.pdf")[0] == {"reprint": 1, "output": "a.pdf"}
    with pikepdf.open(tmp_path / "a.pdf") as pdf, pdf.open_outline() as outline:
        assert [entry.title for entry in outline.root] == ["Note 6", "Note 7"]


def test_the_command_fills_a_folder_and_reports_failures(account, template, tmp_path) -> None:
    write_notes(tmp_path / "notes.ndjson", 12, bad={3, 9})
    result, said = run(account, tmp_path, template, "notes.ndjson", "-o", "out/", code=1)
    assert (result["succeeded"], result["failed"]) == (10, 2)
    assert "document 4: " in said
    assert "document 10: " in said
    names = {path.name for path in (tmp_path / "out").glob("*.pdf")}
    assert len(names) == 10
    assert "000000-note-0.pdf" in names


def test_a_command_with_a_wrong_key_is_not_to_be_repeated(account, template, tmp_path) -> None:
    write_notes(tmp_path / "notes.ndjson", 1)
    stranger = replace(account, api_key="pr_1")
    _, said = run(stranger, tmp_path, template, "notes.ndjson", "-o", "notes.zip", code=1)
    assert "401" in said
    assert "repeat" not in said


def test_an_interrupted_command_resumes(account, template, tmp_path) -> None:
    write_notes(tmp_path / "notes.ndjson", 300)
    # Nothing is rendered before the command is interrupted, however fast the farm is.
    account.farm.command("queue", "drain", "batch", "--wait", "30")
    try:
        note, said = interrupt(account, template, tmp_path)
    finally:
        account.farm.command("queue", "resume", "batch")
    assert "repeat the command to resume" in said
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
    with subprocess.Popen(
        [*command, "-o", "notes.zip"],
        cwd=folder,
        env=environment(account),
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            wait_until(lambda: note.exists() and json.loads(note.read_text())["batch_id"])
            # Python loses a signal that arrives where C code discards exceptions: people press again.
            for _ in range(3):
                process.send_signal(signal.SIGINT)
                with suppress(subprocess.TimeoutExpired):
                    _, said = process.communicate(timeout=10)
                    break
        finally:
            process.kill()
    assert process.returncode == 130
    return note, said


# Pages for people, and the sessions of their browsers; `description` reads what is for programs.
PAGES = {
    *("readDescription", "readStart", "openStudio", "readStudioFile"),
    *("describeSignIn", "beginSignIn", "finishSignIn"),
}
PAGES |= {"openSession", "readSession", "endSession"}
PAGES |= {"listDocumentation", "readDocumentationFile", "readLinkedFile"}
# The same in another form: `fonts.store` sends the bytes themselves, which is `putFont`.
OTHER_FORMS = {"postFont"}
# `submit_batch` sends a spreadsheet as it is.
OTHER_FORMS |= {"convertSpreadsheet"}


def test_every_operation_has_a_method(client, template, monkeypatch, tmp_path) -> None:
    """Every method is called once on the farm; together they reach every operation."""
    called: set[tuple[str, str]] = set()
    request = urllib3.PoolManager.request

    def note(pool, method, url, **options):
        called.add((method.lower(), urlsplit(url).path))
        return request(pool, method, url, **options)

    monkeypatch.setattr(urllib3.PoolManager, "request", note)
    call_everything(client, template, tmp_path)
    missed = {
        operation["operationId"]
        for path, methods in describe_api()["paths"].items()
        for method, operation in methods.items()
        if not any(method == known and matches(path, sent) for known, sent in called)
    }
    described = {
        operation["operationId"]: path
        for path, methods in describe_api()["paths"].items()
        for operation in methods.values()
    }
    # The client is that of an account, not of an operator.
    of_operators = {name for name, path in described.items() if path.startswith("/v2/admin/")}
    assert missed == (PAGES | OTHER_FORMS | of_operators) & described.keys()


def matches(path: str, sent: str) -> bool:
    return re.fullmatch(re.sub(r"{\w+}", "[^/]+", path), sent) is not None


def call_everything(client: Pressroom, template: str, folder: Path) -> None:
    assert client.is_alive()
    assert client.parts()["queue"] == "up"
    assert "pressroom_http_requests_total" in client.metrics()
    assert client.description()["info"]["title"] == "Pressroom"
    assert "Authenticated" in client.check()
    assert client.usage()["pagesGenerated"] == 0
    assert client.usage_by_day()["days"] == []
    assert client.usage_by_template()["templates"] == []
    assert client.costs()["cpuSeconds"] == 0
    with pytest.raises(ApiError) as not_an_invoice:
        client.check_invoice(b"<note/>")
    assert not_an_invoice.value.status == 400
    shown = client.show_invoice(XML)
    assert (shown.pages, shown.pdf[:5], "einvoice-rule" in shown.warning_codes) == (
        3,
        b"%PDF-",
        False,
    )
    with pytest.raises(ApiError) as not_a_form:
        client.extract_form(b"%PDF-1.7")
    assert not_a_form.value.status == 400
    call_keys(client)
    assert client.preview("<document><flow><p>a</p></flow></document>").pages == 1
    call_templates(client, template)
    call_images(client)
    call_webhooks(client)
    found = client.validate(data={"n": "x"}, template=template)
    assert (found.valid, len(found.errors)) == (False, 1)
    assert client.render(data={"n": 1}, template=template).pages == 1
    job = client.wait(client.submit(data={"n": 2}, template=template).id, timeout_seconds=30)
    assert client.job(job.id).status == "succeeded"
    assert client.pdf(job.id).pages == 1
    # Those waited for are on record too: each call has an Idempotency-Key.
    assert next(client.jobs(status="succeeded")).id == job.id
    client.cancel(job.id)
    batch = client.submit_batch(template, [{"n": 1}, {"n": 2}], output="zip")
    assert client.wait_batch(batch.id, timeout_seconds=60).succeeded == 2
    assert [each.id for each in client.batches()] == [batch.id]
    assert [item.status for item in client.items(batch.id)] == ["succeeded"] * 2
    assert client.save_result(batch.id, folder / "notes.zip").stat().st_size > 0
    client.cancel_batch(batch.id)
    call_plans(client, template, folder)
    assert list(client.batches()) == []
    assert client.audit_log()


def call_plans(client: Pressroom, template: str, folder: Path) -> None:
    assert client.put_plan("notes", {"sort": ["-n"]})["version"] == 1
    assert client.plans() == [client.plan("notes", version=1)]
    client.tag_plan("notes", "stable", 1)
    batch = client.submit_batch(template, [{"n": 1}, {"n": 2}], plan="notes@stable")
    client.untag_plan("notes", "stable")
    client.wait_batch(batch.id, timeout_seconds=60)
    assert client.batch_account(batch.id)["delivered"] == 2
    assert [path.name for path in client.save_run(batch.id, folder)] == ["001.pdf", "index.csv"]
    assert client.reprint(batch.id, documents=[0], copy=True) == 1
    client.cancel_batch(batch.id)
    client.put_plan("notes", {"hold": {"conditions": [{"value": "n", "above": 0}]}})
    batch = client.submit_batch(template, [{"n": 1}, {"n": 2}], plan="notes")
    client.wait_batch(batch.id, timeout_seconds=60)
    assert client.reject(batch.id, documents=[0])["rejected"] == 1
    assert client.release(batch.id, reason="condition:n")["held"] == 0
    client.cancel_batch(batch.id)
    client.delete_plan("notes")


def call_keys(client: Pressroom) -> None:
    own = client.account()["key_id"]
    made = client.keys.create(name="Shop")
    assert made.key is not None
    assert made.key.startswith("pr_")
    assert {key.id: key.is_own for key in client.keys.list()} == {own: True, made.id: False}
    client.keys.revoke(made.id)
    assert all(key.revoked_at for key in client.keys.list() if not key.is_own)


def call_templates(client: Pressroom, template: str) -> None:
    templates, slugs = client.templates, client.slugs
    assert "service-invoice" in {each.id for each in templates.list(public=True)}
    assert [each.id for each in templates.list(name="note")] == [template]
    read = templates.read(template)
    assert read.content == TEMPLATE.decode()
    renamed = templates.rename(template, "memo", if_match=read.etag)
    assert renamed.name == "memo"
    with pytest.raises(ApiError) as stale:
        templates.replace(template, TEMPLATE, if_match=read.etag)
    assert stale.value.status == 412
    templates.replace(template, TEMPLATE + b"<!-- 2 -->", if_match=renamed.etag)
    assert templates.publish(template, message="first").version == 1
    assert [each.message for each in templates.versions(template)] == ["first"]
    assert "<!-- 2 -->" in (templates.version(template, 1).content or "")
    assert templates.dependents(template) == []
    templates.store_cases(template, b"PK\x03\x04")
    assert templates.read_cases(template) == b"PK\x03\x04"
    templates.store_cases(template, b"")
    assert templates.read_cases(template) is None
    with pytest.raises(ApiError) as own:
        templates.approve(template, 1)
    assert own.value.status == 409
    tag = templates.set_tag(template, "production", 1)
    assert templates.tag(template, "production").version == tag.version == 1
    assert [each.tag for each in templates.tags(template)] == ["production"]
    assert templates.remove_tag(template, "production")
    assert [each.action for each in templates.tag_history(template, "production")] == [
        "removed",
        "created",
    ]
    assert slugs.assign("memo", template).template_id == template
    assert [each.slug for each in slugs.list()] == ["memo"]
    assert slugs.check("memo").template_id == template
    slugs.release("memo")
    assert slugs.check("memo").available
    other = templates.create("other", TEMPLATE)
    templates.delete(other.id, if_match=other.etag)


def call_images(client: Pressroom) -> None:
    picture = b'<svg xmlns="http://www.w3.org/2000/svg" width="4" height="2"/>'
    stored = client.images.store("dot", picture)
    assert (stored.width, stored.height, stored.bytes) == (4, 2, len(picture))
    assert client.images.read("dot") == stored
    assert [each.name for each in client.images.list()] == ["dot"]
    assert client.images.usage().count == 1
    client.images.delete("dot")
    font = (Path(__file__).parents[1] / "golden/fonts/brand-regular.ttf").read_bytes()
    stored_font = client.fonts.store("brand", font)
    assert client.fonts.read("brand") == stored_font
    assert [each.name for each in client.fonts.list()] == ["brand"]
    assert client.fonts.usage().count == 1
    client.fonts.delete("brand")
    with pytest.raises(ApiError, match="public internet"):
        client.images.store_from("far", "http://127.0.0.1/x.png")


def call_webhooks(client: Pressroom) -> None:
    made = client.webhooks.create("https://93.184.216.34/hook", events=["job.failed"])
    assert made.secret is not None
    assert client.webhooks.rotate(made.id).secret != made.secret
    assert client.webhooks.read(made.id).events == ["job.failed"]
    assert [each.id for each in client.webhooks.list()] == [made.id]
    assert list(client.webhooks.deliveries(made.id)) == []
    tried = client.webhooks.test(made.id)
    assert [each.id for each in client.webhooks.deliveries(made.id)] == [tried.id]
    client.webhooks.delete(made.id)
    place = client.destinations.create("https://93.184.216.34/in", secret="Bearer x", name="{job}")
    assert client.destinations.list() == [client.destinations.read(place.id)]
    tried = client.destinations.test(place.id)
    assert tried.id in {each.id for each in client.destinations.deliveries()}
    with pytest.raises(ApiError, match="pending"):
        client.destinations.redeliver(tried.id)
    client.destinations.delete(place.id)
    assert client.erase_subject("customer-4711")["jobs"] == 0


def run_template(account, folder, *arguments: str) -> subprocess.CompletedProcess[str]:
    return call(account, folder, "template", *arguments)


def test_templates_are_files_of_a_folder(account, client, tmp_path) -> None:
    """Pushed, changed on the farm and pulled, changed here and compared, published and tagged."""
    folder = tmp_path / "templates"
    folder.mkdir()
    file = folder / "our-note.xml"
    content = TEMPLATE.replace(b"<data>", b'<data><sample>{"n": 1}</sample>')
    file.write_bytes(content)
    pushed = run_template(account, tmp_path, "push", "templates")
    assert (pushed.returncode, pushed.stdout) == (0, "templates/our-note.xml stored\n")
    assert run_template(account, tmp_path, "push", "templates").stdout == ""
    made = client.templates.read("our-note")
    assert (made.name, made.content) == ("our-note", content.decode())
    assert f"our-note  {made.id}" in run_template(account, tmp_path, "list").stdout

    client.templates.replace(made.id, content.replace(b"From the client", b"From the farm"))
    differing = run_template(account, tmp_path, "diff", "templates")
    assert differing.returncode == 1
    assert "--- farm/our-note\n+++ templates/our-note.xml\n" in differing.stdout
    assert run_template(account, tmp_path, "pull", "templates").returncode == 0
    assert b"From the farm" in file.read_bytes()
    same = run_template(account, tmp_path, "diff", "templates")
    assert (same.returncode, same.stdout) == (0, "")

    run_template(account, tmp_path, "publish", "our-note", "templates/our-note.xml")
    tagged = run_template(account, tmp_path, "tag", "our-note", "released", "1", "--json")
    assert json.loads(tagged.stdout)["version"] == 1
    guarded = run_template(account, tmp_path, "tag", "our-note", "released", "1", "--guarded")
    assert guarded.returncode == 0
    assert client.templates.tag(made.id, "released").guarded
    own = run_template(account, tmp_path, "approve", "our-note", "1")
    assert (own.returncode, "another one has to approve it" in own.stderr) == (1, True)
    second = client.keys.create(scopes=["templates"])
    assert second.key is not None
    other = replace(account, api_key=second.key)
    approved = run_template(other, tmp_path, "approve", "our-note", "1", "--json")
    assert json.loads(approved.stdout)["approved_by"] == [second.id]
    [entry] = client.templates.version(made.id, 1).approvals
    assert entry.key_id == second.id
    file.write_text("<document><flow><tabel/></flow></document>")
    wrong = run_template(account, tmp_path, "push", "templates/our-note.xml")
    assert wrong.returncode == 1
    assert wrong.stdout == "templates/our-note.xml stored, with errors: 1\n"


def test_cases_are_kept_with_a_template_and_pass_before_an_approval(
    account, client, tmp_path
) -> None:
    """Pushed with it, pulled by another, run as the farm has them, and by who approves."""
    folder = tmp_path / "templates"
    (folder / "our-page").mkdir(parents=True)
    (folder / "our-frame.xml").write_text("<document><flow><p>Framed</p></flow></document>")
    file = folder / "our-page.xml"
    file.write_text(
        '<document extends="our-frame@live"><data><sample>{"n": 1}</sample></data>'
        "<flow><p>Page {{ n }}</p></flow></document>"
    )
    case = folder / "our-page" / "one.case.json"
    expected = {"pages": 1, "text": ["Page 7"]}
    case.write_text(json.dumps({"template": "our-page", "data": {"n": 7}, "expect": expected}))
    pushed = run_template(account, tmp_path, "push", "templates").stdout.splitlines()
    assert pushed[1:] == ["templates/our-page.xml stored", "templates/our-page stored"]
    assert run_template(account, tmp_path, "push", "templates").stdout == ""
    assert run_template(account, tmp_path, "diff", "templates").returncode == 0
    assert run_template(account, tmp_path, "pull", "other", "our-page").returncode == 0
    assert (tmp_path / "other/our-page/one.case.json").read_bytes() == case.read_bytes()

    made = client.templates.read("our-page").id
    second = client.keys.create(scopes=["templates"])
    other = replace(account, api_key=second.key)
    client.templates.publish(made)
    with pytest.raises(ApiError, match="has stored cases"):
        Pressroom(account.farm.record.url, second.key).templates.approve(made, 1)
    approved = run_template(other, tmp_path, "approve", "our-page", "1", "--json")
    assert json.loads(approved.stdout)["approved_by"] == [second.id], approved.stderr
    [entry] = client.templates.version(made, 1).approvals
    assert entry.cases_passed == 1

    case.write_text(case.read_text().replace("Page 7", "Page 8"))
    assert (
        "cases in templates/our-page" in run_template(account, tmp_path, "diff", "templates").stdout
    )
    run_template(account, tmp_path, "push", "templates")
    assert client.templates.publish(made).version == 2
    failed = run_template(other, tmp_path, "approve", "our-page", "2")
    assert (failed.returncode, "1 of 1 stored cases failed" in failed.stderr) == (1, True)
    assert "'Page 8' is not on any page" in failed.stdout
    for version, status in (("1", 0), ("1", 1)):  # the folder is there the second time
        tested = call(account, tmp_path, "test", "stored", "--stored", f"our-page@{version}")
        assert tested.returncode == status, tested.stderr
    assert (tmp_path / "stored/our-frame.xml").exists()


def test_a_template_with_errors_is_published_only_with_yes(
    account, client, template, tmp_path
) -> None:
    (tmp_path / "bad.xml").write_text("<document><flow><tabel/></flow></document>")

    def publish(*arguments: str) -> subprocess.CompletedProcess[str]:
        return run_template(account, tmp_path, "publish", template, "bad.xml", "--json", *arguments)

    refused = publish()
    assert refused.returncode == 1
    assert "has errors that every document of it would have: 1." in refused.stderr
    assert client.templates.versions(template) == []
    published = json.loads(publish("--yes", "--message", "as it is").stdout)
    assert (published["version"], published["message"]) == (1, "as it is")
