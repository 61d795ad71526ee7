"""One of the peers: a Flask application, a queue and an engine, as somebody would build it who knows them.

`PEER` names queue and engine, `celery-typst` for one. gunicorn runs `app`; `celery` or `dramatiq` the worker.
The front waits for the PDF on a list of Redis, which costs less than a result backend. It imports nothing of
Pressroom: each peer has an environment of its own.
"""

import io
import json
import os
from decimal import Decimal
from functools import cache
from pathlib import Path
from uuid import uuid4

import redis
from flask import Flask, Response, request
from formats import FILTERS, cents, day, font_faces, iban, make_code, money

QUEUE, ENGINE = os.environ["PEER"].split("-")
DOCUMENTS = Path(os.environ["PEER_DOCUMENTS"])  # the templates of the bench, and logo.png
TYPEFACES = Path(os.environ["PEER_TYPEFACES"])
REDIS_URL = os.environ["PEER_REDIS"]
SECONDS = 60
NOTE = {
    "typst": '#let data = json(bytes(sys.inputs.data))\n#set text(font: "Noto Sans", lang: "en")\n'
    "#set document(title: data.name)\n= Hello\nDear #data.name, this is one page.",
    "weasyprint": '<html lang="en"><title>{{ name }}</title><body style="font-family: Noto Sans">'
    "<h1>Hello</h1><p>Dear {{ name }}, this is one page.</p></body></html>",
}

store = redis.Redis.from_url(REDIS_URL, socket_timeout=SECONDS + 5)
app = Flask(__name__)


@app.post("/<kind>")
def answer(kind: str) -> Response:
    """Queue a document and wait for it."""
    reply = uuid4().hex
    send(kind, request.get_data(as_text=True), reply)
    found = store.blpop([reply], SECONDS)
    return Response(found[1] if found else b"", 200 if found else 504, mimetype="application/pdf")


def make(kind: str, data: str, reply: str) -> None:
    """Render a document, and hand it to the front that waits for it."""
    pdf = RENDERERS[ENGINE](kind, data)
    store.pipeline().rpush(reply, pdf).expire(reply, SECONDS).execute()


if QUEUE == "celery":
    from celery import Celery

    celery = Celery(broker=REDIS_URL)
    celery.conf.update(
        task_ignore_result=True,
        task_acks_late=True,
        worker_prefetch_multiplier=1,
        worker_concurrency=1,
        worker_enable_remote_control=False,
    )
    send = celery.task(make, name="make").delay
else:
    import dramatiq
    from dramatiq.brokers.redis import RedisBroker

    dramatiq.set_broker(RedisBroker(url=REDIS_URL))
    send = dramatiq.actor(make).send


# --- the engines ------------------------------------------------------------------------------------


def render_typst(kind: str, data: str) -> bytes:
    """Render with a compiler that is kept."""
    inputs = {"data": data}
    if kind == "invoice":
        inputs["code"] = make_code(json.loads(data, parse_float=Decimal)).to_svg()
    return make_compiler(kind).compile(format="pdf", sys_inputs=inputs)


@cache
def make_compiler(kind: str):
    import typst

    if kind == "note":
        (DOCUMENTS / "note.typ").write_text(NOTE["typst"])
    return typst.Compiler(
        input=str(DOCUMENTS / f"{kind}.typ"),
        root=str(DOCUMENTS),
        font_paths=[str(TYPEFACES)],
        ignore_system_fonts=True,
    )


def render_weasyprint(kind: str, data: str) -> bytes:
    """Render HTML with fonts, style sheet and images that are kept."""
    from weasyprint import HTML

    values = json.loads(data, parse_float=Decimal)
    code = make_code(values).to_svg() if kind == "invoice" else ""
    page = make_page(kind).render(values, code=code)
    return HTML(string=page, base_url=f"{DOCUMENTS.as_uri()}/").write_pdf(**make_options())


@cache
def make_page(kind: str):
    from jinja2 import Environment, FileSystemLoader

    environment = Environment(loader=FileSystemLoader(DOCUMENTS), autoescape=True)
    environment.filters |= FILTERS
    if kind == "note":
        return environment.from_string(NOTE["weasyprint"])
    return environment.get_template(f"{kind}.html")


@cache
def make_options() -> dict:
    from weasyprint import CSS
    from weasyprint.text.fonts import FontConfiguration

    fonts = FontConfiguration()
    return {
        "font_config": fonts,
        "stylesheets": [CSS(string=font_faces(TYPEFACES), font_config=fonts)],
        "cache": {},
    }


def render_platypus(kind: str, data: str) -> bytes:
    """Render with fonts and styles that are kept; "of n" is drawn when all pages are known."""
    from reportlab.lib.pagesizes import A4
    from reportlab.lib.units import mm
    from reportlab.platypus import SimpleDocTemplate

    values = json.loads(data, parse_float=Decimal)
    story = write_invoice(values) if kind == "invoice" else write_note(values)
    file = io.BytesIO()
    canvas = make_canvas(values["seller"] if kind == "invoice" else None)
    SimpleDocTemplate(
        file,
        pagesize=A4,
        title=values.get("number") or values["name"],
        lang="en",
        leftMargin=25 * mm,
        rightMargin=20 * mm,
        topMargin=20 * mm,
        bottomMargin=25 * mm,
    ).build(story, canvasmaker=canvas)
    return file.getvalue()


@cache
def make_styles() -> dict:
    from reportlab import rl_config
    from reportlab.lib.styles import ParagraphStyle
    from reportlab.pdfbase.pdfmetrics import registerFont
    from reportlab.pdfbase.ttfonts import TTFont

    rl_config.useA85 = 0
    for name in ("NotoSans-Regular", "NotoSans-Bold"):
        registerFont(TTFont(name, TYPEFACES / f"{name}.ttf"))
    body = ParagraphStyle("body", fontName="NotoSans-Regular", fontSize=9.5, leading=13)
    head = ParagraphStyle("head", body, fontName="NotoSans-Bold", fontSize=19, leading=26)
    return {"body": body, "head": head}


def write_note(values: dict) -> list:
    from reportlab.platypus import Paragraph

    styles = make_styles()
    text = f"Dear {values['name']}, this is one page."
    return [Paragraph("Hello", styles["head"]), Paragraph(text, styles["body"])]


def write_invoice(values: dict) -> list:
    from PIL import Image as Picture
    from reportlab.lib.units import mm
    from reportlab.platypus import Image, Paragraph, Spacer, Table

    styles, buyer, lines = make_styles(), values["buyer"], values["lines"]
    net = sum(line["qty"] * line["price"] for line in lines)
    vat = cents(net * Decimal("0.19"))
    due, picture = day(values["date"], later=14), io.BytesIO()
    code = make_code(values).to_image()
    Picture.frombytes("L", code.shape[::-1], bytes(code)).save(picture, "PNG")
    rows = [["Item", "Quantity", "Price", "Amount"]]
    rows += [[r["text"], r["qty"], money(r["price"]), money(r["qty"] * r["price"])] for r in lines]
    rows += [["Net", "", "", money(net)], ["VAT 19%", "", "", money(vat)]]
    rows.append(["Total", "", "", money(net + vat)])
    # Plain strings: cells of Paragraphs cost 2 ms more.
    style = [
        ("FONT", (0, 0), (-1, -4), "NotoSans-Regular", 9.5),
        ("FONT", (0, -3), (-1, -1), "NotoSans-Bold", 9.5),
        ("ALIGN", (1, 0), (-1, -1), "RIGHT"),
        ("BACKGROUND", (0, 0), (-1, 0), "#00539c"),
        ("TEXTCOLOR", (0, 0), (-1, 0), "white"),
        ("ROWBACKGROUNDS", (0, 1), (-1, -4), ["white", "#f4f7fa"]),
    ]
    pay = Paragraph(f"Scan to pay {money(net + vat)} by {due}.", styles["body"])
    return [
        Image(DOCUMENTS / "logo.png", 40 * mm, 14 * mm, hAlign="LEFT"),
        Spacer(0, 15 * mm),
        Paragraph(f"{buyer['name']}<br/>{buyer['street']}<br/>{buyer['town']}", styles["body"]),
        Spacer(0, 20 * mm),
        Paragraph(f"Invoice {values['number']}", styles["head"]),
        Paragraph(f"Date {day(values['date'])}, due {due}", styles["body"]),
        Spacer(0, 6 * mm),
        Table(rows, [90 * mm, 20 * mm, 27 * mm, 28 * mm], style=style, repeatRows=1),
        Spacer(0, 8 * mm),
        Table([[Image(picture, 30 * mm, 30 * mm), pay]], [35 * mm, 130 * mm]),
    ]


def make_canvas(seller: dict | None) -> type:
    """Return a canvas that writes the foot of each page at the end, as ReportLab's FAQ shows."""
    from reportlab.pdfgen.canvas import Canvas

    class NumberedCanvas(Canvas):
        def __init__(self, *arguments, **options):
            super().__init__(*arguments, **options)
            self.pages = []

        def showPage(self):
            self.pages.append(dict(self.__dict__))
            self._startPage()

        def save(self):
            for number, page in enumerate(self.pages, 1):
                self.__dict__.update(page)
                self.setFont("NotoSans-Regular", 8)
                self.drawString(71, 42, f"{seller['name']}, IBAN {iban(seller['iban'])}")
                self.drawRightString(538, 42, f"Page {number} of {len(self.pages)}")
                super().showPage()
            super().save()

    return NumberedCanvas if seller else Canvas


RENDERERS = {"typst": render_typst, "weasyprint": render_weasyprint, "platypus": render_platypus}
