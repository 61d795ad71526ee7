"""Inspection of uploaded files by the code that renders use: what is accepted can be drawn."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from typing import Any, Final

from shared.errors import ErrorBody, ErrorKind
from shared.jobs import BodyKind, JobOutcome, OutcomeStatus, RenderJob
from shared.queue.commits import fail
from shared.telemetry.log import get_logger
from workers.engine.layout.fonts.facts import FaceFacts, FontRefusedError
from workers.engine.layout.fonts.rebuilding import inspect_font as read_font_facts
from workers.engine.layout.images.facts import read_facts
from workers.engine.layout.problems import Problem

log: Final = get_logger(__name__)

# Takes the bytes of a file and returns its properties, JSON values by name; raises UploadRefusedError.
Inspector = Callable[[bytes], Mapping[str, Any]]
Inspectors = Mapping[BodyKind, Inspector]


class UploadRefusedError(Exception):
    """The file cannot be used; the text is for the client: the reason, then the advice."""


def inspect(job: RenderJob, data: bytes, inspectors: Inspectors) -> JobOutcome:
    """Return the properties of an uploaded file, or a 400 with the reason why it is refused.

    Raises:
        LookupError: there is no inspector for its kind.
    """
    try:
        properties = inspectors[job.body_kind](data)
    except UploadRefusedError as error:
        return fail(job, ErrorBody(400, str(error), ErrorKind.REQUEST))
    return JobOutcome(job.id, OutcomeStatus.SUCCEEDED, properties=properties)


def inspect_image(data: bytes) -> Mapping[str, Any]:
    """Return `content_type`, and `width` and `height` in pixels, of an image.

    Raises:
        UploadRefusedError: every render refuses it, with the same words.
    """
    facts = read_facts(data)
    if isinstance(facts, Problem):
        raise UploadRefusedError(f"{facts.text}. {facts.advice}")
    return {"content_type": facts.media_type, "width": facts.width, "height": facts.height}


def inspect_font(data: bytes) -> Mapping[str, Any]:
    """Return `format`, and `faces` as the interface writes them, of a font file.

    Raises:
        UploadRefusedError: every render refuses it, with the same words.
    """
    try:
        facts = read_font_facts(data)
    except FontRefusedError as error:
        raise UploadRefusedError(str(error)) from error
    return {"format": facts.format, "faces": [_write_face(face) for face in facts.faces]}


def _write_face(face: FaceFacts) -> dict[str, Any]:
    return {
        "index": face.index,
        "family": face.family,
        "style": face.style,
        "weight": {"min": face.weight.least, "max": face.weight.most},
        "stretch": {"min": face.stretch.least, "max": face.stretch.most},
        "italic": face.is_italic,
        "glyphs": face.glyphs,
        "characters": face.characters,
        "axes": [
            {"tag": axis.tag, "min": axis.least, "default": axis.default, "max": axis.most}
            for axis in face.axes
        ],
    }


# One inspector for each kind of file that can be uploaded.
INSPECTORS: Final[Inspectors] = {BodyKind.IMAGE: inspect_image, BodyKind.FONT: inspect_font}


def ended_its_process(kind: BodyKind) -> ErrorBody:
    """Return the refusal of a file whose inspection ended its process each time it was tried."""
    reference = secrets.token_hex(6)
    log.error("upload refused, its inspection ended the process", reference=reference)
    message = (
        f"The {kind.value} cannot be read: its inspection ended abnormally each time it was tried. "
        f"Save it anew from its source, or use another one; reference {reference}."
    )
    return ErrorBody(400, message, ErrorKind.RESOURCE)
