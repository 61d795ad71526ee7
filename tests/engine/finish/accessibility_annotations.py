"""Annotations of an accessible file: checkpoint 28 of the Matterhorn Protocol (ISO 14289-1, 7.18)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import pikepdf

from tests.engine.finish.accessibility_tree import Tree
from tests.engine.finish.matterhorn import name

# The types that PDF 1.7 defines (12.5.6.1, table 169), apart from those with rules of their own.
DEFINED: Final = {
    *("Text", "FreeText", "Line", "Square", "Circle", "Polygon", "PolyLine", "Highlight"),
    *("Underline", "Squiggly", "StrikeOut", "Stamp", "Caret", "Ink", "Popup", "FileAttachment"),
    *("Sound", "Movie", "Screen", "Watermark", "3D", "Redact"),
}


def check_annotations(page: Any, tree: Tree) -> Iterator[str]:
    """Yield the conditions that the annotations of a page fail."""
    annotations = list(page.get("/Annots", pikepdf.Array()))
    if annotations and "/Tabs" not in page:
        yield name("28-008")
    elif annotations and page.Tabs != "/S":
        yield name("28-009", page.Tabs)
    for annotation in annotations:
        if not _is_outside(annotation, page):
            yield from _check_annotation(annotation, tree)


def _is_outside(annotation: Any, page: Any) -> bool:
    """Return whether no page shows an annotation, which then needs no tag (7.18.1)."""
    left, bottom, right, top = (float(each) for each in page.get("/CropBox", page.MediaBox))
    rectangle = [float(each) for each in annotation.Rect]
    is_beside = max(rectangle[0::2]) <= left or min(rectangle[0::2]) >= right
    return is_beside or max(rectangle[1::2]) <= bottom or min(rectangle[1::2]) >= top


def _check_annotation(annotation: Any, tree: Tree) -> Iterator[str]:
    kind = str(annotation.Subtype).lstrip("/")
    around = tree.type_around(annotation)
    has_language = tree.has_language(tree.annotations.get(annotation.objgen))
    if _says(annotation, "/Contents") and not has_language:
        yield name("11-004", kind)
    match kind:
        case "Widget":
            yield from _check_widget(annotation, tree, has_language=has_language)
        case "Link":
            if around != "Link":
                yield name("28-011", around)
            if not _says(annotation, "/Contents"):
                yield name("28-012")
        case "PrinterMark":
            yield from _check_printer_mark(annotation, around)
        case "TrapNet":
            yield name("28-007")
        case _:
            yield from _check_other(annotation, tree, kind)


def _check_widget(widget: Any, tree: Tree, *, has_language: bool) -> Iterator[str]:
    above = tree.annotations.get(widget.objgen)
    if tree.type_around(widget) != "Form":
        yield name("28-010", tree.type_around(widget))
    elif isinstance(above.K, pikepdf.Array):
        yield "structure: a Form holds more than its widget (PDF 1.7, 14.8.4.5)"
    is_named = _says(widget, "/TU") or _says(widget.get("/Parent", {}), "/TU")
    if is_named and not has_language:
        yield name("11-005", widget.get("/T", ""))
    if not is_named and tree.promises and not (above is not None and above.get("/Alt")):
        yield name("28-005", widget.get("/T", ""))


def _check_printer_mark(mark: Any, around: str | None) -> Iterator[str]:
    if around is not None:
        yield name("28-017", around)
    drawn = mark.get("/AP", {}).get("/N")
    if isinstance(drawn, pikepdf.Stream):
        first = next(iter(pikepdf.parse_content_stream(drawn)), None)
        is_artifact = first is not None and str(first.operator) in ("BMC", "BDC")
        if not (is_artifact and first is not None and first.operands[0] == "/Artifact"):
            yield name("28-018")


def _check_other(annotation: Any, tree: Tree, kind: str) -> Iterator[str]:
    """Check an annotation of another type, which the engine does not write so far."""
    above = tree.annotations.get(annotation.objgen)
    is_inside = tree.type_around(annotation) == "Annot"
    is_described = _says(annotation, "/Contents") or bool(above is not None and above.get("/Alt"))
    if kind not in DEFINED and not (is_inside and is_described):
        yield name("28-006", kind)
    if not is_inside:
        yield name("28-002", kind)
    if not is_described:
        yield name("28-004", kind)
    if kind == "FileAttachment" and not {"/F", "/UF"} <= set(annotation.get("/FS", {}).keys()):
        yield name("28-016")


def check_media_clip(clip: Any) -> Iterator[str]:
    """Check the data of a media clip (PDF 1.7, 13.2.4.2)."""
    if "/CT" not in clip:
        yield name("28-014")
    if "/Alt" not in clip:
        yield name("28-015")


def _says(holder: Any, key: str) -> bool:
    return bool(str(holder.get(key, "")).strip())
