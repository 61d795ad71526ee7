"""Measure a page of text in each script next to one in English: `python tests/bench/scripts.py`.

CPU milliseconds of a document, from JSON text to finished PDF: median, warm, other text for every
document. Nothing here passes or fails.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from babel import Locale

from workers.engine.fonts import BUNDLED, FontRequest, needs_shaping, shape_word
from workers.engine.pipeline import prepare_template, render
from workers.engine.ports import Payload, PayloadKind, RenderOptions

LIMIT = 4  # times English
NOTE = f"""\
CPU milliseconds of a page of five paragraphs, from JSON text to finished PDF: median, warm, other text
for every document. Every page is filled alike, so that a script of narrow letters has more of them.
Words are the {{words:,}} or so that each language has for countries, languages and currencies. Thai of
random syllables, hardly a word among them and no two alike, is what no memory of words helps with.
At most {LIMIT} × English is asked."""
TEMPLATE = (
    '<document lang="{lang}"><page size="A4"/><flow>'
    '<p for="text in data.texts">{{{{ text }}}}</p></flow></document>'
)
PARAGRAPHS = 5
FILLED = 430.0  # em of a paragraph, some nine lines of it
WARM_UP, REPEATS = 20, 41
OPTIONS = RenderOptions(now=datetime(2026, 3, 2, 9, 30, tzinfo=UTC))


@dataclass(frozen=True)
class Row:
    """A script: how its phrases are made by chance, and what is between them."""

    title: str
    lang: str
    phrase: Callable[[random.Random], str]
    space: str = " "


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=REPEATS, help="documents of each script")
    count = parser.parse_args().repeats
    warm_up = min(count, WARM_UP)
    vocabulary = len(words_of("en"))
    print(NOTE.format(words=vocabulary) + "\n", flush=True)
    print("| text | characters | CPU ms | English | times | kept |\n|---|--:|--:|--:|--:|---|")
    english, *others = rows()
    for row in others:
        own, simple = Script(row), Script(english)
        # In turn, so that a machine that others use is as slow for both.
        pairs = [(own.render(seed), simple.render(seed)) for seed in range(warm_up + count)]
        measured = pairs[warm_up:]
        mine, theirs = (statistics.median(times) for times in zip(*measured, strict=True))
        times = statistics.median(mine / theirs for mine, theirs in measured)
        is_kept = "yes" if times <= LIMIT else "**no**"
        figures = f"{own.characters:,} | {mine:.2f} | {theirs:.2f} | × {times:.1f}"
        print(f"| {row.title} | {figures} | {is_kept} |", flush=True)


def rows() -> list[Row]:
    return [
        Row("English", "en", one_of("en")),
        Row("Arabic", "ar", one_of("ar")),
        Row("Hebrew", "he", one_of("he")),
        Row("Hindi", "hi", one_of("hi")),
        Row("Bengali", "bn", one_of("bn")),
        Row("Tamil", "ta", one_of("ta")),
        Row("Thai, words that recur", "th", several_of("th", 8)),
        Row("Thai, random syllables", "th", thai_syllables),
        Row("Chinese", "zh", several_of("zh", 8), "\uff0c"),
        Row("Japanese", "ja", several_of("ja", 8), "\u3001"),
        Row("Korean", "ko", one_of("ko")),
    ]


def words_of(lang: str) -> list[str]:
    locale = Locale(lang)
    names = (*locale.languages.values(), *locale.territories.values(), *locale.currencies.values())
    words = {word for name in names for word in str(name).split()}
    return sorted(word for word in words if word[0].isalpha() and not word.endswith(")"))


def one_of(lang: str) -> Callable[[random.Random], str]:
    words = words_of(lang)
    return lambda chance: chance.choice(words)


def several_of(lang: str, count: int) -> Callable[[random.Random], str]:
    """Return a function that makes phrases of `count` words without spaces."""
    words = [word for word in words_of(lang) if not word.isascii()]
    return lambda chance: "".join(chance.choices(words, k=count))


def thai_syllables(chance: random.Random) -> str:
    """Return a phrase of forty syllables: consonants, vowels before, above, below, behind, and tones."""
    return "".join(_syllable(chance) for _ in range(40))


def _syllable(chance: random.Random) -> str:
    consonants = "กขคฆงจฉชซญดตถทธนบปผฝพฟภมยรลวศษสหอฮ"
    before, behind = chance.choice(
        [("", ""), ("เ", ""), ("แ", ""), ("โ", ""), ("", "า"), ("", "ะ")]
    )
    above = chance.choice(["", "", "\u0e34", "\u0e35", "\u0e31", "\u0e38", "\u0e39"])
    tone = chance.choice(["", "", "\u0e48", "\u0e49"])
    end = chance.choice(["", "ก", "น", "ม", "ง"])
    return before + chance.choice(consonants) + above + tone + behind + end


class Script:
    """A script's page, rendered over and over with other text."""

    def __init__(self, row: Row) -> None:
        self.row = row
        self.template = prepare_template(TEMPLATE.format(lang=row.lang).encode())
        self.characters = PARAGRAPHS * characters_of(row)

    def render(self, seed: int) -> float:
        """Render a document and return the CPU milliseconds."""
        chance = random.Random(seed)
        length = self.characters // PARAGRAPHS
        texts = [write_paragraph(self.row, chance, length) for _ in range(PARAGRAPHS)]
        payload = Payload(
            PayloadKind.JSON, json.dumps({"texts": texts}, ensure_ascii=False).encode()
        )
        began = time.process_time()
        pages = render(self.template, payload, options=OPTIONS).pages
        took = time.process_time() - began
        assert pages == 1
        return 1000 * took


def write_paragraph(row: Row, chance: random.Random, characters: int) -> str:
    text = ""
    while len(text) < characters:
        text += row.phrase(chance) + row.space
    return text[: -len(row.space)]


def characters_of(row: Row) -> int:
    """Return the number of characters that fill a paragraph, by the mean width of phrases no document uses."""
    sample = write_paragraph(row, random.Random("sample"), 2_000)
    width = 0.0
    for face, part in BUNDLED.split((), FontRequest(400, 100, is_italic=False), sample, row.lang):
        is_rtl = row.lang in ("ar", "he")
        shaped = is_rtl or needs_shaping(part)
        width += (
            shape_word(face, part, is_rtl=is_rtl, lang=row.lang).width
            if shaped
            else face.measure(part)
        )
    return round(FILLED * len(sample) / width)


if __name__ == "__main__":
    main()
