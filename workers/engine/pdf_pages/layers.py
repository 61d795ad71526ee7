"""Layers of a PDF (optional content, ISO 32000-1, 8.11): which of them are hidden when it is opened."""

from __future__ import annotations

from workers.engine.pdf_pages.file import PdfFile, is_name
from workers.engine.pdf_pages.objects import IndirectReference, PdfObject


class Layers:
    """The layers of a file in the state of its default configuration."""

    def __init__(self, file: PdfFile) -> None:
        self._file = file
        properties = file.resolve_dictionary(file.catalog.get("OCProperties"))
        default = file.resolve_dictionary(properties.get("D"))
        self._is_off = is_name(default.get("BaseState"), "OFF")
        self._on = _numbers(file.resolve_list(default.get("ON")))
        self._off = _numbers(file.resolve_list(default.get("OFF")))

    def is_hidden(self, value: PdfObject) -> bool:
        """Return whether a layer, or a membership in several of them, is hidden."""
        entries = self._file.resolve_dictionary(value)
        if not is_name(entries.get("Type"), "OCMD"):
            return isinstance(value, IndirectReference) and self._is_layer_hidden(value.number)
        groups = self._file.resolve(entries.get("OCGs"))
        found = groups if isinstance(groups, list) else [entries.get("OCGs")]
        hidden = [
            self._is_layer_hidden(each.number)
            for each in found
            if isinstance(each, IndirectReference)
        ]
        match entries.get("P", "AnyOn"):
            case "AllOn":
                return any(hidden)
            case "AnyOff":
                return bool(hidden) and not any(hidden)
            case "AllOff":
                return bool(hidden) and not all(hidden)
            case _:
                return bool(hidden) and all(hidden)

    def _is_layer_hidden(self, number: int) -> bool:
        return number in self._off or (self._is_off and number not in self._on)


def _numbers(values: list[PdfObject]) -> frozenset[int]:
    return frozenset(value.number for value in values if isinstance(value, IndirectReference))
