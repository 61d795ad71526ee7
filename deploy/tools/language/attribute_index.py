"""The index of attributes: each with the elements that have it, and an example."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Final

from defusedxml.ElementTree import fromstring

from deploy.tools.language.elements import SHARED, is_shared
from deploy.tools.language.examples import find_examples
from deploy.tools.language.guide import find_samples, read_guide
from deploy.tools.language.markdown import anchor_of, code, row
from workers.engine.syntax.vocabulary import ELEMENTS

MOST_CHARACTERS: Final = 48  # of a value, so that an example stands on one line
_WRITTEN: Final = Path(__file__).with_name("attribute_examples.txt")


def write_attribute_index() -> str:
    """Return a table of all attributes and properties by name.

    Raises:
        LookupError: An attribute has no example.
    """
    lines = [row("Attribute", "Of", "Example"), row("---", "---", "---")]
    for name in sorted({name for element in ELEMENTS.values() for name in element.attributes}):
        owners = [
            each
            for each, spec in ELEMENTS.items()
            if name in spec.attributes and not is_shared(spec.attributes[name])
        ]
        links = [f"[{each}](#{anchor_of(name, each)})" for each in owners]
        if name in SHARED:
            links.insert(0, f"[most elements](#{anchor_of(name)})")
        lines.append(row(code(name), ", ".join(links), code(write_example(name))))
    return "\n".join(lines)


def write_example(name: str) -> str:
    """Return a start tag with an attribute, as an example of the reference has it.

    Raises:
        LookupError: Nothing shows it: write one into attribute_examples.txt.
    """
    if written := _read_written().get(name):
        return written
    for tag, attribute, value in _find_uses():
        if attribute == name and len(value) <= MOST_CHARACTERS:
            return f'<{tag} {name}="{value}">'
    raise LookupError(f"no example has the attribute {name}")


@lru_cache(maxsize=1)
def _read_written() -> dict[str, str]:
    lines = (line.partition(": ") for line in _WRITTEN.read_text().splitlines())
    return {name: example for name, _, example in lines}


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
