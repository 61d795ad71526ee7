"""The words of PDFs compared: two engines that set the same document print the same words."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pypdfium2


def count_words(file: Path, running_content: str) -> tuple[int, Counter[str]]:
    """Return the number of pages, and how often each word is on them, running content left out."""
    document = pypdfium2.PdfDocument(file)
    words: Counter[str] = Counter()
    for page in document:
        text = page.get_textpage().get_text_range().replace("\r", "")
        lines = "\n".join(" ".join(line.split()) for line in text.split("\n"))
        words.update(re.sub(running_content, " ", lines).split())
    pages = len(document)
    document.close()
    return pages, words


def compare_words(ours: Counter[str], theirs: Counter[str]) -> str:
    """Describe whether two documents print the same words, or which words only one of them has."""
    if ours == theirs:
        return f"the same {ours.total():,}"
    return f"differ: {_some(ours - theirs)} only in ours, {_some(theirs - ours)} only there"


def _some(words: Counter[str]) -> str:
    shown = " ".join(f"`{word}`" for word, _ in words.most_common(5))
    return f"{words.total():,}{' (' + shown + ')' if shown else ''}"
