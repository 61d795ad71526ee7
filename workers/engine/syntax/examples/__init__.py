"""Examples of elements, which LANGUAGE.md lists with pictures.

Each is a file named after its elements: a document, or the content of a flow. They use a stored image
`logo` and a stored font `brand`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path


@cache
def read_examples() -> Mapping[str, str]:
    """Return the example of each element that has one, by its name."""
    return {
        name: file.read_text("utf-8").strip()
        for file in Path(__file__).parent.glob("*.xml")
        for name in file.stem.split("+")
    }
