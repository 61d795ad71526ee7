"""Fonts of a workspace, inspected by a worker; what they share with images is in tests/api/test_images.py."""

from __future__ import annotations

import base64
import io

import pikepdf
import pytest
from fontTools.ttLib import TTFont

from shared.limits import MAX_FONT_BYTES
from tests.golden.case import FOLDER, OPTIONS
from workers.engine.pipeline import prepare_template, render, validate
from workers.render.remote_images import RemoteImages
from workers.render.resources import Images, StoredFonts, WorkspaceImages

pytestmark = pytest.mark.usefixtures("upload_worker")

FILES = {path.name: path.read_bytes() for path in (FOLDER / "fonts").glob("brand-*")}
REGULAR = FILES["brand-regular.ttf"]
BLACK = FILES["brand-black.otf"]


def put(client, name: str, data: bytes, media: str = "font/ttf"):
    return client.put(f"/v2/fonts/{name}", data=data, content_type=media)


@pytest.mark.parametrize(
    ("file", "format_", "faces"),
    [
        ("brand-regular.ttf", "truetype", 1),
        ("brand-variable.ttf", "truetype", 1),
        ("brand-black.otf", "opentype", 1),
        ("brand-bold.woff2", "woff2", 1),
        ("brand-pair.ttc", "collection", 2),
    ],
)
def test_the_bytes_decide_the_format(caller, file, format_, faces):
    answer = put(caller, "brand", FILES[file], "application/octet-stream")
    assert answer.status_code == 201
    assert (answer.json["format"], len(answer.json["faces"])) == (format_, faces)
    assert caller.get("/v2/fonts/brand").json == answer.json


def test_a_record_describes_each_face(caller):
    [face] = put(caller, "brand", FILES["brand-variable.ttf"]).json["faces"]
    assert face["weight"] == {"min": 100, "max": 900}
    assert face["stretch"] == {"min": 100, "max": 100}
    assert [axis["tag"] for axis in face["axes"]] == ["wght", "slnt"]
    assert (face["family"], face["italic"], face["index"]) == ("Brand Variable", False, 0)


def test_json_carries_a_font_too(caller):
    data = base64.b64encode(REGULAR).decode()
    answer = caller.post("/v2/fonts", json={"name": "brand", "data": data})
    assert answer.status_code == 201
    assert answer.json["bytes"] == len(REGULAR)
    for body in ({"name": "brand"}, {"name": "brand", "data": "%"}, {"data": data}):
        assert caller.post("/v2/fonts", json=body).status_code == 400


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "The font is empty"),
        (b"GIF89a", "is not TrueType, OpenType"),
        (REGULAR[:2000], "its tables extend beyond the end"),
    ],
)
def test_a_file_that_is_not_a_font_is_rejected_with_the_reason(caller, data, words):
    answer = put(caller, "brand", data)
    assert answer.status_code == 400
    assert words in answer.json["message"]


def test_a_font_that_may_not_be_embedded_is_rejected(caller):
    font = TTFont(io.BytesIO(REGULAR))
    font["OS/2"].fsType = 2
    written = io.BytesIO()
    font.save(written)
    answer = put(caller, "brand", written.getvalue())
    assert answer.status_code == 400
    assert "does not allow embedding it in documents" in answer.json["message"]


def test_a_font_over_the_limit_is_rejected(caller):
    assert put(caller, "brand", bytes(MAX_FONT_BYTES + 1)).status_code == 413


def resources(ports, account) -> WorkspaceImages:
    stored = StoredFonts(ports.database, ports.blobs, ports.cell(account.account_id).font_pins)
    images = Images(
        ports.database,
        ports.blobs,
        ports.cell(account.account_id).image_pins,
        fetcher=ports.fetcher,
        fonts=stored,
    )
    return WorkspaceImages(
        images, account.workspace_id, RemoteImages(ports.fetcher, account.account_id)
    )


def test_a_render_finds_the_font_of_its_workspace_until_it_is_replaced(caller, ports, account):
    put(caller, "brand", REGULAR)
    found = resources(ports, account).find_font("brand")
    assert found is not None
    assert found.read() == REGULAR
    put(caller, "brand", BLACK)
    again = resources(ports, account).find_font("brand")
    assert again is not None
    assert again.sha256 != found.sha256
    assert resources(ports, account).find_font("other") is None
    assert resources(ports, account).list_fonts() == ["brand"]


def test_a_stored_font_sets_the_text_of_a_document(caller, ports, account):
    put(caller, "brand-bold", FILES["brand-bold.woff2"])
    source = (
        b'<document><font family="Brand" src="brand-bold"/>'
        b'<flow font-family="Brand"><p>Text</p></flow></document>'
    )
    own = resources(ports, account)
    rendered = render(prepare_template(source), None, options=OPTIONS, resources=own)
    with pikepdf.open(io.BytesIO(rendered.pdf)) as file:
        [font] = file.pages[0].resources.Font.values()
    assert "Brand700" in str(font.BaseFont)
    wrong = prepare_template(source.replace(b"brand-bold", b"brand-blod"))
    findings = validate(wrong, None, options=OPTIONS, resources=own)
    [finding] = [one for one in findings if one.code == "font-not-found"]
    assert finding.message.endswith('did you mean "brand-bold"?')
