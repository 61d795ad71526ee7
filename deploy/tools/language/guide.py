"""The written part of the reference: its text, and the documents in it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from workers.engine.ports import Payload, PayloadKind

_GUIDE: Final = Path(__file__).with_name("guide.md")
RECIPES: Final = Path(__file__).with_name("recipes")
_RECIPE: Final = re.compile(r"<!-- recipe: ([a-z-]+) -->")
_BLOCK: Final = re.compile(
    r"^```(?P<kind>\w+)(?P<payload> payload)?(?: flow=(?P<flow>\w+))?\n(?P<text>.*?)^```$"
    r"(?:\n\n<!-- picture: (?P<picture>[a-z-]+) -->)?",
    re.MULTILINE | re.DOTALL,
)
PICTURE: Final = re.compile(r"<!-- picture: ([a-z-]+) -->")


@dataclass(frozen=True, slots=True)
class Sample:
    """A document of the guide with its payload, and the name of its picture, if any."""

    document: str
    payload: Payload | None
    picture: str | None

    @property
    def shows_pages(self) -> bool:
        """Whether its picture shows whole pages."""
        return "<page" in self.document


def read_guide() -> str:
    """Read the guide, with each recipe as a block of code and its picture.

    Raises:
        FileNotFoundError: The guide names a recipe that is not in the folder.
    """

    def write_recipe(mark: re.Match[str]) -> str:
        document = (RECIPES / f"{mark[1]}.xml").read_text()
        return f"```xml\n{document}```\n\n<!-- picture: {mark[1]} -->"

    return _RECIPE.sub(write_recipe, _GUIDE.read_text())


def find_samples(guide: str) -> tuple[Sample, ...]:
    """Return the documents of a guide in order; a payload is merged into the last document before it."""
    samples: list[Sample] = []
    document = ""
    for block in _BLOCK.finditer(guide):
        payload = None
        if block["payload"]:
            kind = PayloadKind(block["kind"])
            payload = Payload(kind, block["text"].encode(), flow=block["flow"])
        else:
            document = block["text"]
        samples.append(Sample(document, payload, block["picture"]))
    return tuple(samples)
