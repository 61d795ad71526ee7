"""The written part of the reference: its text, and the documents that stand in it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from workers.engine.ports import Payload, PayloadKind

GUIDE: Final = Path(__file__).with_name("guide.md")
_BLOCK: Final = re.compile(
    r"^```(?P<kind>\w+)(?P<payload> payload)?(?: flow=(?P<flow>\w+))?\n(?P<text>.*?)^```$"
    r"(?:\n\n<!-- picture: (?P<picture>[a-z-]+) -->)?",
    re.MULTILINE | re.DOTALL,
)
PICTURE: Final = re.compile(r"<!-- picture: ([a-z-]+) -->")


@dataclass(frozen=True, slots=True)
class Sample:
    """A document of the guide, with the payload that goes over it; pictured under a name, or not."""

    document: str
    payload: Payload | None
    picture: str | None

    @property
    def shows_pages(self) -> bool:
        """Tell whether the picture is of whole pages."""
        return "<page" in self.document


def find_samples(guide: str) -> tuple[Sample, ...]:
    """Give the documents of a guide in order; a payload goes over the last document before it."""
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
