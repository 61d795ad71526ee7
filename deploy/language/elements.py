"""The sections of LANGUAGE.md that describe elements, and the mistakes told of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any, Final

from deploy.language.examples import Example, find_examples
from deploy.language.mistakes import SPECIAL, Mistake, find_mistake
from deploy.language.words import code, describe_attributes, link, listed, picture, without_sides
from workers.engine.syntax.vocabulary import (
    BOX_PROPERTIES,
    BREAK_PROPERTIES,
    COMMON,
    ELEMENTS,
    NUMBER_PROPERTIES,
    TEXT_PROPERTIES,
    AttributeSpec,
    Content,
    ElementSpec,
)

GROUPS: Final[Mapping[str, Sequence[AttributeSpec]]] = {
    "common": COMMON,
    "text": TEXT_PROPERTIES,
    "box": BOX_PROPERTIES,
    "break": BREAK_PROPERTIES,
    "number": NUMBER_PROPERTIES,
}
_SHARED: Final = {spec.name: spec for group in GROUPS.values() for spec in group}


def write_elements(widths: Mapping[str, int]) -> str:
    """Write a section for each element; neighbours that differ in their names alone share one."""
    blocks, inline = (
        listed(map(link, sorted(_holders(content)))) for content in (Content.BLOCKS, Content.INLINE)
    )
    head = (
        f"*Blocks* stand in {blocks}; loose text and inline elements there make a paragraph without "
        f"a name. *Inline* elements stand in {inline} too.\n\n"
        "Attributes may hold `{{ }}` unless they are an expression themselves or are marked †, "
        "which are read before any data are known. ↓ marks what is inherited."
    )
    alike = groupby(ELEMENTS.values(), key=_without_name)
    return "\n\n".join([head, *(_write_section([*specs], widths) for _, specs in alike)])


def write_mistakes(mistakes: Iterable[Mistake]) -> str:
    """List what the engine tells of mistakes.

    Raises:
        LookupError: it does not tell one of them.
    """
    return "\n".join(map(_tell, mistakes))


def _tell(mistake: Mistake) -> str:
    found = find_mistake(mistake)
    message = found.message.replace("<", "&lt;").replace("*", "\\*")  # it is text, not Markdown
    return f"- {found.severity.value} `{found.code}`: {message}"


# --- one section ----------------------------------------------------------------------------------------


def _without_name(spec: ElementSpec) -> tuple[Any, ...]:
    return describe_attributes([*spec.attributes.values()]), spec.content, spec.children


def _write_section(specs: Sequence[ElementSpec], widths: Mapping[str, int]) -> str:
    return "\n\n".join(
        part
        for part in (
            f"### {', '.join(code(spec.name) for spec in specs)}",
            "".join(f'<a id="{spec.name}"></a>' for spec in specs),
            "\n".join(_purposes(specs)),
            f"{_places(specs[0])} {_holds(specs[0])}",
            _own_attributes(specs[0]),
            _shared_attributes(specs[0]),
            *_examples(specs, widths),
            write_mistakes(mistake for spec in specs for mistake in SPECIAL.get(spec.name, ())),
        )
        if part
    )


def _purposes(specs: Sequence[ElementSpec]) -> list[str]:
    if len(specs) == 1:
        return [specs[0].doc]
    return [f"- {code(spec.name)}: {spec.doc}" for spec in specs]


def _places(spec: ElementSpec) -> str:
    parents = {other.name for other in ELEMENTS.values() if spec.name in other.children}
    if not parents:
        return "Stands by itself."
    places = []
    for words, content in (("blocks", Content.BLOCKS), ("inline elements", Content.INLINE)):
        if _holders(content) <= parents:
            places.append(f"where {words} stand")
            parents -= _holders(content)
    places += [f"in {link(name)}" for name in sorted(parents)]
    return f"Stands {listed(places)}."


def _holders(content: Content) -> frozenset[str]:
    return frozenset(spec.name for spec in ELEMENTS.values() if spec.content is content)


def _holds(spec: ElementSpec) -> str:
    if spec.content is Content.LISTED:
        return f"Holds {listed(map(link, sorted(spec.children)))}."
    return f"Holds {spec.content.value}."


def _own_attributes(spec: ElementSpec) -> str:
    own = [attribute for attribute in spec.attributes.values() if not _is_shared(attribute)]
    return describe_attributes(own) if own else ""


def _shared_attributes(spec: ElementSpec) -> str:
    """Say which of the shared attributes an element takes, group by group, in the fewest words."""
    said = [*_taken_groups(spec)]
    shared = [attribute for attribute in spec.attributes.values() if _is_shared(attribute)]
    mark = " †" if shared and all(attribute.is_fixed for attribute in shared) else ""
    return f"Shared attributes{mark}: {'; '.join(said)}." if said else ""


def _taken_groups(spec: ElementSpec) -> Iterator[str]:
    for title, group in GROUPS.items():
        own = [spec.attributes[one.name] for one in group if one.name in spec.attributes]
        taken = [attribute.name for attribute in own if _is_shared(attribute)]
        missing = [one.name for one in group if one.name not in spec.attributes]
        named = f"[{title}](#group-{title})"
        if not taken:
            continue
        if len(missing) > len(taken):
            yield f"of {named} {listed(map(code, without_sides(taken)))}"
        elif missing:
            yield f"{named} without {listed(map(code, without_sides(missing)))}"
        else:
            yield named


def _is_shared(attribute: AttributeSpec) -> bool:
    """Tell whether a group describes an attribute; a style takes it without expressions."""
    return replace(attribute, is_fixed=False) == _SHARED.get(attribute.name)


# --- examples -------------------------------------------------------------------------------------------


def _examples(specs: Sequence[ElementSpec], widths: Mapping[str, int]) -> Iterator[str]:
    names = {spec.name for spec in specs}
    for example in find_examples():
        if example.names[0] in names:
            yield _show(example, widths)
        elif names.intersection(example.names):
            yield f"The example of {link(example.names[0])} shows it."


def _show(example: Example, widths: Mapping[str, int]) -> str:
    return f"```xml\n{example.text}\n```\n\n{picture(example.names[0], widths)}"
