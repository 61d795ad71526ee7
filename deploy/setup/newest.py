"""Run the unit tests with the newest versions that the bounds of pyproject.toml allow.

`python -m deploy.setup.newest`, with the interpreter of the locked environment. The newer versions
go into an environment of their own, over the locked one, which stays as it is.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import tomllib
import venv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
# The frameworks of the farm and the front.
NAMES: Final = (
    *("celery", "kombu", "billiard", "redis", "hiredis"),
    *("gunicorn", "gevent", "flask", "werkzeug", "prometheus-client"),
)
TESTS: Final = ("tests/api", "tests/shared", "tests/farm")
MARKS: Final = "not services and not system and not faults and not alone"
_NAME: Final = re.compile(r"[a-z0-9-]+")
_LIST_VERSIONS: Final = "import importlib.metadata as m, json, sys; print(json.dumps([m.version(n) for n in sys.argv[1:]]))"


def main() -> int:
    """Print the installed versions, run the tests, and return their exit status."""
    locked = find_versions(sys.executable)
    with tempfile.TemporaryDirectory() as folder:
        python = make_environment(Path(folder))
        install(python, read_bounds())
        newest = find_versions(python)
        for name in NAMES:
            is_newer = locked[name] != newest[name]
            print(f"{name} {newest[name]}{f', locked {locked[name]}' if is_newer else ''}")
        if newest == locked:
            print("the locked versions are the newest that the bounds allow: `make test` runs them")
            return 0
        print(flush=True)
        command = [python, "-m", "pytest", "-n", "2", "-m", MARKS, *TESTS]
        return subprocess.run(command, cwd=ROOT, check=False).returncode


def read_bounds() -> Sequence[str]:
    """Return the tested requirements of pyproject.toml with their bounds."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    found = {_NAME.match(text)[0]: text for text in project["dependencies"]}  # type: ignore[index]
    return [found[name] for name in NAMES]


def make_environment(folder: Path) -> str:
    """Create an environment with this one's packages as a fallback; return its Python."""
    venv.create(folder, with_pip=False, symlinks=True)
    [own] = folder.glob("lib/python*/site-packages")
    [behind] = Path(sys.prefix).glob("lib/python*/site-packages")
    # Not a plain path: the editable install of this project is a `.pth` of that folder.
    (own / "locked.pth").write_text(f"import site; site.addsitedir({str(behind)!r})\n")
    return str(folder / "bin/python")


def install(python: str, requirements: Sequence[str]) -> None:
    """Install the newest versions that the requirements allow.

    Raises:
        subprocess.CalledProcessError: they cannot be installed together.
    """
    options = ["--disable-pip-version-check", "--quiet", "--no-input", "--upgrade"]
    command = [python, "-m", "pip", "install", *options, *requirements]
    subprocess.run(command, check=True)


def find_versions(python: str) -> Mapping[str, str]:
    """Return the versions of the packages of an interpreter, by name."""
    command = [python, "-c", _LIST_VERSIONS, *NAMES]
    listed = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout
    return dict(zip(NAMES, json.loads(listed), strict=True))


if __name__ == "__main__":
    sys.exit(main())
