"""The engines of the bench: ours, stage by stage, and Typst and WeasyPrint on the same data, warm."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Any, Protocol

from formats import FILTERS, font_faces, make_code
from jinja2 import Environment, FileSystemLoader
from works import INVOICE, Logo, Work

from workers.engine.diagnostics import Findings
from workers.engine.finish.metadata import build_pdf_metadata
from workers.engine.layout.passes import lay_out
from workers.engine.pipeline import build_document, prepare_template, rendering, write_pdf
from workers.engine.ports import DocumentInfo, Metadata, Payload, PayloadKind, RenderOptions

DOCUMENTS = Path(__file__).with_name("documents")
TYPEFACES = Path(__file__).parents[2] / "workers/engine/fonts/typefaces"
OPTIONS = RenderOptions(now=datetime(2026, 3, 2, 9, 30, tzinfo=UTC))


class Engine(Protocol):
    """One work's template, ready; `file` is the last document made."""

    file: bytes

    def render(self, data: str) -> list[float]:
        """Make a document from JSON text to finished PDF; return the CPU ms of each stage."""


class OurEngine:
    """The stages of one work, each timed on its own."""

    def __init__(self, work: Work, images: Logo, _folder: Path) -> None:
        self.template = prepare_template((DOCUMENTS / f"{work.name}.xml").read_bytes())
        self.images = images
        self.file = b""

    def render(self, data: str) -> list[float]:
        with rendering():  # as pipeline.render does
            return self.measure_stages(data)

    def measure_stages(self, data: str) -> list[float]:
        payload = Payload(PayloadKind.JSON, data.encode())
        ticks = [time.process_time()]
        findings = Findings()
        document = build_document(self.template, payload, options=OPTIONS, findings=findings)[0]
        ticks.append(time.process_time())
        laid_out = lay_out(document, resources=self.images, findings=findings)
        ticks.append(time.process_time())
        metadata = Metadata(DocumentInfo(document.info.title, lang=document.info.lang))
        self.file = write_pdf(laid_out, build_pdf_metadata(metadata), findings=findings)
        ticks.append(time.process_time())
        return [1000 * (after - before) for before, after in pairwise(ticks)]


class TypstEngine:
    """The same data through Typst, its compiler kept warm; its times are of all its threads."""

    def __init__(self, work: Work, images: Logo, folder: Path) -> None:
        import typst

        source = folder / f"{work.name}.typ"
        for file in (source, folder / "formats.typ"):
            file.write_bytes((DOCUMENTS / file.name).read_bytes())
        (folder / "logo.png").write_bytes(images.data)
        self.work = work
        self.compiler = typst.Compiler(
            input=str(source),
            root=str(folder),
            font_paths=[str(TYPEFACES)],
            ignore_system_fonts=True,
        )
        self.file = b""

    def render(self, data: str) -> list[float]:
        inputs = {"data": data}
        coded = json.loads(data) if self.work is INVOICE else None
        began = time.process_time()
        if coded is not None:
            inputs["code"] = make_code(coded).to_svg()
        self.file = self.compiler.compile(format="pdf", sys_inputs=inputs)
        return [1000 * (time.process_time() - began)]


class WeasyPrintEngine:
    """The same data through Jinja2 and WeasyPrint; template, style sheet, fonts and images kept."""

    def __init__(self, work: Work, images: Logo, folder: Path) -> None:
        from weasyprint import CSS
        from weasyprint.text.fonts import FontConfiguration

        (folder / "logo.png").write_bytes(images.data)
        self.work = work
        environment = Environment(loader=FileSystemLoader(DOCUMENTS), autoescape=True)
        environment.filters |= FILTERS
        self.template = environment.get_template(f"{work.name}.html")
        self.base = f"{folder.as_uri()}/"
        self.fonts = FontConfiguration()
        self.faces = CSS(string=font_faces(TYPEFACES), font_config=self.fonts)
        self.cache: dict[str, Any] = {}
        self.file = b""

    def render(self, data: str) -> list[float]:
        from weasyprint import HTML

        began = time.process_time()
        values = json.loads(data, parse_float=Decimal)
        code = make_code(values).to_svg() if self.work is INVOICE else ""
        page = self.template.render(values, code=code)
        document = HTML(string=page, base_url=self.base)
        self.file = document.write_pdf(
            stylesheets=[self.faces], font_config=self.fonts, cache=self.cache
        )
        return [1000 * (time.process_time() - began)]


ENGINES: dict[str, type[OurEngine | TypstEngine | WeasyPrintEngine]] = {
    "ours": OurEngine,
    "typst": TypstEngine,
    "weasyprint": WeasyPrintEngine,
}
