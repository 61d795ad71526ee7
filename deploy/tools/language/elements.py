"""The element sections of LANGUAGE.md, with the mistakes reported for each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import chain, groupby
from typing import Any, Final

from defusedxml.ElementTree import fromstring

from deploy.tools.language.examples import Example, find_examples
from deploy.tools.language.markdown import (
    anchor_of,
    code,
    collapse_sides,
    describe_attributes,
    find_samples,
    join_list,
    link,
    picture,
    read_guide,
    table,
)
from deploy.tools.language.mistakes import SPECIAL, Mistake, find_diagnostic
from workers.engine.data_tables import read_table
from workers.engine.syntax.vocabulary import (
    BOX_PROPERTIES,
    BREAK_PROPERTIES,
    COMMON,
    ELEMENTS,
    NUMBER_PROPERTIES,
    TEXT_PROPERTIES,
    AttributeSpec,
    ContentModel,
    ElementSpec,
)

GROUPS: Final[Mapping[str, Sequence[AttributeSpec]]] = {
    "common": COMMON,
    "text": TEXT_PROPERTIES,
    "box": BOX_PROPERTIES,
    "break": BREAK_PROPERTIES,
    "number": NUMBER_PROPERTIES,
}
SHARED: Final = {spec.name: spec for group in GROUPS.values() for spec in group}


def write_elements(widths: Mapping[str, int]) -> str:
    """Return a section for each element; adjacent elements that differ only in name share one."""
    blocks, inline = (
        join_list(map(link, sorted(_parents_with(content))))
        for content in (ContentModel.BLOCKS, ContentModel.INLINE)
    )
    head = (
        f"*Blocks* are allowed in {blocks}; text and inline elements directly in them form an anonymous "
        f"paragraph. *Inline* elements are allowed in {inline} too.\n\n"
        "Attributes may contain `{{ }}`, unless they are expressions themselves or marked †: those "
        "are evaluated before the data. ↓ marks inherited properties."
    )
    grouped = groupby(ELEMENTS.values(), key=_without_name)
    return "\n\n".join([head, *(_write_section([*specs], widths) for _, specs in grouped)])


def write_mistakes(mistakes: Iterable[Mistake]) -> str:
    """Return a list of mistakes with the engine's messages.

    Raises:
        LookupError: The engine does not report one of them.
    """
    return "\n".join(map(_write_mistake, mistakes))


def _write_mistake(mistake: Mistake) -> str:
    found = find_diagnostic(mistake)
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
            f"{_write_parents(specs[0])} {_write_children(specs[0])}",
            _own_attributes(specs),
            _shared_attributes(specs[0]),
            *_examples(specs, widths),
            write_mistakes(mistake for spec in specs for mistake in SPECIAL[spec.name]),
        )
        if part
    )


def _purposes(specs: Sequence[ElementSpec]) -> list[str]:
    if len(specs) == 1:
        return [specs[0].doc]
    return [f"- {code(spec.name)}: {spec.doc}" for spec in specs]


def _write_parents(spec: ElementSpec) -> str:
    parents = {other.name for other in ELEMENTS.values() if spec.name in other.children}
    if not parents:
        return "The root element."
    parents_text = []
    for kind_name, content in (
        ("blocks", ContentModel.BLOCKS),
        ("inline elements", ContentModel.INLINE),
    ):
        if _parents_with(content) <= parents:
            parents_text.append(f"where {kind_name} are allowed")
            parents -= _parents_with(content)
    parents_text += [f"in {link(name)}" for name in sorted(parents)]
    return f"Allowed {join_list(parents_text)}."


def _parents_with(content: ContentModel) -> frozenset[str]:
    return frozenset(spec.name for spec in ELEMENTS.values() if spec.content is content)


def _write_children(spec: ElementSpec) -> str:
    if spec.content is ContentModel.LISTED:
        return f"Children: {join_list(map(link, sorted(spec.children)))}."
    return f"Content: {spec.content.value}."


def _own_attributes(specs: Sequence[ElementSpec]) -> str:
    own = [attribute for attribute in specs[0].attributes.values() if not is_shared(attribute)]
    return describe_attributes(own, *(spec.name for spec in specs)) if own else ""


def _shared_attributes(spec: ElementSpec) -> str:
    """Return a sentence with the shared attributes of an element, by group."""
    groups = [*_taken_groups(spec)]
    shared = [attribute for attribute in spec.attributes.values() if is_shared(attribute)]
    mark = " †" if shared and all(attribute.is_fixed for attribute in shared) else ""
    return f"Shared attributes{mark}: {'; '.join(groups)}." if groups else ""


def _taken_groups(spec: ElementSpec) -> Iterator[str]:
    for title, group in GROUPS.items():
        own = [spec.attributes[one.name] for one in group if one.name in spec.attributes]
        taken = [attribute.name for attribute in own if is_shared(attribute)]
        missing = [one.name for one in group if one.name not in spec.attributes]
        named = f"[{title}](#group-{title})"
        if not taken:
            continue
        if len(missing) > len(taken):
            yield f"of {named} {join_list(map(code, collapse_sides(taken)))}"
        elif missing:
            yield f"{named} without {join_list(map(code, collapse_sides(missing)))}"
        else:
            yield named


def is_shared(attribute: AttributeSpec) -> bool:
    """Return whether an attribute is described by a group; in a style it takes no expressions."""
    return replace(attribute, is_fixed=False, types=(), needed_by=()) == SHARED.get(attribute.name)


# --- examples -------------------------------------------------------------------------------------------


def _examples(specs: Sequence[ElementSpec], widths: Mapping[str, int]) -> Iterator[str]:
    names = {spec.name for spec in specs}
    for example in find_examples():
        if example.names[0] in names:
            yield _write_example(example, widths)
        elif names.intersection(example.names):
            yield f"See the example of {link(example.names[0])}."


def _write_example(example: Example, widths: Mapping[str, int]) -> str:
    return f"```xml\n{example.text}\n```\n\n{picture(example.names[0], widths)}"


MOST_CHARACTERS: Final = 48  # of a value, so that an example stands on one line
_WRITTEN: Final = read_table(__package__, "attribute_examples.txt")


def write_attribute_index() -> str:
    """Return a table of all attributes and properties by name.

    Raises:
        LookupError: An attribute has no example.
    """
    rows = []
    for name in sorted({name for element in ELEMENTS.values() for name in element.attributes}):
        owners = [
            each
            for each, spec in ELEMENTS.items()
            if name in spec.attributes and not is_shared(spec.attributes[name])
        ]
        links = [f"[{each}](#{anchor_of(name, each)})" for each in owners]
        if name in SHARED:
            links.insert(0, f"[most elements](#{anchor_of(name)})")
        rows.append((code(name), ", ".join(links), code(write_example(name))))
    return table(("Attribute", "Of", "Example"), rows)


def write_example(name: str) -> str:
    """Return a start tag with an attribute, as an example of the reference has it.

    Raises:
        LookupError: Nothing shows it: write one into attribute_examples.txt.
    """
    if written := _WRITTEN.get(name):
        return written
    for tag, attribute, value in _find_uses():
        if attribute == name and len(value) <= MOST_CHARACTERS:
            return f'<{tag} {name}="{value}">'
    raise LookupError(f"no example has the attribute {name}")


@lru_cache(maxsize=1)
def _find_uses() -> tuple[tuple[str, str, str], ...]:
    documents = chain(
        (example.document for example in find_examples()),
        (sample.document for sample in find_samples(read_guide())),
    )
    return tuple(chain.from_iterable(map(_uses_in, documents)))


def _uses_in(document: str) -> Iterator[tuple[str, str, str]]:
    for element in fromstring(document).iter():
        for name, value in element.attrib.items():
            yield element.tag, name, " ".join(value.split())
