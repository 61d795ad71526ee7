"""Security settings of libraries, asserted at every start."""

from __future__ import annotations

from typing import Final

import PIL
import reportlab
from PIL import Image
from reportlab import rl_config

# Older versions run code or corrupt memory on known documents.
_LEAST_PILLOW: Final = (13, 0)
_LEAST_REPORTLAB: Final = (5, 1)
# CVE-2023-33733: every other evaluator of colour expressions executes code from the document.
_LITERAL_ONLY: Final = "rl_extended_literal_eval"


class UnsafeLibraryError(Exception):
    """A library version or setting that hostile documents could exploit."""


def assert_safe_libraries() -> None:
    """Check the library settings on which the safety of rendering depends.

    Raises:
        UnsafeLibraryError: A version or setting is unsafe; the message names it, its value and
            what is expected.
    """
    _assert_version("Pillow", PIL.__version__, _LEAST_PILLOW)
    _assert_version("ReportLab", reportlab.Version, _LEAST_REPORTLAB)
    if rl_config.toColorCanUse != _LITERAL_ONLY:
        raise UnsafeLibraryError(
            f"ReportLab evaluates colours by {rl_config.toColorCanUse!r}, expected {_LITERAL_ONLY!r}"
        )
    if Image.MAX_IMAGE_PIXELS is None:
        raise UnsafeLibraryError("Pillow decodes images of any size: MAX_IMAGE_PIXELS is None")


def _assert_version(name: str, version: str, least: tuple[int, int]) -> None:
    major, minor = (int(part) for part in version.split(".")[:2])
    if (major, minor) < least:
        raise UnsafeLibraryError(
            f"{name} {version} is installed, at least {least[0]}.{least[1]} is needed"
        )
