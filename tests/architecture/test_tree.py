"""The tree keeps its shape: what lies where, what is described, how long a file may grow."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from shared.settings import Settings

ROOT = Path(__file__).parents[2]
PACKAGES = ("api", "workers", "shared", "deploy")
TOP_LEVEL = {
    *("pyproject.toml", "README.md", "Makefile", "api", "workers", "shared", "deploy", "tests"),
    *("requirements.lock", "requirements-dev.lock", "requirements-sign.lock"),
}
LONGEST_FILE = 750


def tracked_files():
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return [Path(name) for name in listed.stdout.split("\0") if name and (ROOT / name).exists()]


def modules():
    return [file for file in tracked_files() if file.suffix == ".py" and file.parts[0] in PACKAGES]


def make_targets():
    return set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))


def test_the_top_folder_has_only_expected_files():
    found = {file.parts[0] for file in tracked_files() if not file.parts[0].startswith(".")}
    assert found <= TOP_LEVEL


@pytest.mark.long
def test_the_import_contracts_hold():
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout[-4000:] + ended.stderr[-2000:]


@pytest.mark.parametrize("page", ["README.md", "deploy/docs/run.md", "deploy/docs/upgrade.md"])
def test_every_make_command_of_a_page_is_a_target(page):
    text = (ROOT / page).read_text()
    named = set(re.findall(r"(?:`|^)make ([a-z-]+)", text, re.MULTILINE))
    assert named
    assert named <= make_targets()


def test_every_target_has_a_description():
    told = set(re.findall(r"^([a-z-]+):[^\n]*## \S", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert told == make_targets()


@pytest.mark.parametrize("field", sorted(Settings.model_fields))
def test_every_setting_is_documented(field):
    assert f"`PRESSROOM_{field.upper()}`" in (ROOT / "deploy/docs/settings.md").read_text()


@pytest.mark.long
def test_every_module_has_a_docstring():
    silent = [
        str(file)
        for file in modules()
        if not ast.get_docstring(ast.parse((ROOT / file).read_text()))
        and "versions" not in file.parts
    ]
    assert silent == []


def test_no_file_is_longer_than_a_reader_bears():
    lengths = {file: (ROOT / file).read_text().count("\n") for file in modules()}
    assert {str(file): lines for file, lines in lengths.items() if lines > LONGEST_FILE} == {}
