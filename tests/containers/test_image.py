"""The image as its Dockerfile builds it: its bytecode, and what the import of a front costs."""

import pytest

from tests.containers import podman
from tests.containers.conftest import LINES

pytestmark = [pytest.mark.services, pytest.mark.long]

IMPORT_SECONDS = 1.2  # of CPU: twice what is asked for, since others may be at work on the machine
IMPORT = "import time; t = time.process_time(); import api.app; print(time.process_time() - t)"
# Flag 1 of a .pyc file: by the hash of its source, which is not compared (PEP 552).
UNCOMPILED = """
import importlib.util, pathlib, sys
import api.app, workers.farm.main
for module in list(sys.modules.values()):
    source = getattr(module, "__file__", None) or ""
    if source.startswith("/opt/pressroom/") and source.endswith(".py"):
        compiled = pathlib.Path(importlib.util.cache_from_source(source))
        if not compiled.exists() or compiled.read_bytes()[4:8] != bytes([1, 0, 0, 0]):
            print(source)
"""


def in_image(image, *command):
    return podman.run("podman", "run", "--rm", "--network=none", "--read-only", image, *command)


def test_no_start_of_the_image_compiles_a_module_whatever_its_dates(image):
    assert in_image(image, "python", "-c", UNCOMPILED) == ""
    said = in_image(image, "sh", "-c", "python -v -c 'import api.app' 2>&1").splitlines()
    loaded = [line for line in said if line.startswith("# code object from ")]
    assert len(loaded) > 500
    assert [line for line in loaded if ".pyc" not in line] == []


def test_the_front_is_imported_in_little_time(image):
    seconds = min(float(in_image(image, "python", "-c", IMPORT)) for _ in range(3))
    LINES.append(f"import api.app in the image: {seconds:.2f} s of CPU")
    assert seconds <= IMPORT_SECONDS
