"""`make setup` finds a Python to make the environment with."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "deploy/setup/make-venv.sh"
# A substitute for an interpreter: asked whether it is new enough, whether it has ensurepip, which package
# would bring that, and to make an environment.
STAND_IN = """#!/bin/sh
case "$2" in
    *version_info\\ \\<*) exit {too_old} ;;
    *ensurepip*) exit {is_bare} ;;
    *python3.%d-venv*) echo python3.99-venv ;;
    venv) mkdir -p "$3" && basename "$0" > "$3/made-by" ;;
esac
"""


@pytest.fixture
def interpreter(tmp_path):
    def make(name, *, too_old=False, is_bare=False):
        path = tmp_path / name
        path.write_text(STAND_IN.format(too_old=int(too_old), is_bare=int(is_bare)))
        path.chmod(0o755)
        return path

    return make


@pytest.fixture
def make_venv(tmp_path):
    tools = tmp_path / "tools"
    tools.mkdir()
    for tool in ("sh", "id", "basename", "mkdir"):
        (tools / tool).symlink_to(shutil.which(tool))

    def run(*interpreters):
        return subprocess.run(
            ["/bin/sh", SCRIPT, tmp_path / "venv"],
            env={"PATH": str(tools), "PYTHON": " ".join(map(str, interpreters))},
            capture_output=True,
            text=True,
            check=False,
        )

    return run


def test_the_first_interpreter_that_can_makes_the_environment(make_venv, interpreter, tmp_path):
    old, bare = interpreter("old", too_old=True), interpreter("bare", is_bare=True)
    done = make_venv(tmp_path / "missing", old, bare, interpreter("good"), interpreter("other"))
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "venv/made-by").read_text() == "good\n"


def test_an_old_interpreter_is_an_error_that_explains_how_to_choose_one(make_venv, interpreter):
    done = make_venv(interpreter("old", too_old=True))
    assert done.returncode == 1
    assert "Python 3.11 or newer is needed" in done.stderr
    assert "PYTHON=" in done.stderr


def test_without_the_venv_package_the_error_names_it(make_venv, interpreter):
    bare = interpreter("bare", is_bare=True)
    done = make_venv(bare)
    assert done.returncode == 1
    assert f"{bare} cannot make virtual environments" in done.stderr
    assert "python3.99-venv" in done.stderr


@pytest.mark.long
def test_the_python_of_the_distribution_comes_before_others(tmp_path):
    own = Path("/usr/bin/python3")
    suits = "import sys, ensurepip; sys.exit(sys.version_info < (3, 11))"
    is_suited = own.exists() and not subprocess.run([own, "-c", suits], check=False).returncode
    environment = {name: value for name, value in os.environ.items() if name != "PYTHON"}
    command = ["/bin/sh", SCRIPT, tmp_path / "venv"]
    subprocess.run(command, env=environment, check=True, capture_output=True)
    home = (tmp_path / "venv/pyvenv.cfg").read_text().splitlines()[0]
    assert (home == "home = /usr/bin") == is_suited
