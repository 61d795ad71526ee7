"""The calls that /docs shows run as they stand, with the placeholders filled in."""

from __future__ import annotations

import base64
import json
import os
import re
import subprocess
from pathlib import Path

import pytest
from sqlalchemy import update

from api.app import describe_api
from shared.db.tables import webhook_deliveries
from shared.jobs.records import JobOutcome, OutcomeStatus
from tests.api.conftest import running_front
from tests.batches import accept
from tests.contract.test_spreadsheets import write as write_spreadsheet
from tests.engine.einvoices import samples
from tests.engine.paint.test_form_fields import FIELDS, made
from tests.images import encode, plain
from workers.engine.einvoices.files import write_invoice
from workers.engine.einvoices.profiles import PROFILES
from workers.engine.einvoices.records import read_record
from workers.render.inspection import INSPECTORS, inspect

ROOT = Path(__file__).parents[2]
INVOICE = write_invoice(read_record(samples.full())[0], PROFILES["en16931"], "ubl")
FONT = ROOT / "tests" / "golden" / "fonts" / "brand-regular.ttf"
CALLS = {
    operation["operationId"]: operation["x-codeSamples"][0]["source"]
    for methods in describe_api()["paths"].values()
    for operation in methods.values()
}
# In a browser only: sign-in by the provider, cookies, and links of mails (tests/webhooks/test_links.py).
BROWSER = {
    "readLinkedFile",
    "describeSignIn", "beginSignIn", "finishSignIn", "openSession", "readSession", "endSession",
}  # fmt: skip


@pytest.fixture
def database_url(sqlite_url):
    return sqlite_url


OPERATOR = "operator-key-of-32-letters-or-more"


@pytest.fixture
def port(settings, tmp_path):
    with running_front(settings, tmp_path, PRESSROOM_ADMIN_KEYS=OPERATOR) as front:
        yield front.port


@pytest.fixture
def shell(port, account, tmp_path):
    """Return a function that runs the call of an operation with values, and the body of FILE."""

    def run(operation, body=None, /, *, credential=account.api_key, **values):
        call = CALLS[operation]
        if body is not None:
            sent = body if isinstance(body, bytes) else json.dumps(body).encode()
            (tmp_path / "FILE").write_bytes(sent)
            call = re.sub(r"--data-binary ('[^']*'|@FILE)", "--data-binary @FILE", call)
        for placeholder in re.findall(r"{([\w-]+)}", call):
            call = call.replace(f"{{{placeholder}}}", values[placeholder])
        environment = {
            "PATH": os.environ["PATH"],
            "PRESSROOM_URL": f"http://127.0.0.1:{port}",
            "PRESSROOM_KEY": credential,
        }
        done = subprocess.run(
            ["sh", "-c", call.replace("curl", "curl -sS --fail-with-body", 1)],
            check=False,
            cwd=tmp_path,
            env=environment,
            capture_output=True,
        )
        return done.returncode, done.stdout

    return run


@pytest.mark.long
def test_every_documented_call_runs(account, caller, worker, slices, shell, tmp_path, database):
    ran = set()

    def run(operation: str, body: bytes | dict | None = None, /, **values: str):
        ran.add(operation)
        code, out = shell(operation, body, **values)
        assert code == 0, (operation, out)
        is_json = out[:1] in (b"{", b"[") and operation != "reportAllUsage"  # a line an account
        return json.loads(out) if is_json else out

    def administer(operation: str, body: dict | None = None, /, **values: str):
        return run(operation, body, credential=OPERATOR, **values)

    assert account.account_id in run("checkKey")["status"]
    template = run("createTemplate", b"<document/>", name="Letter")["id"]
    own = {"template": template, "template_id": template}
    assert run("readTemplate", **own)["content"] == "<document/>"
    assert len(run("listTemplates")["templates"]) == 1
    run("replaceContent", b"<document/>", **own)
    assert run("renameTemplate", {"name": "Note"}, **own)["name"] == "Note"
    worker.answer = lambda job: JobOutcome(
        job.id, OutcomeStatus.SUCCEEDED, findings={"valid": True, "errors": [], "warnings": []}
    )
    assert run("validate", b"<document/>")["valid"]
    assert run("preview", {"template": template})
    worker.answer = worker.succeed
    run("renderPdf", b"<document/>")
    run("showInvoice", INVOICE)
    assert worker.jobs[-1].template.template_id == "service-received-invoice"
    assert (tmp_path / "document.pdf").read_bytes() == worker.pdf
    batch = {"batch_id": run("createBatch", b"{}\n", **own)["id"]}
    slices.work_off()
    assert run("readBatch", **batch)["status"] == "finished"
    job = {"job_id": run("listBatchItems", **batch)["items"][0]["job_id"]}
    assert run("readJob", **job)["status"] == "succeeded"
    run("readJobPdf", **job)
    assert (tmp_path / "document.pdf").read_bytes().startswith(b"%PDF")
    assert len(run("listBatches")["batches"]) == 1
    assert run("readRunAccount", **batch)["delivered"] == 1
    assert run("putPlan", {"sort": ["to.zip"]}, plan="letters")["version"] == 1
    assert run("listPlans")["plans"] == [run("readPlan", plan="letters")]
    tag = {"plan": "letters", "tag": "released"}
    assert run("tagPlan", {"version": 1}, **tag)["tag"] == "released"
    run("untagPlan", **tag)
    caller.put("/v2/plans/held", json={"hold": {"proof": 1}})
    body = b'{"n": 1}\n{"n": 2}\n'
    held = {"batch_id": accept(caller, template, body, output="merged", query="&plan=held")}
    slices.work_off()
    assert run("rejectDocuments", {"documents": [0]}, **held)["rejected"] == 1
    assert run("releaseDocuments", {}, **held)["held"] == 0
    assert run("reprintDocuments", {"documents": [1]}, **held)["number"] == 1
    run("cancelBatch", **held)
    run("deletePlan", plan="held")
    run("deletePlan", plan="letters")
    run("cancelBatch", **batch)
    assert run("listJobs")["jobs"] == []  # of accepted renders alone
    assert run("putTemplateCases", b"PK\x03\x04", **own)["bytes"] == 4
    run("readTemplateCases", **own)
    assert run("putTemplateCases", b"", **own)["bytes"] == 0
    assert run("publishVersion", {"message": "First"}, **own)["version"] == 1
    assert len(run("listVersions", **own)["versions"]) == 1
    assert run("readVersion", **own, version="1")["content"].endswith("<document/>")
    second = run("createKey", {"name": "Second", "scopes": ["templates"]})
    approval = run("approveVersion", {}, **own, version="1", credential=second["key"])
    assert [each["key_id"] for each in approval["approvals"]] == [second["id"]]
    run("revokeKey", key_id=second["id"])
    assert run("setTag", {"version": 1}, **own, tag="stable")["version"] == 1
    assert run("listTags", **own)["tags"][0]["tag"] == "stable"
    assert run("readTag", **own, tag="stable")["version"] == 1
    assert run("removeTag", **own, tag="stable")["removed"]
    assert len(run("readTagHistory", **own, tag="stable")["events"]) == 2
    assert run("assignSlug", {"slug": "letter", "template": template})["template_id"] == template
    assert len(run("listSlugs")["slugs"]) == 1
    assert not run("checkSlug", slug="letter")["available"]
    run("releaseSlug", slug="letter")
    assert run("listDependents", **own)["templates"] == []
    run("deleteTemplate", **own)
    worker.answer = lambda job: inspect(job, worker.claims.load(job.body), INSPECTORS)
    checked = run("checkInvoice", INVOICE)
    assert (checked["syntax"], checked["number"]) == ("ubl", "2026-0042")
    assert run("extractForm", made(FIELDS))["fields"][0]["value"] == "Ada"
    assert run("convertSpreadsheet", write_spreadsheet([["number"], [1]])) == b"number\n1\n"
    picture = encode("PNG", plain(size=(200, 200)))
    assert run("putImage", picture, name="logo")["width"] == 200
    data = {"name": "again", "data": base64.b64encode(picture).decode()}
    assert run("postImage", data)["height"] == 200
    assert run("readImage", name="logo")["name"] == "logo"
    run("deleteImage", name="logo")
    assert run("listImages")["usage"]["count"] == 1
    assert run("putFont", FONT.read_bytes(), name="brand")["format"] == "truetype"
    data = {"name": "again", "data": base64.b64encode(FONT.read_bytes()).decode()}
    assert run("postFont", data)["name"] == "again"
    assert run("readFont", name="brand")["faces"][0]["family"] == "Brand 400"
    run("deleteFont", name="brand")
    assert run("listFonts")["usage"]["count"] == 1
    webhook = {"webhook_id": run("createWebhook", {"url": "https://93.184.216.34/hook"})["id"]}
    assert len(run("listWebhooks")["webhooks"]) == 1
    assert run("readWebhook", **webhook)["id"] == webhook["webhook_id"]
    assert run("rotateWebhookSecret", **webhook)["secret"].startswith("whsec_")
    assert run("testWebhook", **webhook)["event"] == "webhook.test"
    assert len(run("listDeliveries", **webhook)["deliveries"]) == 1
    run("deleteWebhook", **webhook)
    added = run("createDestination", {"url": "https://93.184.216.34/in", "secret": "Bearer x"})
    destination = {"destination_id": added["id"]}
    assert run("listDestinations")["destinations"] == [run("readDestination", **destination)]
    tested = run("testDestination", **destination)
    with database.session() as session:
        session.execute(update(webhook_deliveries).values(status="failed"))
    delivery = {"delivery_id": tested["id"]}
    assert run("redeliver", **delivery)["status"] == "pending"
    assert len(run("listAccountDeliveries")["deliveries"]) == 1
    run("deleteDestination", **destination)
    assert run("eraseSubject", key="customer-4711")["jobs"] == 0
    assert run("reportUsage")["apiCalls"] == 5
    assert "days" in run("reportUsageByDay")
    assert "templates" in run("reportUsageByTemplate")
    assert "cpuSeconds" in run("reportCosts")
    assert run("readAccount")["id"] == account.account_id
    key = run("createKey", {"name": "Shop", "scopes": ["render"]})
    keys = [each["id"] for each in run("listKeys")["keys"]]
    assert sorted(keys) == sorted([account.key_id, second["id"], key["id"]])
    run("revokeKey", key_id=key["id"])
    assert run("readAuditLog")["entries"][0]["action"] == "key.revoked"
    new = {"accounts": [{"email": "bo@example.org"}]}
    other = {"account_id": administer("createAccounts", new)["accounts"][0]["id"]}
    assert len(administer("listAccounts")["accounts"]) == 3  # one has the public templates
    assert administer("readAnyAccount", **other)["id"] == other["account_id"]
    key = administer("createAccountKey", {"name": "Shop"}, **other)["id"]
    administer("revokeAccountKey", **other, key_id=key)
    assert administer("changeAccount", {"disabled": True}, **other)["is_disabled"]
    administer("deleteAccount", **other)
    assert account.account_id.encode() in administer("reportAllUsage")
    assert not administer("changeQueue", {"is_drained": False}, queue="batch")["is_drained"]
    assert administer("readStatus")["healthy"]
    page = run("openStudio").decode()
    run("readStudioFile", file=re.search(r'src="/studio/([^"]+)"', page)[1])
    assert run("listDocumentation")["pages"]
    assert run("readDocumentationFile", name="td.png")
    assert run("tellAlive")["status"] == "alive"
    assert run("tellReady")["status"] == "ready"
    assert b"pressroom_http_requests_total" in run("writeMetrics")
    assert run("describe")["info"]["version"] == "2.0.0"
    run("readStart")
    assert b"</html>" in run("readDescription")
    assert set(CALLS) - ran - BROWSER == {
        "deleteJob", "readBatchResult", "readRunFile", "readRunIndex",
    }  # fmt: skip


def test_a_rejected_call_shows_the_error_body_and_fails(shell):
    code, out = shell("checkKey", credential="wrong")
    assert code != 0
    assert json.loads(out)["statusCode"] == 401
