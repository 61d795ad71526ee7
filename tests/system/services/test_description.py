"""Requests made from the OpenAPI description find nothing that it does not tell (schemathesis.toml)."""

import subprocess
import sys
from pathlib import Path

from tests.system.services.conftest import OPERATOR_KEY

LIMIT_SECONDS = 400  # 50 s on two quiet cores


ADMIN = "^/v2/admin/"


def test_requests_made_from_the_description_get_the_described_responses(farm, account, tmp_path):
    make_requests(farm, account.api_key, tmp_path, "--exclude-path-regex", ADMIN)


def test_requests_of_an_operator_get_the_described_responses(farm, tmp_path):
    make_requests(farm, OPERATOR_KEY, tmp_path, "--include-path-regex", ADMIN)


def make_requests(farm, key, folder, *selection):
    address = f"http://127.0.0.1:{farm.record.ports['front']}/docs/openapi.json"
    command = [str(Path(sys.executable).with_name("schemathesis"))]
    command += ["--config-file", str(Path(__file__).with_name("schemathesis.toml"))]
    command += ["run", address, "--checks", "all", *selection]
    # In both, since it makes a key of its own for the header that has none: two keys are a 400.
    command += ["--header", f"Authorization: Bearer {key}", "--header", f"x-api-key: {key}"]
    ended = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=LIMIT_SECONDS, check=False
    )
    assert ended.returncode == 0, ended.stdout[-20_000:] + ended.stderr[-2_000:]
    assert "No issues found" in ended.stdout
