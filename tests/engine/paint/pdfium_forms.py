"""Forms filled in and read with pdfium, as a user of its viewers does."""

from __future__ import annotations

import ctypes
import io
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pypdfium2
import pypdfium2.raw as pdfium

BOX, RADIO, CHOICE = (
    pdfium.FPDF_FORMFIELD_CHECKBOX,
    pdfium.FPDF_FORMFIELD_RADIOBUTTON,
    pdfium.FPDF_FORMFIELD_COMBOBOX,
)


def read_by_pdfium(file: bytes) -> dict[str, str]:
    """Return the values of fields; of boxes and buttons that of the checked one, empty without."""
    values: dict[str, str] = {}
    with pypdfium2.PdfDocument(file) as document:
        document.init_forms()
        form = document.formenv
        for annotation, name in _widgets(document, document[0]):
            kind = pdfium.FPDFAnnot_GetFormFieldType(form, annotation)
            if kind in (BOX, RADIO):
                is_checked = pdfium.FPDFAnnot_IsChecked(form, annotation)
                own = _text(pdfium.FPDFAnnot_GetFormFieldExportValue, form, annotation)
                values[name] = own if is_checked else values.get(name, "")
            else:
                values[name] = _text(pdfium.FPDFAnnot_GetFormFieldValue, form, annotation)
    return values


def fill_by_pdfium(file: bytes, values: Mapping[str, str]) -> bytes:
    """Type texts, press boxes and buttons of a value, choose options, and save the file."""
    out = io.BytesIO()
    with pypdfium2.PdfDocument(file) as document:
        document.init_forms()
        page, form = document[0], document.formenv
        for annotation, name in _widgets(document, page):
            if name not in values:
                continue
            kind = pdfium.FPDFAnnot_GetFormFieldType(form, annotation)
            if kind in (BOX, RADIO):
                if (
                    _text(pdfium.FPDFAnnot_GetFormFieldExportValue, form, annotation)
                    == values[name]
                ):
                    _press(form, page, annotation)
                continue
            pdfium.FORM_SetFocusedAnnot(form, annotation)
            if kind == CHOICE:
                pdfium.FORM_SetIndexSelected(
                    form, page, _find_option(form, annotation, values[name]), True
                )
            else:
                pdfium.FORM_SelectAllText(form, page)
                pdfium.FORM_ReplaceSelection(form, page, _utf16(values[name]))
            pdfium.FORM_ForceToKillFocus(form)
        document.save(out)
    return out.getvalue()


def _press(form: Any, page: Any, annotation: Any) -> None:
    box = pdfium.FS_RECTF()
    pdfium.FPDFAnnot_GetRect(annotation, box)
    at = (box.left + box.right) / 2, (box.top + box.bottom) / 2
    pdfium.FORM_OnMouseMove(form, page, 0, *at)
    pdfium.FORM_OnLButtonDown(form, page, 0, *at)
    pdfium.FORM_OnLButtonUp(form, page, 0, *at)


def _find_option(form: Any, annotation: Any, label: str) -> int:
    count = pdfium.FPDFAnnot_GetOptionCount(form, annotation)
    labels = [_text(pdfium.FPDFAnnot_GetOptionLabel, form, annotation, at) for at in range(count)]
    return labels.index(label)


def _widgets(document: Any, page: Any) -> Iterator[tuple[Any, str]]:
    for at in range(pdfium.FPDFPage_GetAnnotCount(page)):
        annotation = pdfium.FPDFPage_GetAnnot(page, at)
        yield annotation, _text(pdfium.FPDFAnnot_GetFormFieldName, document.formenv, annotation)


def _text(read: Callable[..., int], *arguments: Any) -> str:
    size = read(*arguments, None, 0)
    text = (ctypes.c_ushort * (size // 2))()
    read(*arguments, text, size)
    return bytes(text).decode("utf-16-le").rstrip("\0")


def _utf16(text: str) -> Any:
    encoded = text.encode("utf-16-le") + b"\0\0"
    return (ctypes.c_ushort * (len(encoded) // 2)).from_buffer_copy(encoded)
