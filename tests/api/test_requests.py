"""The request files of deploy/requests run unchanged, one for each endpoint."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import zipfile
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image

from api.app import create_app
from shared.jobs import JobOutcome, OutcomeStatus
from shared.queue.names import BATCH
from tests.engine.einvoices import samples
from tests.engine.paint.test_form_fields import FIELDS, made
from workers.engine.einvoices.files import write_invoice
from workers.engine.einvoices.profiles import PROFILES
from workers.engine.einvoices.records import read_record
from workers.render.inspection import INSPECTORS, inspect

ROOT = Path(__file__).parents[2]
ENDPOINTS = ROOT / "deploy/docs/api.md"
REQUESTS = ROOT / "deploy/requests"
INVOICE = write_invoice(read_record(samples.full())[0], PROFILES["en16931"], "ubl")
FONT = str(ROOT / "tests" / "golden" / "fonts" / "brand-regular.ttf")


@pytest.fixture
def database_url(sqlite_url):
    return sqlite_url


@pytest.fixture
def settings(settings, open_fetcher_url):
    """Allow images to be fetched from this machine."""
    return settings.model_copy(update={"fetcher_url": open_fetcher_url})


@pytest.mark.long
@pytest.mark.parametrize(
    ("suffix", "program"), [(".sh", []), (".py", [sys.executable])], ids=["sh", "py"]
)
def test_every_request_runs(port, account, worker, slices, serve, tmp_path, suffix, program):
    (tmp_path / "t.xml").write_text("<document/>")
    (tmp_path / "d.json").write_text("{}")
    (tmp_path / "r.csv").write_text("a\n1\n")
    (tmp_path / "m.md").write_text("# Hi")
    picture = BytesIO()
    Image.new("RGB", (200, 200)).save(picture, "PNG")
    (tmp_path / "p.png").write_bytes(picture.getvalue())
    ran = set()

    def run(name: str, *args: str) -> bytes:
        ran.add(f"{name}{suffix}")
        environment = {
            "PATH": os.environ["PATH"],
            "PRESSROOM_URL": f"http://127.0.0.1:{port}",
            "PRESSROOM_KEY": account.api_key,
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        done = subprocess.run(
            [*program, REQUESTS / f"{name}{suffix}", *args],
            check=False,
            cwd=tmp_path,
            env=environment,
            capture_output=True,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    assert account.account_id in json.loads(run("authcheck"))["status"]
    template = json.loads(run("template-create", "Letter", "t.xml"))["id"]
    assert json.loads(run("template-read", template))["content"] == "<document/>"
    assert len(json.loads(run("template-list"))["templates"]) == 1
    run("template-replace", template, "t.xml")
    assert json.loads(run("template-rename", template, "Note"))["name"] == "Note"
    worker.answer = lambda job: JobOutcome(
        job.id, OutcomeStatus.SUCCEEDED, findings={"valid": True, "errors": [], "warnings": []}
    )
    assert json.loads(run("validate", "d.json", template))["valid"]
    assert json.loads(run("validate", "t.xml"))["valid"]
    sources = {".sh": (template, "d.json"), ".py": ("t.xml", "d.json")}
    assert json.loads(run("preview", *sources[suffix]))
    worker.answer = worker.succeed
    for name, args in (
        ("render-xml", ("t.xml",)),
        ("render-json", (template, "d.json")),
        ("render-csv", (template, "r.csv")),
        ("render-markdown", (template, "m.md")),
    ):
        run(name, *args)
        assert (tmp_path / "document.pdf").read_bytes() == worker.pdf
    job = json.loads(run("render-async", "t.xml", "key-1"))["id"]
    assert json.loads(run("render-async", "t.xml", "key-1"))["id"] == job
    worker.queues.append(BATCH)
    assert json.loads(run("job-read", job))["status"] == "succeeded"
    assert json.loads(run("job-list", "succeeded"))["jobs"][0]["id"] == job
    worker.consume(*(name for name in worker.queues if name != BATCH))
    (tmp_path / "document.pdf").unlink()
    run("job-pdf", job)
    assert (tmp_path / "document.pdf").read_bytes() == worker.pdf
    run("job-delete", job)
    (tmp_path / "rows.ndjson").write_text("{}\n")
    (tmp_path / "rows.json").write_text("[{}]")
    for data in ("r.csv", "rows.json", "rows.ndjson"):
        batch = json.loads(run("batch-create", template, data))["id"]
        slices.work_off()
        assert json.loads(run("batch-read", batch))["status"] == "finished"
        assert len(json.loads(run("batch-items", batch))["items"]) == 1
        run("batch-result", batch, "batch.zip")
        assert zipfile.ZipFile(tmp_path / "batch.zip").testzip() is None
    assert len(json.loads(run("batch-list", "finished"))["batches"]) == 3
    run("batch-cancel", json.loads(run("batch-create", template, data, "merged"))["id"])
    assert json.loads(run("version-publish", template, "First"))["version"] == 1
    assert len(json.loads(run("version-list", template))["versions"]) == 1
    assert json.loads(run("version-read", template, "1"))["content"].endswith("<document/>")
    assert json.loads(run("tag-set", template, "stable", "1"))["version"] == 1
    assert json.loads(run("tag-list", template))["tags"][0]["tag"] == "stable"
    assert json.loads(run("tag-read", template, "stable"))["version"] == 1
    assert json.loads(run("tag-remove", template, "stable"))["removed"]
    assert len(json.loads(run("tag-history", template, "stable"))["events"]) == 2
    assert json.loads(run("slug-assign", "letter", template))["template_id"] == template
    assert len(json.loads(run("slug-list"))["slugs"]) == 1
    assert not json.loads(run("slug-check", "letter"))["available"]
    run("slug-release", "letter")
    assert json.loads(run("template-dependents", template))["templates"] == []
    run("template-delete", template)
    worker.answer = lambda job: inspect(job, worker.claims.load(job.body), INSPECTORS)
    (tmp_path / "i.xml").write_bytes(INVOICE)
    checked = json.loads(run("invoice-check", "i.xml"))
    assert (checked["valid"], checked["syntax"], checked["number"]) == (True, "ubl", "2026-0042")
    (tmp_path / "f.pdf").write_bytes(made(FIELDS))
    assert json.loads(run("form-extract", "f.pdf"))["fields"][0]["value"] == "Ada"
    assert json.loads(run("image-put", "logo", "p.png"))["width"] == 200
    assert json.loads(run("image-post", "again", "p.png"))["height"] == 200
    found = b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + picture.getvalue()
    fetched = run("image-fetch", "logo", serve(found).url("/logo.png"))
    assert json.loads(fetched)["width"] == 200
    assert json.loads(run("image-read", "logo"))["name"] == "logo"
    run("image-delete", "logo")
    assert json.loads(run("image-list"))["usage"]["count"] == 1
    assert json.loads(run("font-put", "brand", FONT))["format"] == "truetype"
    assert json.loads(run("font-post", "again", FONT))["name"] == "again"
    assert json.loads(run("font-read", "brand"))["faces"][0]["family"] == "Brand 400"
    run("font-delete", "brand")
    assert json.loads(run("font-list"))["usage"]["count"] == 1
    webhook = json.loads(run("webhook-create", "https://93.184.216.34/hook"))["id"]
    assert len(json.loads(run("webhook-list"))["webhooks"]) == 1
    assert json.loads(run("webhook-read", webhook))["id"] == webhook
    assert json.loads(run("webhook-rotate", webhook))["secret"].startswith("whsec_")
    assert json.loads(run("webhook-test", webhook))["event"] == "webhook.test"
    assert len(json.loads(run("webhook-deliveries", webhook))["deliveries"]) == 1
    run("webhook-delete", webhook)
    assert json.loads(run("usage"))["apiCalls"] == 8
    assert json.loads(run("usage", "2026-01-01"))["apiCalls"] == 0
    assert (
        json.loads(run("usage-days"))["days"][0]["apiCalls"] == 1
    )  # of the batch; the stream is not read here
    assert json.loads(run("usage-templates"))["templates"][0]["apiCalls"] == 1
    assert json.loads(run("account"))["id"] == account.account_id
    key = json.loads(run("key-create", "Shop", "render"))
    assert key["scopes"] == ["render"]
    assert [each["id"] for each in json.loads(run("key-list"))["keys"]] == [
        account.key_id,
        key["id"],
    ]
    run("key-revoke", key["id"])
    assert "expires_at" in json.loads(run("session"))
    studio = run("studio")
    assert b"preact" in studio
    assert b'"provider":null' in studio.replace(b" ", b"")
    assert "</html>" in (tmp_path / "studio.html").read_text()
    assert b"pressroom_http_requests_total" in run("health")
    assert json.loads(run("docs"))["info"]["version"] == "2.0.0"
    assert "</html>" in (tmp_path / "docs.html").read_text()
    assert ran == {path.name for path in REQUESTS.glob(f"*{suffix}")} - {"client.py"}


@pytest.mark.parametrize(
    ("suffix", "program"), [(".sh", []), (".py", [sys.executable])], ids=["sh", "py"]
)
def test_a_rejected_request_shows_the_error_body_and_fails(port, tmp_path, suffix, program):
    done = subprocess.run(
        [*program, REQUESTS / f"authcheck{suffix}"],
        check=False,
        cwd=tmp_path,
        env={
            "PATH": os.environ["PATH"],
            "PRESSROOM_URL": f"http://127.0.0.1:{port}",
            "PRESSROOM_KEY": "wrong",
            "PYTHONDONTWRITEBYTECODE": "1",
        },
        capture_output=True,
    )
    assert done.returncode != 0
    assert b'"statusCode"' in done.stdout + done.stderr


def test_the_page_of_calls_lists_every_route_with_a_request_that_is_there(ports):
    rows = re.findall(r"^\| `(\w+) (/\S*)` \| .+ \| (.+) \|$", ENDPOINTS.read_text(), re.MULTILINE)
    told = {(method, re.sub(r"{\w+}", "{}", path)) for method, path, _ in rows}
    routes = {
        (method, re.sub(r"<[\w:]+>", "{}", rule.rule))
        for rule in create_app(ports).url_map.iter_rules()
        for method in rule.methods - {"HEAD", "OPTIONS"}
    }
    assert told == routes
    for *_, requests in rows:
        linked = re.findall(
            r"`([\w-]+)` \[sh\]\(\.\./requests/\1\.sh\) \[py\]\(\.\./requests/\1\.py\)", requests
        )
        assert linked
        assert requests.count("](") == 2 * len(linked)
        for name in linked:
            assert (REQUESTS / f"{name}.sh").is_file()
            assert (REQUESTS / f"{name}.py").is_file()


@pytest.mark.parametrize("suffix", [".sh", ".py"])
def test_every_route_has_its_request(ports, suffix):
    told = "".join(path.read_text() for path in REQUESTS.glob(f"*{suffix}"))
    for rule in create_app(ports).url_map.iter_rules():
        for part in re.split(r"<[\w:]+>", rule.rule):
            assert part in told
