"""What the README shows of the client and the command does what it says."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import zipfile
from pathlib import Path

import pikepdf

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()


def test_the_python_of_the_readme_runs(farm, account, tmp_path) -> None:
    (program,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    program = program.replace("http://127.0.0.1:8000", farm.record.url)
    program = program.replace("pr_…", account.api_key).replace("range(1000)", "range(40)")
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "40 of 40" in done.stdout
    assert (tmp_path / "invoice.pdf").read_bytes().startswith(b"%PDF")
    with zipfile.ZipFile(tmp_path / "invoices.zip") as archive:
        assert sum(name.endswith(".pdf") for name in archive.namelist()) == 40


def test_the_batch_command_of_the_readme_runs(farm, account, tmp_path) -> None:
    lines = [json.dumps({"number": f"2026-{number:04}"}) for number in range(20)]
    (tmp_path / "invoices.ndjson").write_text("\n".join(lines))
    (command,) = re.findall(r"^\.venv/bin/pressroom (batch [^#]+)", README, re.MULTILINE)
    subprocess.run(
        [sys.executable, "-m", "deploy.cli.main", *shlex.split(command)],
        cwd=tmp_path,
        env={
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(ROOT),
            "PRESSROOM_URL": farm.record.url,
            "PRESSROOM_KEY": account.api_key,
        },
        check=True,
    )
    with pikepdf.open(tmp_path / "invoices.pdf") as pdf, pdf.open_outline() as outline:
        assert len(pdf.pages) == len(outline.root) == 20
