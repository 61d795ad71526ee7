"""Previews: one page for an editor, of a template that changes with each request."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, Final, TypeAlias

from shared.jobs.records import JobOutcome, OutcomeStatus, RenderJob
from shared.limits import MB
from shared.previews.records import MEDIA_TYPES, PreviewFormat, PreviewRequest
from shared.telemetry.log import get_logger
from shared.telemetry.observer import NULL_OBSERVER, Cache, Observer
from workers.engine.pipeline import PreparedTemplate
from workers.engine.ports import Payload, PayloadKind, RenderOptions, Resources, StageObserver
from workers.engine.preview import PageFormat as EngineFormat
from workers.engine.preview import Preview, PreviewedPage, PreviewOptions
from workers.render.resources import PrepareFunction, SizedCache

log: Final = get_logger(__name__)

# Templates of a few editors: between requests, data change more often than the template.
DRAFT_TEXT_BYTES: Final = 2 * MB


PreviewFunction: TypeAlias = Callable[..., Preview]  # `preview` of `workers.engine.preview`


class Previewer:
    """Runs previews in one process; compiled templates of recent requests are cached."""

    def __init__(
        self, prepare: PrepareFunction, draw: PreviewFunction, *, watch: Observer = NULL_OBSERVER
    ) -> None:
        self._prepare = prepare
        self._draw = draw
        self._drafts: SizedCache[PreparedTemplate] = SizedCache(
            Cache.TEMPLATES, max_bytes=DRAFT_TEXT_BYTES, watch=watch
        )

    def run(
        self,
        job: RenderJob,
        request: PreviewRequest,
        stored: PreparedTemplate | None,
        *,
        linked: Mapping[str, bytes],
        resources: Resources,
        observer: StageObserver,
    ) -> tuple[JobOutcome, bytes]:
        """Return the outcome of a preview without its file, and the file.

        `stored` is the stored template of the job, None if the request has the template itself; then
        `linked` are the texts of those that it links to. The file is empty if the document has no page.
        """
        template = self._get_draft(request, linked) if stored is None else stored
        preview = self._draw(
            template,
            _make_payload(request),
            options=_make_options(job),
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

    def _get_draft(self, request: PreviewRequest, linked: Mapping[str, bytes]) -> PreparedTemplate:
        source = (request.template or "").encode()
        size = len(source) + sum(map(len, linked.values()))
        key = "".join((sha256(source).hexdigest(), *map("".join, sorted(request.links.items()))))
        return self._drafts.get(key, lambda: (self._prepare(source, linked), size))


def _make_payload(request: PreviewRequest) -> Payload | None:
    data = request.data
    if data is None:
        return None
    return Payload(PayloadKind(data.kind.value), data.body, flow=data.flow)


def _make_options(job: RenderJob) -> RenderOptions:
    return RenderOptions(datetime.fromtimestamp(job.admitted_at, UTC))


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
