"""Many documents in one PDF: parts that hold some of them each, and the file that joins the parts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from workers.engine.diagnostics import AuthoringError, Diagnostic, Findings, Severity
from workers.engine.finish.finisher import finish_part
from workers.engine.finish.merging import merge_parts
from workers.engine.paint.volume import Volume
from workers.engine.pipeline import (
    PreparedTemplate,
    build_document,
    collector_paused,
    lay_out_document,
)
from workers.engine.ports import (
    Metadata,
    NoImages,
    NoWatch,
    Payload,
    RenderOptions,
    Resources,
    Stage,
    StageWatch,
)
from workers.engine.tree.nodes import Document


@dataclass(frozen=True, slots=True)
class AddedDocument:
    """A document that was laid out. It is in the part if it `was_admitted`.

    `title` is its entry in the outline: its own title, else its file name, else the one given.
    """

    pages: int
    title: str
    filename: str | None
    warnings: tuple[Diagnostic, ...]
    was_admitted: bool
    warnings_left_out: int = 0


class MergedPart:
    """A PDF that documents of one template are added to; fonts and images are in it once."""

    def __init__(
        self,
        template: PreparedTemplate | None,
        *,
        options: RenderOptions,
        resources: Resources | None = None,
        watch: StageWatch | None = None,
    ) -> None:
        self._template = template
        self._options = options
        self._resources = resources or NoImages()
        self._watch = watch or NoWatch()
        self._volume = Volume()

    def add(
        self, payload: Payload | None, *, name: str, admit: Callable[[int], bool] = lambda _: True
    ) -> AddedDocument:
        """Render a document into the part, if `admit` says yes to its number of pages.

        `name` is how the outline calls a document that has neither title nor file name.

        Raises:
            AuthoringError: the document, its data or its layout has errors, or it asks for what
                only a file of its own can have; the part stays as it was.
        """
        with collector_paused():
            try:
                return self._add(payload, name, admit)
            except RecursionError:
                text = "Elements are nested too deeply, with the flows that are inserted"
                raise AuthoringError((Diagnostic(Severity.ERROR, "too-deep", text),)) from None

    def close(self) -> bytes | None:
        """Give the PDF of the documents added, None if there is none; nothing can be added afterwards."""
        if not self._volume.page_count:
            return None
        self._watch.enter(Stage.FINISH)
        return finish_part(self._volume.close(), is_draft=self._options.is_draft)

    def _add(
        self, payload: Payload | None, name: str, admit: Callable[[int], bool]
    ) -> AddedDocument:
        findings = Findings()
        self._watch.enter(Stage.MERGE)
        document, _ = build_document(
            self._template, payload, options=self._options, findings=findings
        )
        _judge(document, is_draft=self._options.is_draft)
        self._watch.enter(Stage.LAYOUT)
        drawn = lay_out_document(document, resources=self._resources, findings=findings)
        title = document.info.title or document.info.filename or name
        was_admitted = admit(len(drawn.pages))
        if was_admitted:
            self._volume.add(drawn, title=title)
        return AddedDocument(
            len(drawn.pages),
            title,
            document.info.filename,
            findings.warnings,
            was_admitted,
            findings.left_out(Severity.WARNING),
        )


def join_parts(parts: Iterable[Path], out: BinaryIO, *, options: RenderOptions) -> int:
    """Write the documents of all parts as one PDF and give its number of pages.

    Raises:
        ValueError: there is no part.
    """
    metadata = Metadata(
        is_draft=options.is_draft,
        template_id=options.template_id,
        template_version=options.template_version,
        template_sha256=options.template_sha256,
    )
    return merge_parts(parts, out, metadata)


def _judge(document: Document, *, is_draft: bool) -> None:
    """Refuse what holds for a file as a whole: dropping a password in silence would be a leak."""
    if document.security is not None and not is_draft:
        text = (
            "A document with security cannot be merged with others, whose readers would share its "
            "passwords: ask for output=zip or files"
        )
        raise AuthoringError((Diagnostic(Severity.ERROR, "merged-security", text),))
    if document.profile is not None or document.attachments:
        what = (
            "with attachments" if document.profile is None else f'of profile="{document.profile}"'
        )
        text = (
            f"A document {what} cannot be merged with others, which would lose that: ask for "
            "output=zip or files"
        )
        raise AuthoringError((Diagnostic(Severity.ERROR, "merged-archive", text),))
