"""Clients that others' generators make of the description: every operation, and calls that work."""

from __future__ import annotations

import importlib
import json
import os
import shutil
import subprocess
import sys
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from api.app import describe_api

ROOT = Path(__file__).parents[3]
TYPESCRIPT = Path(__file__).with_name("openapi")
NAME = "pressroom_generated_client"
LETTER = b"<document><flow><p>Generated</p></flow></document>"


@pytest.fixture(scope="module")
def description(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("description") / "openapi.json"
    path.write_text(json.dumps(describe_api()))
    return path


@pytest.fixture(scope="module")
def generated(description: Path) -> Path:
    """Generate the Python client as the configuration file says and return its package's folder."""
    package = description.with_name(NAME)
    done = subprocess.run(
        [
            str(Path(sys.executable).with_name("openapi-python-client")),
            *("generate", "--path", str(description), "--output-path", str(package)),
            *("--meta", "none", "--config", "deploy/client/openapi-python-client.yaml"),
        ],
        cwd=ROOT,
        env={"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stdout + done.stderr
    return package


def test_every_operation_is_generated_for_python(generated: Path) -> None:
    modules = [path for path in generated.glob("api/*/*.py") if path.name != "__init__.py"]
    operations = [each for methods in describe_api()["paths"].values() for each in methods]
    assert len(modules) == len(operations)


def test_the_generated_python_client_works(generated: Path, farm, account, monkeypatch) -> None:
    monkeypatch.syspath_prepend(str(generated.parent))
    client = importlib.import_module(NAME).AuthenticatedClient(
        base_url=farm.record.url, token=account.api_key
    )
    payload = importlib.import_module(f"{NAME}.types").File(payload=BytesIO(LETTER))

    def call(module: str, **options: Any) -> Any:
        answer = importlib.import_module(f"{NAME}.api.{module}").sync_detailed(
            client=client, **options
        )
        assert answer.status_code < 300, answer.content
        return answer.parsed

    with client:
        assert account.id in call("account.check_key").status
        assert call("rendering.render_pdf", body=payload).payload.read().startswith(b"%PDF-")
        payload.payload.seek(0)
        made = call("templates.create_template", body=payload, name="generated")
        assert call("templates.read_template", template=made.id).name == "generated"
        assert [each.id for each in call("templates.list_templates").templates] == [made.id]
        assert call("batches.read_batch", batch_id=start_batch(account, made.id)).total == 1
        refused = importlib.import_module(f"{NAME}.api.templates.read_template").sync_detailed(
            client=client, template="nosuchtemplatenosuch"
        )
        assert refused.status_code == 404
        assert "nosuchtemplate" in refused.parsed.message


def start_batch(account, template: str) -> str:
    headers = {"Content-Type": "application/x-ndjson"}
    path = f"/v2/batches?template={template}"
    answer = account.request("POST", path, b"{}\n", headers=headers)
    return str(answer.json["id"])


@pytest.fixture(scope="module")
def node_tools(description: Path, tmp_path_factory) -> Path:
    """Install the tools of `openapi/package-lock.json` beside the description; return the folder."""
    folder = tmp_path_factory.mktemp("openapi")
    for file in TYPESCRIPT.iterdir():
        shutil.copy(file, folder)
    shutil.copy(description, folder)
    run(folder, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--silent")
    return folder


def run(folder: Path, *command: str) -> None:
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "REDOCLY_TELEMETRY": "off", "REDOCLY_SUPPRESS_UPDATE_NOTICE": "true"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_types_for_typescript_are_generated_and_compile(node_tools: Path) -> None:
    run(node_tools, "npx", "openapi-typescript", "openapi.json", "--output", "schema.d.ts")
    run(node_tools, "npx", "tsc")


def test_linters_find_no_error_in_the_description(node_tools: Path) -> None:
    run(node_tools, "npx", "redocly", "lint", "openapi.json")
    run(node_tools, "npx", "spectral", "lint", "openapi.json")
