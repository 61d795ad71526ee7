"""Findings in the reader's language, from a catalogue in the format of gettext.

The engine writes findings in English, with values in place. A message of the catalogue has `{0}`, `{1}` …
where values stand, and applies to each text that it can be filled to: the reason why no stage of the engine
knows languages is in decision 0515.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from string import Formatter
from typing import Any, Final

from flask import has_request_context, request

SOURCE: Final = "en"
LANGUAGES: Final = (SOURCE, "de")
CODE: Final = "code"  # the context of titles of codes
DESCRIBED: Final = ("summary", "description", "x-displayName")  # the texts of an API's description
_FOLDER: Final = Path(__file__).parent
# Documents have texts of their own in findings, and a front is to translate a hundred of them in little time: what is beyond
# these bounds stays in English, after the title of its code.
_MAX_TEXT: Final = 1000  # characters
_MAX_SENTENCES: Final = 5
_MAX_DEPTH: Final = 5  # of messages within messages
_LEAST_SIZE: Final = 8  # literal characters of a message that begins and ends with values
_CODED: Final = re.compile(r"(.*) \[([a-z0-9-]+)\]( \(and [0-9,]+ more\))?", re.DOTALL)
_SENTENCES: Final = re.compile(r"(?<=\.) (?=[A-Z])")
_QUOTES: Final = ('"', "`")


@dataclass(frozen=True, slots=True)
class Message:
    """A message of a catalogue: the literal texts between its values, and its translation."""

    literals: tuple[str, ...]
    translation: str

    @classmethod
    def parse(cls, source: str, translation: str) -> Message:
        """Return the message of an English text with `{0}` for each value, in order."""
        literals = [""]
        for literal, value, _, _ in Formatter().parse(source):
            literals[-1] += literal
            if value is not None:
                literals.append("")
        return cls(tuple(literals), translation)

    @property
    def size(self) -> int:
        """The number of literal characters: of two messages that apply, the longer says more."""
        return sum(map(len, self.literals))

    @property
    def is_whole(self) -> bool:
        """Whether the message may be a whole finding; `{0} or {1}` is a part of one."""
        return bool(self.literals[0] or self.literals[-1]) or self.size >= _LEAST_SIZE

    def read_values(self, text: str) -> list[str] | None:
        """Return the values that fill the message to a text, None if none do. Time is linear in the text."""
        first, last = self.literals[0], self.literals[-1]
        if len(self.literals) == 1:
            return [] if text == first else None
        start, end = len(first), len(text) - len(last)
        if start > end or not text.startswith(first) or not text.endswith(last):
            return None
        values = []
        for literal in self.literals[1:-1]:
            found = text.find(literal, start, end)
            if found < 0:
                return None
            values.append(text[start:found])
            start = found + len(literal)
        return [*values, text[start:end]]


class Catalogue:
    """The messages of a language."""

    def __init__(self, messages: Mapping[str, str], titles: Mapping[str, str]) -> None:
        parsed = [Message.parse(source, text) for source, text in messages.items()]
        self.messages = sorted(parsed, key=lambda message: -message.size)
        self._anywhere = [message for message in self.messages if not message.literals[0]]
        self._by_letter = {
            letter: [each for each in self.messages if each.literals[0][:1] in ("", letter)]
            for letter in {message.literals[0][:1] for message in self.messages} - {""}
        }
        self.titles = titles
        self.translate = lru_cache(maxsize=1000)(self._translate)

    def _translate(self, text: str, code: str | None) -> str:
        """Translate a message; of one that is not in the catalogue, the title of its code precedes it."""
        coded = _CODED.fullmatch(text)
        message, mark = text, ""
        if coded is not None:
            message, code, more = coded.groups(default="")
            mark = f" [{code}]{self.find(more) or more}"
        if code is None or code not in self.titles:
            return text
        found = self.find(message) if len(message) <= _MAX_TEXT else None
        return (found or f"{self.titles[code]}: {message}") + mark

    def find(self, text: str, depth: int = 0) -> str | None:
        """Return the translation of a text, or of its sentences; None if no message applies."""
        if (found := self._fill(text, depth)) is not None or depth == _MAX_DEPTH:
            return found
        sentences = _SENTENCES.split(text)
        if len(sentences) == 1:
            return self._find_variant(text, depth)
        if len(sentences) > _MAX_SENTENCES:
            return None
        translated = [self.find(sentence, depth) for sentence in sentences]
        return " ".join(map(_either, translated, sentences)) if any(translated) else None

    def _find_variant(self, text: str, depth: int) -> str | None:
        """Return the translation of a text that stands within a sentence elsewhere, or ends one."""
        if text.endswith(".") and (found := self.find(text[:-1], depth)):
            return f"{found}."
        if text[:1].isupper() and (found := self._fill(text[0].lower() + text[1:], depth)):
            return found[0].upper() + found[1:]
        return None

    def _fill(self, text: str, depth: int) -> str | None:
        """Return the translation of the longest message that applies to a text."""
        for message in self._by_letter.get(text[:1], self._anywhere):
            if depth == 0 and not message.is_whole:
                continue
            values = message.read_values(text)
            if values is not None and not any(map(_SENTENCES.search, values)):
                return message.translation.format(*self._translate_values(message, values, depth))
        return None

    def _translate_values(self, message: Message, values: Sequence[str], depth: int) -> list[str]:
        """Translate the values that are texts of the engine; those in quotes are the author's."""
        around = zip(message.literals, values, message.literals[1:], strict=False)
        return [
            value if _is_quoted(before, after) else _either(self.find(value, depth + 1), value)
            for before, value, after in around
        ]


def _either(translated: str | None, text: str) -> str:
    return text if translated is None else translated


def _is_quoted(before: str, after: str) -> bool:
    return any(before.endswith(quote) and after.startswith(quote) for quote in _QUOTES)


@lru_cache
def read_catalogue(language: str) -> Catalogue:
    """Read the catalogue of a language."""
    texts = read_texts(f"{language}.po")
    return Catalogue(texts[None], texts[CODE])


def read_texts(name: str) -> Mapping[str | None, Mapping[str, str]]:
    """Read the translations of a file by their context."""
    # Fronts without readers of the language do not load the library.
    from babel.messages.pofile import read_po

    with (_FOLDER / name).open("rb") as file:
        entries = read_po(file)
    texts: dict[str | None, dict[str, str]] = {None: {}, CODE: {}}
    for entry in entries:
        if entry.id:
            texts[entry.context][str(entry.id)] = str(entry.string)
    return texts


def find_language() -> str:
    """Return the language of a response: the one that the request prefers, or English."""
    if not has_request_context():
        return SOURCE
    # Best first; `best_match` would prefer the exact `en` to the `de` of `de-AT, en;q=0.5`.
    asked = (tag.partition("-")[0].lower() for tag, quality in request.accept_languages if quality)
    return next((tag for tag in asked if tag in LANGUAGES), SOURCE)


def translate_findings(body: Any, language: str) -> Any:
    """Return the body of a response with its findings in a language."""
    return body if language == SOURCE else _translate_body(body, read_catalogue(language))


def translate_description(body: Any, texts: Mapping[str, str]) -> Any:
    """Return an OpenAPI description, or what is in it, with its texts translated."""
    if isinstance(body, Mapping):
        new = {name: translate_description(value, texts) for name, value in body.items()}
        told = {name: str(new.get(name)) for name in DESCRIBED}
        return new | {name: texts[text] for name, text in told.items() if text in texts}
    if isinstance(body, list | tuple):
        return [translate_description(each, texts) for each in body]
    return body


def _translate_body(body: Any, catalogue: Catalogue) -> Any:
    if isinstance(body, Mapping):
        new = {name: _translate_body(value, catalogue) for name, value in body.items()}
        match body:
            case {"message": str(text), "code": str(code)}:
                new["message"] = catalogue.translate(text, code)
            case {"message": str(text)}:
                new["message"] = catalogue.translate(text, None)
        return new
    if isinstance(body, list | tuple):
        return [_translate_body(value, catalogue) for value in body]
    return body
