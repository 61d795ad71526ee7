"""The engines of the bench: ours, stage by stage, and Typst and WeasyPrint on the same data, warm."""

from __future__ import annotations

import json
import time
from datetime import UTC, date, datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal
from itertools import pairwise
from pathlib import Path
from typing import Any, Protocol

import zxingcpp
from babel.dates import format_date
from babel.numbers import format_currency, format_decimal, format_percent
from jinja2 import Environment, FileSystemLoader
from works import INVOICE, Logo, Work

from workers.engine.barcodes.payments import write_sepa_payment
from workers.engine.diagnostics import Findings
from workers.engine.finish.finisher import FinishOptions
from workers.engine.layout.passes import lay_out
from workers.engine.pipeline import build_document, prepare_template, rendering, write_pdf
from workers.engine.ports import Metadata, NullStageObserver, Payload, PayloadKind, RenderOptions

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
        metadata = Metadata(title=document.info.title, lang=document.info.lang)
        self.file = write_pdf(
            laid_out, FinishOptions(metadata), findings=findings, observer=NullStageObserver()
        )
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
            inputs["code"] = draw_code(coded)
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
        self.faces = CSS(string=font_faces(), font_config=self.fonts)
        self.cache: dict[str, Any] = {}
        self.file = b""

    def render(self, data: str) -> list[float]:
        from weasyprint import HTML

        began = time.process_time()
        values = json.loads(data, parse_float=Decimal)
        code = draw_code(values) if self.work is INVOICE else ""
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


def draw_code(data: dict[str, Any]) -> str:
    """Draw an invoice's payment code for engines that make no bar codes, with our encoder."""
    net = sum(line["qty"] * Decimal(str(line["price"])) for line in data["lines"])
    amount = net + cents(net * Decimal("0.19"))
    content = write_sepa_payment(data["seller"] | {"amount": amount, "text": data["number"]})
    code = zxingcpp.create_barcode(content, zxingcpp.BarcodeFormat.QRCode, ec_level="M")
    drawn: str = code.to_svg()
    return drawn


def font_faces() -> str:
    """Name the product's own fonts to WeasyPrint."""
    return "".join(
        f'@font-face {{ font-family: "{family}"; src: url({(TYPEFACES / file).as_uri()});'
        f" font-weight: {weight}; font-style: {style} }}"
        for family, stem in (("Noto Sans", "NotoSans"), ("Noto Serif", "NotoSerif"))
        for file, weight, style in (
            (f"{stem}-Regular.ttf", 400, "normal"),
            (f"{stem}-Bold.ttf", 700, "normal"),
            (f"{stem}-Italic.ttf", 400, "italic"),
        )
    )


# --- what the HTML needs of its data: the filters of our language, through Babel --------------------


def money(value: Decimal) -> str:
    return format_currency(value, "EUR", locale="en_GB")


def number(value: Decimal, digits: int | None = None) -> str:
    pattern = None if digits is None else "#,##0." + "0" * digits
    return format_decimal(value, pattern, locale="en_GB")


def day(value: str, pattern: str = "d MMMM y", *, later: int = 0) -> str:
    moved = date.fromisoformat(value) + timedelta(days=later)
    return format_date(moved, pattern, locale="en_GB")


def cents(value: Decimal) -> Decimal:
    return value.quantize(Decimal("0.01"), ROUND_HALF_UP)


FILTERS: dict[str, Any] = {
    "money": money,
    "number": number,
    "day": day,
    "cents": cents,
    "percent": lambda value: format_percent(value, locale="en_GB"),
    "iban": lambda value: " ".join(value[at : at + 4] for at in range(0, len(value), 4)),
    "decimal": Decimal,
}
