"""POST /v2/preview with the real engine behind the queue."""

from __future__ import annotations

import io
from base64 import b64decode
from types import SimpleNamespace

import pikepdf
import pytest
from PIL import Image

from shared.jobs.records import Purpose
from shared.telemetry.traces import NULL_TRACER
from workers.engine.pipeline import prepare_template
from workers.engine.preview import preview
from workers.render.budget import Stopper
from workers.render.resources import Images, Templates
from workers.render.run import execute

LETTER = """<document version="1">
  <data><json>{ "name": "Ada", "lines": [] }</json></data>
  <flow>
    <p>Dear {{ name }},</p>
    <p for="l in lines">{{ l.text }}: {{ l.price | number }}</p>
  </flow>
</document>"""


@pytest.fixture
def engine(ports, worker):
    """Make the real engine draw what the scripted worker takes from the queue."""
    cell = ports.cells.only
    farm = SimpleNamespace(
        templates=Templates(ports.database, prepare_template),
        images=Images(ports.database, ports.blobs, cell.image_pins, fetcher=ports.fetcher),
        claims=cell.claims,
        engine=SimpleNamespace(preview=preview),
        stopper=Stopper(lambda *_: False),
        traces=NULL_TRACER,
    )

    def answer(job):
        assert job.purpose is Purpose.PREVIEW
        return execute(job, farm, farm.images.of_job(job, farm.claims))

    worker.answer = answer
    return worker


def ask(client, **fields):
    answer = client.post("/v2/preview", json={"template": LETTER, **fields})
    assert answer.status_code == 200, answer.json
    return answer.json


def file_of(answer):
    return b64decode(answer["file"]["data"])


def test_a_page_its_findings_and_its_boxes(caller, engine):
    answer = ask(caller, payload={"name": "Bo", "lines": [{"text": "Tea", "price": 1.5}]})
    assert answer["findings"] == {"valid": True, "errors": [], "warnings": []}
    assert (answer["pages"], answer["page"], answer["boxes_left_out"]) == (1, 1, 0)
    assert (answer["width"], answer["height"]) == (595.276, 841.89)
    picture = Image.open(io.BytesIO(file_of(answer)))
    assert picture.size == (answer["file"]["width"], answer["file"]["height"]) == (794, 1123)
    assert [(box["source"]["tagName"], box["source"]["lineStart"]) for box in answer["boxes"]] == [
        ("p", 4),
        ("p", 5),
    ]
    assert answer["boxes"][1]["loop"] == [{"name": "lines", "row": 1}]


@pytest.mark.parametrize(
    ("kind", "media"), [("png", "image/png"), ("webp", "image/webp"), ("pdf", "application/pdf")]
)
def test_each_format(caller, engine, kind, media):
    answer = ask(caller, format=kind)
    assert answer["file"]["content_type"] == media
    if kind == "pdf":
        with pikepdf.open(io.BytesIO(file_of(answer))) as pdf:
            assert "/FormXob.PressroomDraft" in pdf.pages[0].Resources.XObject
        assert set(answer["file"]) == {"content_type", "data"}
    else:
        assert Image.open(io.BytesIO(file_of(answer))).format == kind.upper()


def test_findings_have_positions_in_the_template_and_in_the_data(caller, engine):
    answer = ask(caller, template=LETTER.replace("<p>", "<para>", 1))
    assert set(answer) == {"pages", "findings"}
    [error] = answer["findings"]["errors"][:1]
    assert error["source"]["origin"] == "template"
    answer = ask(caller, payload='{"name": }')
    assert "line 1, column 10" in answer["findings"]["errors"][0]["message"]


def test_a_stored_template_is_drawn_with_its_images_missing(caller, engine):
    text = '<document><flow><img src="logo" alt="a"/></flow></document>'
    made = caller.post("/v2/templates?name=T", data=text, content_type="text/xml").json["id"]
    answer = ask(caller, template=made)
    assert not answer["findings"]["valid"]
    assert "logo" in answer["findings"]["errors"][0]["message"]
