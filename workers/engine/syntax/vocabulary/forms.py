"""The elements of forms."""

from __future__ import annotations

from typing import Final

from workers.engine.syntax import values as v
from workers.engine.syntax.names import FIELD_NAME
from workers.engine.syntax.vocabulary.attribute_sets import (
    COMMON_WITHOUT_LANG,
    MONOLITHIC_BREAKS,
    PICTURE_BOX,
    only,
    without,
)
from workers.engine.syntax.vocabulary.properties import COMMON
from workers.engine.syntax.vocabulary.specs import (
    ContentModel,
    attribute,
    element,
    fixed,
    of_types,
    required,
)

MAX_LENGTH: Final = 10_000

_NAME: Final = required("name", FIELD_NAME, "Name of the field, unique in the document.")
_LABEL: Final = attribute(
    "label",
    v.TEXT,
    "Accessible name: what screen readers announce, and the tooltip of viewers. It is not drawn.",
)
_REQUIRED: Final = attribute(
    "required", v.BOOLEAN, "Whether a viewer asks for a value before it submits the form.", "false"
)
_READONLY: Final = attribute("readonly", v.BOOLEAN, "Whether the value is fixed.", "false")
_INTERACTIVE: Final = attribute(
    "interactive",
    v.BOOLEAN,
    "Whether it is a field; with false its box and value are drawn only, for filling by hand.",
    "true",
)
_MAX_LENGTH: Final = attribute(
    "max-length", v.count(1, MAX_LENGTH), "Maximum number of characters."
)
_TEXT: Final = (
    *("font-family", "font-size", "font-weight", "font-stretch", "font-style", "color"),
    "direction",
)
_BOX: Final = (
    *only(*_TEXT),
    *without(PICTURE_BOX, "rotate", "opacity", "background-image"),
    *MONOLITHIC_BREAKS,
)  # fmt: skip
_ALIGN: Final = only("text-align")

FORM_ELEMENTS: Final = (
    element(
        "input", "A form field: a line of text, a checkbox, or a radio button. Radio buttons of one name are a group, of which one is checked.", ContentModel.EMPTY,
        *fixed(attribute("type", v.choice("text", "checkbox", "radio"), "Type of field.", "text")),
        required("name", FIELD_NAME, "Name of the field, unique in the document; radio buttons of a group share it."),
        _LABEL,
        attribute("value", v.TEXT, "Text in the field; for a checkbox and a radio button the value while it is checked, which is yes unless given for a checkbox, and required for a radio button."),
        *of_types(("checkbox", "radio"), attribute("checked", v.BOOLEAN, "Whether a checkbox or radio button is checked.", "false")),
        _REQUIRED, _READONLY, _INTERACTIVE,
        of_types(("text",), _MAX_LENGTH, attribute("comb", v.count(1, 100), "Number of equal cells with one character each, such as 22 for an IBAN; no more characters are accepted.")),
        COMMON, of_types(("text",), *_ALIGN), _BOX,
    ),
    element(
        "textarea", "A form field of several lines of text.", ContentModel.EMPTY,
        _NAME, _LABEL,
        attribute("value", v.TEXT, "Text in the field; line ends in data are kept."),
        _REQUIRED, _READONLY, _INTERACTIVE, _MAX_LENGTH,
        COMMON, _ALIGN, _BOX,
    ),
    element(
        "select", "A form field with a list of options, of which one is selected.", ContentModel.LISTED,
        _NAME, _LABEL,
        attribute("value", v.TEXT, "Value of the selected option; none is selected unless given."),
        _REQUIRED, _READONLY, _INTERACTIVE, COMMON, _ALIGN, _BOX,
        children=("option",),
    ),
    element(
        "option", "An option of a `select`: its text.", ContentModel.TEXT,
        attribute("value", v.TEXT, "Value of the field while the option is selected; its text unless given."),
        without(COMMON, "id", "class", "lang"),
    ),
    element(
        "signature", "An empty signature field, to be signed in a viewer or by a signing service.", ContentModel.EMPTY,
        _NAME, _LABEL, _REQUIRED, _INTERACTIVE, COMMON_WITHOUT_LANG,
        without(_BOX, *_TEXT, "padding", "padding-top", "padding-right", "padding-bottom", "padding-left"),
    ),
)  # fmt: skip
