"""LANGUAGE.md: the guide, with its tables and every element written from the vocabulary."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any, Final

from deploy.language.examples import Example, find_examples
from deploy.language.formulas import FILTER_GROUPS, OPERATORS, SAMPLE, Formula
from deploy.language.guide import PICTURE
from deploy.language.mistakes import GENERAL, SPECIAL, Mistake, find_mistake
from deploy.language.words import code, describe_specs, listed, row, without_sides
from workers.engine.syntax.vocabulary import (
    BOX_PROPERTIES,
    BREAK_PROPERTIES,
    COMMON,
    ELEMENTS,
    TEXT_PROPERTIES,
    AttributeSpec,
    Content,
    ElementSpec,
)
from workers.engine.tree.filters import FILTERS
from workers.engine.tree.looks import WRITTEN

PICTURES: Final = "../../deploy/pictures/language"  # from where LANGUAGE.md lies

_MARK: Final = re.compile(r"<!-- generated: ([a-z]+) -->")
_NOTICE: Final = "<!-- Written by `make language` from the vocabulary; changes here are lost. -->"
_GROUPS: Final[Mapping[str, Sequence[AttributeSpec]]] = {
    "common": COMMON,
    "text": TEXT_PROPERTIES,
    "box": BOX_PROPERTIES,
    "break": BREAK_PROPERTIES,
}
_SHARED: Final = {spec.name: spec for group in _GROUPS.values() for spec in group}


def write_reference(guide: str, widths: Mapping[str, int]) -> str:
    """Write LANGUAGE.md from the guide; `widths` are those of the pictures as shown, in pixels.

    Raises:
        KeyError: the guide asks for a part or a picture that there is not.
        LookupError: the engine does not tell one of the mistakes.
    """
    parts: Mapping[str, Callable[[], str]] = {
        "contents": lambda: _write_contents(guide),
        "operators": _write_operators,
        "sample": lambda: " ".join(SAMPLE.split()),
        "filters": _write_filters,
        "looks": _write_looks,
        "groups": _write_groups,
        "mistakes": lambda: "\n".join(_mistake_lines(GENERAL)),
        "elements": lambda: _write_elements(widths),
    }
    text = _MARK.sub(lambda mark: parts[mark[1]](), guide)
    text = PICTURE.sub(lambda mark: _picture(f"{mark[1]}.png", mark[1], widths), text)
    text = re.sub(r"^```(\w+) payload.*$", r"```\1", text, flags=re.MULTILINE)
    return f"{_NOTICE}\n\n{text}"


# --- contents -------------------------------------------------------------------------------------------


def _write_contents(guide: str) -> str:
    titles = re.findall(r"^## (.+)$", guide, re.MULTILINE)
    lines = [f"- [{title}](#{title.lower().replace(' ', '-')})" for title in titles]
    return "\n".join(
        [*lines, "", f"Elements: {' '.join(_link(name) for name in sorted(ELEMENTS))}"]
    )


def _link(name: str) -> str:
    return f"[`{name}`](#{name})"


def _links(names: Iterable[str]) -> str:
    return listed([_link(name) for name in names])


def _picture(file: str, alt: str, widths: Mapping[str, int]) -> str:
    return f'<img src="{PICTURES}/{file}" width="{widths[file]}" alt="{alt}, rendered">'


# --- expressions ----------------------------------------------------------------------------------------


def _write_operators() -> str:
    lines = [row("Written", "Example", "Gives"), row("---", "---", "---")]
    lines += [row(written, code(f.expression), code(f.result)) for written, f in OPERATORS]
    return "\n".join(lines)


def _write_filters() -> str:
    tables = []
    for title, filters in FILTER_GROUPS.items():
        lines = [row(title, "What it does", "Examples"), row("---", "---", "---")]
        lines += [_filter_row(name, formulas) for name, formulas in filters.items()]
        tables.append("\n".join(lines))
    return "\n\n".join(tables)


def _filter_row(name: str, formulas: tuple[Formula, ...]) -> str:
    known = FILTERS[name]
    doc = known.function.__doc__ or f"Give the language's name of a {name.removesuffix('_name')}."
    return row(code(known.usage), doc.partition("\n")[0], "<br>".join(map(_show_formula, formulas)))


def _show_formula(formula: Formula) -> str:
    lang = f" ({formula.lang})" if formula.lang != "en" else ""
    return f"{code(formula.expression)} gives {code(formula.result)}{lang}"


# --- styles ---------------------------------------------------------------------------------------------


def _write_looks() -> str:
    lines = [row("Element", "Properties"), row("---", "---")]
    for written, names in groupby(WRITTEN, key=lambda name: [*WRITTEN[name].items()]):
        properties = " ".join(code(f'{name}="{value}"') for name, value in written)
        lines.append(row(" ".join(_link(name) for name in names), properties))
    return "\n".join(lines)


def _write_groups() -> str:
    return "\n\n".join(
        f'<a id="group-{title}"></a>\n**{title.capitalize()}**\n\n{describe_specs(specs)}'
        for title, specs in _GROUPS.items()
    )


# --- mistakes -------------------------------------------------------------------------------------------


def _mistake_lines(mistakes: Iterable[Mistake]) -> Iterator[str]:
    for mistake in mistakes:
        found = find_mistake(mistake)
        yield f"- {found.severity.value} `{found.code}`: {_quoted(found.message)}"


def _quoted(message: str) -> str:
    """Keep expressions and angle brackets in a message from being read as Markdown."""
    return message.replace("<", "&lt;").replace("*", "\\*")


# --- elements -------------------------------------------------------------------------------------------


def _write_elements(widths: Mapping[str, int]) -> str:
    blocks, inline = _holders(Content.BLOCKS), _holders(Content.INLINE)
    head = (
        f"*Blocks* stand in {_links(sorted(blocks))}. Loose text and inline elements there make a "
        f"paragraph without a name. *Inline* elements stand in {_links(sorted(inline))} too.\n\n"
        "Attributes may hold `{{ }}` unless they are marked † (read before any data are known) or "
        "are an expression themselves; ↓ marks what is inherited."
    )
    sections = [_write_section(specs, widths) for specs in _alike()]
    return "\n\n".join([head, *sections])


def _alike() -> Iterator[tuple[ElementSpec, ...]]:
    """Give neighbours that differ in their names alone as one."""
    for _, specs in groupby(ELEMENTS.values(), key=_without_name):
        yield tuple(specs)


def _without_name(spec: ElementSpec) -> tuple[Any, ...]:
    return describe_specs([*spec.attributes.values()]), spec.content, spec.children


def _holders(content: Content) -> frozenset[str]:
    return frozenset(spec.name for spec in ELEMENTS.values() if spec.content is content)


def _write_section(specs: tuple[ElementSpec, ...], widths: Mapping[str, int]) -> str:
    first = specs[0]
    anchors = "".join(f'<a id="{spec.name}"></a>' for spec in specs)
    title = f"### {', '.join(code(spec.name) for spec in specs)}\n\n{anchors}"
    parts = [title, *_purposes(specs), f"{_places(first)} {_holds(first)}"]
    own = [spec for spec in first.attributes.values() if not _is_shared(spec)]
    if own:
        parts.append(describe_specs(own))
    if shared := _describe_shared(first):
        parts.append(shared)
    parts += [_show_example(example, specs, widths) for example in _examples_of(specs)]
    if lines := [*_mistake_lines(m for spec in specs for m in SPECIAL.get(spec.name, ()))]:
        parts.append("\n".join(["What may be told of it:", "", *lines]))
    return "\n\n".join(parts)


def _purposes(specs: tuple[ElementSpec, ...]) -> list[str]:
    if len(specs) == 1:
        return [specs[0].doc]
    return ["\n".join(f"- {code(spec.name)}: {spec.doc}" for spec in specs)]


def _places(spec: ElementSpec) -> str:
    parents = {other.name for other in ELEMENTS.values() if spec.name in other.children}
    places = []
    for words, holders in (
        ("where blocks stand", _holders(Content.BLOCKS)),
        ("where inline elements stand", _holders(Content.INLINE)),
    ):
        if holders <= parents:
            places.append(words)
            parents -= holders
    places += [_link(name) for name in sorted(parents)]
    return (
        f"Stands {'in ' if not places[0].startswith('where') else ''}{listed(places)}."
        if places
        else ""
    )


def _holds(spec: ElementSpec) -> str:
    match spec.content:
        case Content.EMPTY:
            return "Holds nothing."
        case Content.LISTED:
            return f"Holds {_links(sorted(spec.children))}."
        case Content.TEXT | Content.INLINE | Content.BLOCKS | Content.PARENT:
            return f"Holds {spec.content.value}."


def _describe_shared(spec: ElementSpec) -> str:
    """Say which of the shared attributes an element takes, group by group."""
    said = []
    for title, group in _GROUPS.items():
        own = [spec.attributes[s.name] for s in group if s.name in spec.attributes]
        names = [attribute.name for attribute in own if _is_shared(attribute)]
        missing = [s.name for s in group if s.name not in spec.attributes]
        link = f"[{title}](#group-{title})"
        if names and not missing:
            said.append(link)
        elif names and len(missing) <= len(names):
            said.append(f"{link} without {listed(map(code, without_sides(missing)))}")
        elif names:
            said.append(f"of {link} {listed(map(code, without_sides(names)))}")
    mark = " †" if spec.name == "style" else ""
    return f"Shared attributes{mark}: {'; '.join(said)}." if said else ""


def _is_shared(spec: AttributeSpec) -> bool:
    """Tell whether a group describes an attribute; a style takes it without expressions."""
    return replace(spec, is_fixed=False) == _SHARED.get(spec.name)


def _examples_of(specs: tuple[ElementSpec, ...]) -> list[Example]:
    return [e for e in find_examples() if any(spec.name in e.names for spec in specs)]


def _show_example(
    example: Example, specs: tuple[ElementSpec, ...], widths: Mapping[str, int]
) -> str:
    if example.names[0] not in {spec.name for spec in specs}:
        return f"The example of {_link(example.names[0])} shows it."
    picture = _picture(example.picture, example.names[0], widths)
    return f"```xml\n{example.text}\n```\n\n{picture}"
