"""Fill in and read a form with poppler: `python3 poppler_forms.py IN OUT` reads values as JSON from standard input.

It runs with the interpreter of the distribution, which has poppler's bindings (gir1.2-poppler-0.18). The
values of the file are printed as JSON: texts, of boxes and buttons a list of their states, of choices the
label.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import gi

gi.require_version("Poppler", "0.18")
from gi.repository import Poppler  # noqa: E402


def main() -> None:
    """Fill in and print."""
    source, target = (Path(name).resolve().as_uri() for name in sys.argv[1:3])
    values = json.load(sys.stdin)
    document = Poppler.Document.new_from_file(source, None)
    found = {}
    mappings = document.get_page(0).get_form_field_mapping()
    for mapping in sorted(mappings, key=lambda one: (-one.area.y2, one.area.x1)):
        field = mapping.field
        name = field.get_name()
        if name in values:
            fill(field, values[name], len(found.get(name, ())))
        read(field, name, found)
    if values:
        document.save(target)
    json.dump(found, sys.stdout)


def fill(field, value, number) -> None:
    """Set a value; of buttons of one name, `number` counts."""
    kind = field.get_field_type()
    if kind == Poppler.FormFieldType.BUTTON:
        if value[number]:
            field.button_set_state(True)
    elif kind == Poppler.FormFieldType.CHOICE:
        labels = [field.choice_get_item(at) for at in range(field.choice_get_n_items())]
        field.choice_select_item(labels.index(value))
    else:
        field.text_set_text(value)


def read(field, name, found) -> None:
    """Add the value of a field."""
    kind = field.get_field_type()
    if kind == Poppler.FormFieldType.BUTTON:
        found.setdefault(name, []).append(field.button_get_state())
    elif kind == Poppler.FormFieldType.CHOICE:
        count = field.choice_get_n_items()
        chosen = [
            field.choice_get_item(at) for at in range(count) if field.choice_is_item_selected(at)
        ]
        found[name] = "".join(chosen)
    elif kind == Poppler.FormFieldType.TEXT:
        found[name] = field.text_get_text() or ""


if __name__ == "__main__":
    main()
