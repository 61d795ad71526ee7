"""The tree keeps its shape: what lies where, what is described, how long a file may grow."""

import ast
import re
import subprocess
import sys
import tomllib
from collections import defaultdict
from pathlib import Path

import pytest

from shared.settings import Settings

ROOT = Path(__file__).parents[2]
PACKAGES = ("api", "workers", "shared", "deploy")
TOP_LEVEL = {
    *("pyproject.toml", "README.md", "Makefile", "api", "workers", "shared", "deploy", "tests"),
    *("requirements.lock", "requirements-dev.lock"),
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


def test_every_module_of_a_feature_has_a_layer():
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    shared = next(each for each in contracts["contracts"] if each["id"] == "shared-layers")
    layered = {name.strip() for layer in shared["layers"] for name in layer.split("|")}
    of_features = {
        ".".join(file.with_suffix("").parts[1:3])
        for file in modules()
        if file.parts[0] == "shared" and file.parts[1] in shared["exhaustive_ignores"]
    }
    assert {name for name in of_features - layered if not name.endswith("__init__")} == set()


def test_every_target_has_a_description():
    told = set(re.findall(r"^([a-z-]+):[^\n]*## \S", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert told == make_targets()


@pytest.mark.parametrize("field", sorted(Settings.__dataclass_fields__))
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


def test_tests_replace_public_names_only():
    replaced = [
        f"{file}: {name}"
        for file in tracked_files()
        if file.suffix == ".py" and file.parts[0] == "tests"
        for name in re.findall(r"setattr\(\s*f?\"([\w.]+)\"", (ROOT / file).read_text())
        if any(re.match(r"_[A-Za-z]", part) for part in name.split("."))
    ]
    assert replaced == []


@pytest.mark.parametrize("package", ["api", "shared", "workers"])
def test_public_classes_of_a_package_have_different_names(package):
    places = defaultdict(list)
    for file in modules():
        # A transport of kombu is a module with these names.
        if file.parts[0] == package and not file.stem.endswith("_transport"):
            for node in ast.parse((ROOT / file).read_text()).body:
                if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                    places[node.name].append(str(file))
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def test_tests_of_whole_farms_stand_in_the_folders_that_make_runs():
    folders = re.search(r"^FARMS := (.+)$", (ROOT / "Makefile").read_text(), re.MULTILINE)[
        1
    ].split()
    marked = {
        "/".join(file.parts[:2])
        for file in tracked_files()
        if file.suffix == ".py"
        and file.parts[0] == "tests"
        and re.search(r"\bmark\.(system|faults)\b", (ROOT / file).read_text())
    }
    assert marked - {"tests/architecture"} == set(folders)
