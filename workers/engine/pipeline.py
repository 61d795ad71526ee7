"""The path of a document through the stages: syntax, merge, tree, layout, paint, finish."""

from __future__ import annotations

from workers.engine.diagnostics import Findings
from workers.engine.ports import (
    Payload,
    Rendered,
    RenderOptions,
    Resources,
    StageWatch,
)


class PreparedTemplate:
    """A template's text, parsed, checked and compiled once; safe to reuse for any number of renders."""


def prepare_template(source: bytes) -> PreparedTemplate:
    """Parse and compile a template. What is wrong with it is told by each render or validation."""
    raise NotImplementedError


def render(
    template: PreparedTemplate | None,
    payload: Payload | None,
    *,
    options: RenderOptions,
    resources: Resources | None = None,
    watch: StageWatch | None = None,
) -> Rendered:
    """Render a document: a complete XML payload, or a template with or without a payload.

    Raises:
        AuthoringError: the document, its data or its layout has errors.
    """
    raise NotImplementedError


def validate(
    template: PreparedTemplate | None,
    payload: Payload | None,
    *,
    options: RenderOptions,
    resources: Resources | None = None,
) -> Findings:
    """Find every problem that can be found without layout (interface.md, POST /v2/validate)."""
    raise NotImplementedError
