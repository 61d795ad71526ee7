"""Whether an element asks for a language or an extension that is not here (SVG 2, 5.8)."""

from __future__ import annotations

from typing import Final

from workers.engine.layout.svg.reader import Node
from workers.engine.layout.svg.spot import Job

_OURS: Final = "en"


def meets_conditions(node: Node, job: Job) -> bool:
    """Tell whether an element is drawn; what is meant for other languages is told."""
    given = node.attributes
    if "requiredExtensions" not in given and "systemLanguage" not in given:
        return True
    return "requiredExtensions" not in given and _is_in_our_language(node, job)


def note_other_languages(switch: Node, job: Job) -> None:
    """Tell what a `switch` has for other languages than ours."""
    for child in switch.elements():
        _is_in_our_language(child, job)


def _is_in_our_language(node: Node, job: Job) -> bool:
    written = node.attributes.get("systemLanguage")
    if written is None:
        return True
    languages = [word.strip().lower() for word in written[:400].split(",")]
    if any(word == _OURS or word.startswith(f"{_OURS}-") for word in languages):
        return True
    if any(languages):
        job.leave_out(f'what is meant for the language "{written.strip()[:40]}"')
    return False
