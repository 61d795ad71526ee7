"""The structure tree of a PDF as text: an element a line, with its attributes and what it says."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from typing import Any

import pikepdf

from tests.engine.finish.cmaps import SIMPLE, Encoding, read_encoding


def write_structure(data: bytes) -> str:
    """Return the elements of a file in their order, indented, each with its attributes and texts."""
    with pikepdf.open(io.BytesIO(data)) as pdf:
        texts = _texts_of(pdf)
        return "\n".join(_lines(pdf.Root.StructTreeRoot.K, texts, 0)) + "\n"


def read_text(data: bytes) -> str:
    """Return the text of a file in the order of its structure, a space between elements."""
    with pikepdf.open(io.BytesIO(data)) as pdf:
        texts = _texts_of(pdf)
        return "".join(_said(pdf.Root.StructTreeRoot.K, texts))


def read_headers(data: bytes) -> dict[str, list[str]]:
    """Return the texts of the head cells that cells name in Headers, by the text of the cell."""
    with pikepdf.open(io.BytesIO(data)) as pdf:
        texts = _texts_of(pdf)
        cells = [
            each
            for each in pdf.objects
            if isinstance(each, pikepdf.Dictionary) and each.get("/S") in ("/TH", "/TD")
        ]
        said = {cell.objgen: "".join(_said(cell, texts)).strip() for cell in cells}
        heads = {bytes(cell.ID): said[cell.objgen] for cell in cells if "/ID" in cell}
        named = {cell.objgen: cell.get("/A", {}).get("/Headers", ()) for cell in cells}
        return {
            said[cell]: [heads[bytes(each)] for each in headers]
            for cell, headers in named.items()
            if len(headers)
        }


def _lines(element: Any, texts: dict[Any, str], depth: int) -> Iterator[str]:
    yield "  " * depth + " ".join((str(element.S)[1:], *_describe(element)))
    for kid in _kids(element):
        if isinstance(kid, pikepdf.Dictionary) and "/S" in kid:
            yield from _lines(kid, texts, depth + 1)
        elif isinstance(kid, pikepdf.Dictionary) and kid.get("/Type") == "/OBJR":
            yield "  " * (depth + 1) + f"link: {kid.Obj.get('/Contents', '')}"
        else:
            yield "  " * (depth + 1) + repr(texts[_key(kid, element)])


def _said(element: Any, texts: dict[Any, str]) -> Iterator[str]:
    if "/ActualText" in element:
        yield str(element.ActualText)
        return
    for kid in _kids(element):
        if isinstance(kid, pikepdf.Dictionary) and "/S" in kid:
            yield from _said(kid, texts)
        elif not isinstance(kid, pikepdf.Dictionary) or kid.get("/Type") == "/MCR":
            yield texts[_key(kid, element)]
    if str(element.S) not in ("/Span", "/Link", "/Reference"):
        yield "\n"


def _describe(element: Any) -> Iterator[str]:
    for name in ("/Alt", "/Lang", "/ActualText"):
        if name in element:
            yield f"{name[1:]}={str(element[name])!r}"
    held = element.get("/A", pikepdf.Array())
    for attributes in held if isinstance(held, pikepdf.Array) else [held]:
        for name, value in attributes.items():
            if name != "/O":
                yield f"{name[1:]}={_plain(value)}"


def _plain(value: Any) -> str:
    if isinstance(value, pikepdf.Array):
        return ",".join(
            str(each) if isinstance(each, pikepdf.String) else f"{float(each):.0f}"
            for each in value
        )
    return str(value).lstrip("/")


def _kids(element: Any) -> list[Any]:
    kids = element.get("/K", pikepdf.Array())
    return list(kids) if isinstance(kids, pikepdf.Array) else [kids]


def _key(kid: Any, element: Any) -> tuple[Any, int]:
    if isinstance(kid, pikepdf.Dictionary):
        return kid.get("/Stm", kid.get("/Pg", element.get("/Pg"))).objgen, int(kid.MCID)
    return element.Pg.objgen, int(kid)


def _texts_of(pdf: pikepdf.Pdf) -> dict[Any, str]:
    """Return the text of each sequence of marked content, by its stream or page and its number."""
    texts: dict[Any, str] = {}
    for page in pdf.pages:
        _read_stream(page.obj, page.obj.Resources, texts)
    return texts


def _read_stream(stream: Any, resources: Any, texts: dict[Any, str]) -> None:
    open_: list[int | None] = []
    decode: dict[int, str] = {}
    encoding = SIMPLE
    for operands, operator in pikepdf.parse_content_stream(stream):
        match str(operator):
            case "BDC" | "BMC":
                properties = operands[1] if len(operands) > 1 else {}
                number = int(properties["/MCID"]) if "/MCID" in properties else None
                open_.append(number)
                if number is not None:
                    texts[stream.objgen, number] = ""
            case "EMC":
                open_.pop()
            case "Tf":
                font = resources.Font[str(operands[0])]
                decode = _read_cmap(font.ToUnicode.read_bytes())
                encoding = read_encoding(font)
            case "Tj" | "TJ":
                shown = operands[0] if str(operator) == "TJ" else [operands[0]]
                number = next((one for one in reversed(open_) if one is not None), None)
                if number is not None:
                    texts[stream.objgen, number] += _decode(shown, decode, encoding)
            case "Do":
                called = resources.XObject[str(operands[0])]
                if called.get("/Subtype") == "/Form" and "/Resources" in called:
                    _read_stream(called, called.Resources, texts)


def _decode(shown: Any, decode: dict[int, str], encoding: Encoding) -> str:
    data = b"".join(bytes(part) for part in shown if isinstance(part, pikepdf.String))
    return "".join(decode[int.from_bytes(code)] for code in encoding.split(data))


def _read_cmap(cmap: bytes) -> dict[int, str]:
    found: dict[int, str] = {}
    for kind, section in re.findall(rb"beginbf(char|range)(.*?)endbf", cmap, re.DOTALL):
        if kind == b"char":
            for code, text in re.findall(rb"<(\w+)>\s*<(\w+)>", section):
                found[int(code, 16)] = bytes.fromhex(text.decode()).decode("utf-16-be")
            continue
        for first, last, text in re.findall(rb"<(\w+)>\s*<(\w+)>\s*<(\w+)>", section):
            start = int(text, 16)
            for code in range(int(first, 16), int(last, 16) + 1):
                found[code] = chr(start + code - int(first, 16))
        for first, _, each in re.findall(rb"<(\w+)>\s*<(\w+)>\s*\[(.*?)\]", section, re.DOTALL):
            for at, text in enumerate(re.findall(rb"<(\w+)>", each)):
                found[int(first, 16) + at] = bytes.fromhex(text.decode()).decode("utf-16-be")
    return found
