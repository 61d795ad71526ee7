"""The ICC profile of a file: that of archives, or one that a file for print names, stored as pictures are."""

from __future__ import annotations

import io
from functools import cache, lru_cache
from typing import Final

from PIL import ImageCms

from workers.engine.diagnostics import Findings
from workers.engine.pdf_writer import compress
from workers.engine.ports import OutputIntent, Resources
from workers.engine.prepared_images import make_srgb_profile
from workers.engine.tree.document import Document

MEDIA_TYPE: Final = "application/vnd.iccprofile"
SUFFIXES: Final = (".icc", ".icm")
_MAX_VERSION: Final = 4  # of ICC, that PDF knows


def is_icc_profile(data: bytes) -> bool:
    """Return whether a file is an ICC profile (ICC.1:2010, 7.2)."""
    return data[36:40] == b"acsp"


def describe_profile(data: bytes) -> str:
    """Return the description of a profile of a CMYK printer.

    Raises:
        ValueError: it is none, with the reason.
    """
    if not is_icc_profile(data) or data[12:20] != b"prtrCMYK" or data[8] > _MAX_VERSION:
        raise ValueError("not an ICC profile of a CMYK printer, of version 2 or 4")
    try:
        profile = ImageCms.ImageCmsProfile(io.BytesIO(data))
        return ImageCms.getProfileDescription(profile).strip()
    except (OSError, ImageCms.PyCMSError) as error:
        raise ValueError("a damaged ICC profile") from error


@cache
def _make_archive_intent() -> OutputIntent:
    return OutputIntent(compress(make_srgb_profile()), "sRGB IEC61966-2.1")


@lru_cache(2)  # a press has one profile for a night of documents
def _make_output_intent(profile: bytes) -> OutputIntent:
    described = describe_profile(profile)
    return OutputIntent(compress(profile), described, compress(make_srgb_profile()))


def load_output_intent(
    document: Document, resources: Resources, findings: Findings
) -> OutputIntent | None:
    """Return the output intent of a document for print or an archive, None of any other or with an error."""
    name = document.output_intent
    if document.profiles.archive is not None:
        return _make_archive_intent()
    if document.profiles.print is None or name is None:
        return None
    data = resources.find_image(name)
    if data is None:
        message = f'The workspace holds no ICC profile named "{name}"; store it, or correct `output-intent`'
        findings.error("output-intent", message)
        return None
    try:
        return _make_output_intent(data)
    except ValueError as error:
        message = f'The output intent "{name}" is {error}; store the profile that the printer names'
        findings.error("output-intent", message)
        return None
