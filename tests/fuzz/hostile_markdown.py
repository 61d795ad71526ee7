"""Markdown to fuzz with: examples of the specifications run into each other, and marks repeated."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from random import Random

SPECS = Path(__file__).parents[1] / "engine" / "merge" / "specs"
LONGEST = 32_000
_MARKS = (
    *("*", "**", "_", "__", "~", "~~", "`", "```", "[", "]", "](", "![", "(", ")", "<", ">", "</", "<!--"),
    *("<?", "<![CDATA[", "&amp;", "&", "#", "\\", "|", "|-", ":-", "\n", "\n\n", "\n- ", "\n1. ", "\n> "),
    *("    ", "\t", "[^1]", "\n[^1]: ", "[a]: ", "www.", "https://a.b", "a@b.c", "a", " ", "\u00ad", "漢"),
)  # fmt: skip


def make_markdown(random: Random) -> str:
    """Return a hostile Markdown text."""
    if random.random() < 0.5:
        return _repeated(random)
    examples = random.choices(_examples(), k=random.randint(1, 12))
    text = "".join(_cut(example, random) for example in examples)
    return (text * random.choice((1, 1, 2, 50)))[:LONGEST]


def _repeated(random: Random) -> str:
    """Return a repeated short unit, which exposes quadratic time."""
    text = ""
    for _ in range(random.randint(1, 3)):
        unit = "".join(random.choices(_MARKS, k=random.randint(1, 5)))
        text += unit * random.choice((1, 10, 1000, 10_000))
    return text[:LONGEST]


def _cut(text: str, random: Random) -> str:
    at = random.randint(0, len(text))
    return random.choice(
        (text, text[:at], text[at:], text[:at] + random.choice(_MARKS) + text[at:])
    )


@cache
def _examples() -> list[str]:
    files = sorted(SPECS.glob("*.json"))
    return [one["markdown"] for path in files for one in json.loads(path.read_text())]
