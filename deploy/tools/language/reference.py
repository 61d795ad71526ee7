"""LANGUAGE.md: the guide with generated tables and element sections."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from itertools import groupby
from typing import Final

from deploy.tools.language.elements import (
    GROUPS,
    write_attribute_index,
    write_elements,
    write_mistakes,
)
from deploy.tools.language.formulas import FILTER_GROUPS, OPERATORS, SAMPLE, Formula
from deploy.tools.language.markdown import PICTURE, code, describe_attributes, link, picture, table
from deploy.tools.language.mistakes import GENERAL
from workers.engine.einvoices import PROFILE_TERM, Level, walk_terms
from workers.engine.syntax.vocabulary import ELEMENTS
from workers.engine.tree.expressions.filters import FILTERS
from workers.engine.tree.styles.cascade import DECLARATIONS, ENTRY_DECLARATIONS, LIST_DECLARATIONS

_MARK: Final = re.compile(r"<!-- generated: ([a-z-]+) -->")
_FROM: Final = {
    Level.MINIMUM: "minimum",
    Level.BASIC_WL: "basicwl",
    Level.BASIC: "basic",
    Level.EN16931: "en16931",
}
_NOTICE: Final = "<!-- Written by `make language`; changes here are lost. -->"


def write_reference(guide: str, widths: Mapping[str, int]) -> str:
    """Return LANGUAGE.md; `widths` are the display widths of the pictures in CSS px, by file name.

    Raises:
        KeyError: The guide names an unknown part or picture.
        LookupError: The engine does not report one of the mistakes.
    """
    parts: Mapping[str, Callable[[], str]] = {
        "contents": lambda: _write_contents(guide),
        "operators": _write_operators,
        "sample": lambda: f"```json\n{SAMPLE}\n```",
        "filters": _write_filters,
        "default-styles": _write_default_styles,
        "groups": _write_groups,
        "entry-styles": _write_entry_styles,
        "terms": _write_terms,
        "mistakes": lambda: write_mistakes(GENERAL),
        "attributes": write_attribute_index,
        "elements": lambda: write_elements(widths),
    }
    text = _MARK.sub(lambda mark: parts[mark[1]](), guide)
    text = PICTURE.sub(lambda mark: picture(mark[1], widths), text)
    text = re.sub(r"^```(\w+) payload.*$", r"```\1", text, flags=re.MULTILINE)
    return f"{_NOTICE}\n\n{text}"


def _write_contents(guide: str) -> str:
    titles = re.findall(r"^## (.+)$", guide, re.MULTILINE)
    lines = [
        f"- [{title}](#{re.sub(r'[^a-z -]', '', title.lower()).replace(' ', '-')})"
        for title in titles
    ]
    return "\n".join([*lines[:-1], f"{lines[-1]}: {' '.join(map(link, sorted(ELEMENTS)))}"])


def _write_terms() -> str:
    rows = [
        (code(path), term.number, term.data_type.value, term.doc, _FROM[term.level])
        for path, term in ((place.path, place.term) for place in walk_terms())
        if term.name != PROFILE_TERM
    ]
    return table(("Member", "Term", "Kind", "Meaning", "From profile"), rows)


# --- expressions ----------------------------------------------------------------------------------------


def _write_operators() -> str:
    rows = [(written, code(f.expression), code(f.result)) for written, f in OPERATORS]
    return table(("Syntax", "Example", "Result"), rows)


def _write_filters() -> str:
    return "\n\n".join(_filter_table(*group) for group in FILTER_GROUPS.items())


def _filter_table(title: str, filters: Mapping[str, list[Formula]]) -> str:
    rows = [
        (code(FILTERS[name].usage), describe_filter(name), "<br>".join(map(_show_formula, shown)))
        for name, shown in filters.items()
    ]
    return table((title, "Effect", "Examples"), rows)


def describe_filter(name: str) -> str:
    """Return the description of a filter in one line."""
    doc = FILTERS[name].function.__doc__
    if doc:
        return doc.partition("\n")[0]
    return f"Return the name of a {name.removesuffix('_name')} in the language of the text."


def _show_formula(formula: Formula) -> str:
    lang = f" ({formula.lang})" if formula.lang != "en" else ""
    return f"{code(formula.expression)} → {code(formula.result)}{lang}"


# --- styles ---------------------------------------------------------------------------------------------


def _write_default_styles() -> str:
    rows = []
    for styles, where in ((DECLARATIONS, ""), (LIST_DECLARATIONS, f" in {link('li')}")):
        for written, names in groupby(styles, key=lambda name: [*styles[name].items()]):
            properties = " ".join(code(f'{name}="{value}"') for name, value in written)
            rows.append((" ".join(map(link, names)) + where, properties))
    return table(("Element", "Properties"), rows)


def _write_entry_styles() -> str:
    rows = [
        (code(name), " ".join(code(f'{one}="{value}"') for one, value in written.items()))
        for name, written in ENTRY_DECLARATIONS.items()
    ]
    return table(("Style", "Properties"), rows)


def _write_groups() -> str:
    return "\n\n".join(
        f'<a id="group-{title}"></a>**{title.capitalize()}**\n\n{describe_attributes(specs)}'
        for title, specs in GROUPS.items()
    )
