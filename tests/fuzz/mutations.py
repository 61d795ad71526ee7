"""Mutations: small damage and strange values in documents and data that are right."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from random import Random

from workers.engine.syntax.vocabulary import ELEMENTS, AttributeSpec

_VALUES = (
    *(
        "", "0", "-1", "1mm", "-5mm", "5000mm", "1e9pt", "0.0001pt", "100%", "1000%", "9999fr",
        "auto",
    ),
    *(
        "90deg", "45deg", "error", "shrink", "hidden", "ellipsis", "visible", "avoid", "page",
        "column",
    ),
    *(
        "left", "right", "nowrap", "pre", "justify", "decimal", "true", "false", "none",
        "transparent",
    ),
    *(
        "repeat(99, 1fr)", "repeat(3, 40mm)", "0 0 0 0", "1pt solid red", "{{ nothing }}",
        "{{ 1 / 0 }}",
    ),
    *("{{ [1, 2] }}", "{{ range(10000) }}", "x in range(2000)", "page.number", "totals.a.here"),
    *(
        "k", "k1, k2", "#k", "1pt solid k", "#12345g", "{{ k }}", "k.k", "k for k in k", "de",
        "xx-Qaaa",
    ),
    *("999999999999999999999999", "1e400", "\u202e\u0000", "ﷺ" * 50, "a" * 3000, "\u00ad" * 200),
)  # fmt: skip
_PIECES = (
    *("<p>x</p>", "<box height='3mm'>", "</box>", "<div columns='3'>", "</div>", "<table><tr><td>"),
    *(
        "</td></tr></table>",
        "<group for='i in range(300)'>",
        "</group>",
        "<grid grid-template-columns='1fr'>",
    ),
    *(
        "</grid>", "<break/>", "<markdown>**a", "</markdown>", "<br/>", "&#0;", "&amp;",
        "<![CDATA[", "]]>",
    ),
    *("{{", "}}", "{{ loop.index }}", "<!--", "-->", '"', "'", "<", ">", "\u200b", "\r"),
)  # fmt: skip
_ATTRIBUTE = re.compile(r'([\w-]+)=("[^"]*"|\'[^\']*\')')
_OPENING = re.compile(r"<(\w+)(?=[\s/>])")
_ELEMENT = re.compile(r"<(\w+)[^<>]*(?:/>|>[^<>]*</\1>)")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")

Mutation = Callable[[str, Random, Sequence[str]], str]


def mutate(text: str, random: Random, others: Sequence[str]) -> str:
    """Return a text with one to four mutations; `others` are texts to take pieces from.

    Two thirds of the texts stay well-formed: what is wrong with them is found by later stages.
    """
    mutations = random.choice((_MUTATIONS, _WELL_FORMED, _WELL_FORMED))
    for _ in range(random.randint(1, 4)):
        text = random.choice(mutations)(text, random, others)
    return text[:200_000]


def _change_value(text: str, random: Random, _: Sequence[str]) -> str:
    return _replace_one(_ATTRIBUTE, text, random, lambda m: f'{m[1]}="{random.choice(_VALUES)}"')


def _move_value(text: str, random: Random, others: Sequence[str]) -> str:
    given = _ATTRIBUTE.findall(random.choice([*others, text]))
    if not given:
        return text
    name, value = random.choice(given)
    return _replace_one(_ATTRIBUTE, text, random, lambda m: f"{m[0]} {name}={value}")


def _add_value(text: str, random: Random, _: Sequence[str]) -> str:
    """Add an attribute that the language has for an element, and return the text."""

    def add(match: re.Match[str]) -> str:
        spec = ELEMENTS.get(match[1])
        if spec is None or not spec.attributes:
            return match[0]
        attribute = random.choice(sorted(spec.attributes.values(), key=_name))
        return f'{match[0]} {attribute.name}="{_value(random, attribute)}"'

    return _replace_one(_OPENING, text, random, add)


def _add_style(text: str, random: Random, _: Sequence[str]) -> str:
    """Declare a style of an element, which may be the document's."""
    tag = random.choice(("document", random.choice(sorted(ELEMENTS))))
    attribute = random.choice(sorted(ELEMENTS["style"].attributes.values(), key=_name))
    style = f'<style element="{tag}" {attribute.name}="{_value(random, attribute)}"/>'
    return re.sub(r"(<document[^>]*>)", lambda m: m[0] + style, text, count=1)


def _value(random: Random, attribute: AttributeSpec) -> str:
    """Return any value, or one that is valid by itself: a name may still be undeclared."""
    values = [*_VALUES, *attribute.value_type.choices]
    right = [value for value in random.sample(values, 40) if _is_right(attribute, value)]
    return random.choice(right if right and random.random() < 0.7 else values).replace('"', "'")


def _is_right(attribute: AttributeSpec, value: str) -> bool:
    try:
        attribute.value_type.parse(value)
    except ValueError:
        return False
    return True


def _name(attribute: AttributeSpec) -> str:
    return attribute.name


def _change_number(text: str, random: Random, _: Sequence[str]) -> str:
    numbers = (
        "0",
        "-1",
        "1",
        "3",
        "7.5",
        "100",
        "99999",
        "0.00001",
        "123456789012345678901234567890",
    )
    return _replace_one(_NUMBER, text, random, lambda _: random.choice(numbers))


def _delete(text: str, random: Random, _: Sequence[str]) -> str:
    start, end = _span(text, random, 60)
    return text[:start] + text[end:]


def _repeat(text: str, random: Random, _: Sequence[str]) -> str:
    start, end = _span(text, random, 300)
    return text[:end] + text[start:end] * random.choice((1, 2, 30)) + text[end:]


def _insert(text: str, random: Random, _: Sequence[str]) -> str:
    at = random.randint(0, len(text))
    return text[:at] + random.choice(_PIECES) + text[at:]


def _splice(text: str, random: Random, others: Sequence[str]) -> str:
    other = random.choice([*others, text])
    start, end = _span(other, random, 500)
    at = random.randint(0, len(text))
    return text[:at] + other[start:end] + text[at:]


def _move_element(text: str, random: Random, others: Sequence[str]) -> str:
    """Insert a whole element of one document before an element of another."""
    found = list(_ELEMENT.finditer(random.choice([*others, text])))
    places = [match.start() for match in re.finditer(r"<\w", text)]
    if not found or not places:
        return text
    at = random.choice(places)
    return text[:at] + random.choice(found)[0] + text[at:]


def _replace_one(
    pattern: re.Pattern[str], text: str, random: Random, make: Callable[[re.Match[str]], str]
) -> str:
    found = list(pattern.finditer(text))
    if not found:
        return text
    match = random.choice(found)
    return text[: match.start()] + make(match) + text[match.end() :]


def _span(text: str, random: Random, longest: int) -> tuple[int, int]:
    start = random.randint(0, len(text))
    return start, min(len(text), start + random.randint(1, longest))


_WELL_FORMED: Sequence[Mutation] = (
    *(_change_value, _change_value, _change_number, _add_value, _add_value, _add_style),
    _move_element,
)
_MUTATIONS: Sequence[Mutation] = (
    *(_change_value, _change_value, _move_value, _move_value, _change_number, _change_number),
    *(_add_value, _add_value, _add_style),
    *(_delete, _repeat, _insert, _splice, _move_element, _move_element),
)
