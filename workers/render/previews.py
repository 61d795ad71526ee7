"""Previews: one page for an editor, of a template that changes with each request."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, TypeAlias

from shared.jobs.records import JobOutcome, OutcomeStatus, RenderJob
from shared.previews.records import MEDIA_TYPES, PreviewFormat, PreviewRequest
from workers.engine.pipeline import PreparedTemplate
from workers.engine.ports import Payload, PayloadKind, RenderOptions, Resources, StageObserver
from workers.engine.preview import PageFormat as EngineFormat
from workers.engine.preview import Preview, PreviewedPage, PreviewOptions

PreviewFunction: TypeAlias = Callable[..., Preview]  # `preview` of `workers.engine.preview`


def run_preview(
    job: RenderJob,
    request: PreviewRequest,
    template: PreparedTemplate,
    draw: PreviewFunction,
    *,
    resources: Resources,
    observer: StageObserver,
) -> tuple[JobOutcome, bytes]:
    """Return the outcome of a preview without its file, and the file, which is empty if the document has no page."""
    preview = draw(
        template,
        _make_payload(request),
        options=RenderOptions(datetime.fromtimestamp(job.admitted_at, UTC)),
        preview_options=PreviewOptions(
            request.page, request.scale, EngineFormat(request.format.value)
        ),
        resources=resources,
        observer=observer,
    )
    page = preview.page
    outcome = JobOutcome(
        job.id,
        OutcomeStatus.SUCCEEDED,
        pages=preview.pages,
        findings=preview.findings.to_report(),
        properties=None if page is None else _write_page(page, request.format),
    )
    return outcome, b"" if page is None else page.data


def _make_payload(request: PreviewRequest) -> Payload | None:
    data = request.data
    if data is None:
        return None
    return Payload(PayloadKind(data.kind.value), data.body, flow=data.flow)


def _write_page(page: PreviewedPage, file_format: PreviewFormat) -> Mapping[str, Any]:
    file: dict[str, Any] = {"content_type": MEDIA_TYPES[file_format]}
    if page.raster is not None:
        raster = page.raster
        file |= {"width": raster.width, "height": raster.height, "scale": raster.scale}
    return {
        "page": page.page,
        "width": page.width,
        "height": page.height,
        "file": file,
        "boxes": page.boxes,
        "boxes_left_out": page.boxes_left_out,
    }
