"""Location of the package pressroom-fonts: fonts and dictionaries of further scripts, if installed."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from importlib.util import find_spec
from typing import Final

PACKAGE: Final = "pressroom_fonts"  # deploy/tools/fonts


@cache
def find_extra_fonts() -> Traversable | None:
    """Return the folder of the package, None where it is not installed."""
    return None if find_spec(PACKAGE) is None else files(PACKAGE)
