"""A drawing goes the whole way: uploaded as SVG, drawn as vectors, refused when it is hostile."""

import io

import pikepdf
import pypdfium2

DRAWING = (
    b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 20">'
    b'<path fill="#00539c" d="M0 0h40v20h-40z"/><text y="9" font-size="6">drawn</text></svg>'
)
DOCUMENT = '<document><flow><img src="{}" alt="a drawing" width="60mm"/></flow></document>'
SVG = {"Content-Type": "image/svg+xml"}


def test_an_uploaded_drawing_is_drawn_as_vectors(account):
    stored = account.request("PUT", "/v2/images/drawing", DRAWING, headers=SVG)
    assert stored.status == 201, stored.body
    record = stored.json
    assert (record["content_type"], record["width"], record["height"]) == ("image/svg+xml", 40, 20)
    answer = account.render(DOCUMENT.format("drawing"))
    assert answer.status == 200, answer.body
    with pikepdf.open(io.BytesIO(answer.body)) as pdf:
        kinds = [getattr(thing, "get", {}.get)("/Subtype") for thing in pdf.objects]
    assert "/Form" in kinds
    assert "/Image" not in kinds
    page = pypdfium2.PdfDocument(answer.body)[0]
    assert "drawn" in page.get_textpage().get_text_range()


def test_a_hostile_drawing_is_refused_wherever_it_comes_from(account):
    hostile = b"<!DOCTYPE svg [<!ENTITY a SYSTEM 'aaaa'>]>" + DRAWING.replace(b"drawn", b"&a;")
    stored = account.request("PUT", "/v2/images/hostile", hostile, headers=SVG)
    assert stored.status == 400
    assert "declares entities" in stored.json["message"]
    address = "data:image/svg+xml," + hostile.decode().replace("%", "%25").replace("#", "%23")
    escaped = address.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")
    answer = account.render(DOCUMENT.format(escaped))
    assert answer.status == 400
    assert "declares entities" in answer.json["message"]
