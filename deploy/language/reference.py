"""LANGUAGE.md: the guide, with the tables and the sections of elements written into it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from itertools import groupby
from typing import Final

from deploy.language.elements import GROUPS, write_elements, write_mistakes
from deploy.language.formulas import FILTER_GROUPS, OPERATORS, SAMPLE, Formula
from deploy.language.guide import PICTURE
from deploy.language.mistakes import GENERAL
from deploy.language.words import code, describe_attributes, link, picture, row
from workers.engine.syntax.vocabulary import ELEMENTS
from workers.engine.tree.filters import FILTERS
from workers.engine.tree.looks import WRITTEN, WRITTEN_ENTRIES, WRITTEN_IN_LISTS

_MARK: Final = re.compile(r"<!-- generated: ([a-z]+) -->")
_NOTICE: Final = "<!-- Written by `make language`; changes here are lost. -->"


def write_reference(guide: str, widths: Mapping[str, int]) -> str:
    """Write LANGUAGE.md from the guide; `widths` are those of the pictures as shown, in pixels.

    Raises:
        KeyError: the guide asks for a part or a picture that there is not.
        LookupError: the engine does not tell one of the mistakes.
    """
    parts: Mapping[str, Callable[[], str]] = {
        "contents": lambda: _write_contents(guide),
        "operators": _write_operators,
        "sample": lambda: f"```json\n{SAMPLE}\n```",
        "filters": _write_filters,
        "looks": _write_looks,
        "groups": _write_groups,
        "entry-looks": _write_entry_looks,
        "mistakes": lambda: write_mistakes(GENERAL),
        "elements": lambda: write_elements(widths),
    }
    text = _MARK.sub(lambda mark: parts[mark[1]](), guide)
    text = PICTURE.sub(lambda mark: picture(mark[1], widths), text)
    text = re.sub(r"^```(\w+) payload.*$", r"```\1", text, flags=re.MULTILINE)
    return f"{_NOTICE}\n\n{text}"


def _write_contents(guide: str) -> str:
    titles = re.findall(r"^## (.+)$", guide, re.MULTILINE)
    lines = [f"- [{title}](#{title.lower().replace(' ', '-')})" for title in titles]
    return "\n".join([*lines[:-1], f"{lines[-1]}: {' '.join(map(link, sorted(ELEMENTS)))}"])


# --- expressions ----------------------------------------------------------------------------------------


def _write_operators() -> str:
    lines = [row("Written", "Example", "Gives"), row("---", "---", "---")]
    lines += [row(written, code(f.expression), code(f.result)) for written, f in OPERATORS]
    return "\n".join(lines)


def _write_filters() -> str:
    return "\n\n".join(_filter_table(*group) for group in FILTER_GROUPS.items())


def _filter_table(title: str, filters: Mapping[str, tuple[Formula, ...]]) -> str:
    lines = [row(title, "What it does", "Examples"), row("---", "---", "---")]
    for name, formulas in filters.items():
        shown = "<br>".join(map(_show_formula, formulas))
        lines.append(row(code(FILTERS[name].usage), _describe_filter(name), shown))
    return "\n".join(lines)


def _describe_filter(name: str) -> str:
    doc = FILTERS[name].function.__doc__
    if doc:
        return doc.partition("\n")[0]
    return f"Give the name of a {name.removesuffix('_name')} in the language of the text."


def _show_formula(formula: Formula) -> str:
    lang = f" ({formula.lang})" if formula.lang != "en" else ""
    return f"{code(formula.expression)} gives {code(formula.result)}{lang}"


# --- styles ---------------------------------------------------------------------------------------------


def _write_looks() -> str:
    lines = [row("Element", "Properties"), row("---", "---")]
    for looks, where in ((WRITTEN, ""), (WRITTEN_IN_LISTS, f" in {link('li')}")):
        for written, names in groupby(looks, key=lambda name: [*looks[name].items()]):
            properties = " ".join(code(f'{name}="{value}"') for name, value in written)
            lines.append(row(" ".join(map(link, names)) + where, properties))
    return "\n".join(lines)


def _write_entry_looks() -> str:
    lines = [row("Style", "Properties"), row("---", "---")]
    for name, written in WRITTEN_ENTRIES.items():
        properties = " ".join(code(f'{one}="{value}"') for one, value in written.items())
        lines.append(row(code(name), properties))
    return "\n".join(lines)


def _write_groups() -> str:
    return "\n\n".join(
        f'<a id="group-{title}"></a>**{title.capitalize()}**\n\n{describe_attributes(specs)}'
        for title, specs in GROUPS.items()
    )
