"""Editor support for templates: completion and hover texts.

Works on the text up to the cursor, which is rarely well-formed during editing. All information comes
from the vocabulary and the filters.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from workers.engine.syntax.examples import read_examples
from workers.engine.syntax.lexer import ATTRIBUTE, TokenKind, read_tokens
from workers.engine.syntax.vocabulary import ELEMENTS, AttributeSpec, ContentModel, ElementSpec
from workers.engine.tree.expressions.filters import FILTERS

_NAME: Final = re.compile(r"[\w.-]*\Z")
_WORD: Final = re.compile(r"[\w.-]+")
_FILTER: Final = re.compile(r"\|\s*([\w-]*)\Z")
_MAX_DOC: Final = 600


class CompletionKind(StrEnum):
    """Kinds of completions."""

    ELEMENT = "element"
    ATTRIBUTE = "attribute"
    VALUE = "value"
    FILTER = "filter"


@dataclass(frozen=True, slots=True)
class Completion:
    """A completion at the cursor: its label, its documentation, and the text to insert."""

    label: str
    kind: CompletionKind
    documentation: str
    insert_text: str


@dataclass(frozen=True, slots=True)
class Hover:
    """The documentation of a word in Markdown, and the range of the word: offsets from 0."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _CursorContext:
    """The context of a cursor: the open elements, and the tag that contains it, '' outside of tags."""

    open: tuple[str, ...]
    tag: str
    tag_start: int


def complete(text: str, offset: int) -> list[Completion]:
    """Return the completions at an offset, in the order of the vocabulary."""
    before = text[:offset]
    context = _find_context(before)
    if _in_expression(before, context):
        found = _FILTER.search(before)
        return [] if found is None else _filters(found[1])
    if not context.tag:
        return []
    if context.tag.startswith("</"):
        return [_closing(name) for name in context.open[-1:]]
    name = context.tag[1:]
    if _NAME.fullmatch(name):
        return _elements(context.open, name)
    spec = ELEMENTS.get(_first_word(name))
    if spec is None:
        return []
    open_value = _open_value(context.tag)
    if open_value is not None:
        attribute, value = open_value
        return _values(spec.attributes.get(attribute), value)
    written = {found[1] for found in ATTRIBUTE.finditer(context.tag)}
    typed = _NAME.search(before)
    return _attributes(spec, written, typed[0] if typed else "")


def hover(text: str, offset: int) -> Hover | None:
    """Return the hover text of the word at an offset, None for a word without a meaning there."""
    found = next((w for w in _WORD.finditer(text) if w.start() <= offset <= w.end()), None)
    if found is None:
        return None
    before = text[: found.start()]
    context = _find_context(before)
    word = found[0]
    if _in_expression(before, context):
        is_filter = word in FILTERS and before.rstrip().endswith("|")
        return _at(found, f"`{FILTERS[word].usage}`: a filter.") if is_filter else None
    if context.tag in ("<", "</") and word in ELEMENTS:
        return _at(found, _describe_element(ELEMENTS[word]))
    spec = ELEMENTS.get(_first_word(context.tag[1:])) if context.tag else None
    if spec is None or _open_value(context.tag) is not None or word not in spec.attributes:
        return None
    return _at(found, _describe_attribute(spec.attributes[word]))


# --- context of the cursor ------------------------------------------------------------------------


def _find_context(before: str) -> _CursorContext:
    open_: list[str] = []
    for token in read_tokens(before):
        if not token.text.startswith("<") or token.text.startswith(("<!", "<?")):
            continue
        is_whole = token.text.endswith(">") and _open_value(token.text[:-1]) is None
        if token.end == len(before) and not is_whole:
            return _CursorContext(tuple(open_), token.text, token.start)
        if token.kind is TokenKind.END:
            while open_ and open_.pop() != token.name:
                pass
        elif token.kind is TokenKind.START:
            open_.append(token.name)
    return _CursorContext(tuple(open_), "", len(before))


def _in_expression(before: str, context: _CursorContext) -> bool:
    """Return whether the cursor is in `{{ }}`, or in an expression attribute."""
    start = context.tag_start if context.tag else before.rfind(">") + 1
    if before.rfind("{{", start) > before.rfind("}}", start):
        return True
    value = _open_value(context.tag) if context.tag else None
    spec = ELEMENTS.get(_first_word(context.tag[1:])) if context.tag else None
    attribute = spec.attributes.get(value[0]) if spec and value else None
    return attribute is not None and attribute.is_expression


def _open_value(tag: str) -> tuple[str, str] | None:
    """Return the attribute whose value is unterminated at the end of a tag, and the value so far."""
    values = list(ATTRIBUTE.finditer(tag))
    last = values[-1] if values else None
    if last is None or last.end() != len(tag):
        return None
    value = last[2]
    is_closed = len(value) > 1 and value[-1] == value[0]
    return None if is_closed else (last[1], value[1:])


def _first_word(text: str) -> str:
    found = _WORD.match(text)
    return found[0] if found else ""


# --- completion -----------------------------------------------------------------------------------


def _elements(open_: tuple[str, ...], typed: str) -> list[Completion]:
    allowed = _children_of(open_)
    offered = [spec for name, spec in ELEMENTS.items() if name in allowed]
    closing = [_closing(name, slash="/") for name in open_[-1:] if not typed]
    return [
        Completion(spec.name, CompletionKind.ELEMENT, _describe_element(spec), spec.name)
        for spec in offered
        if spec.name.startswith(typed)
    ] + closing


def _children_of(open_: tuple[str, ...]) -> frozenset[str]:
    """Return the children that the innermost element allows; skip elements with a transparent model."""
    if not open_:
        return frozenset(("document",))
    for name in reversed(open_):
        spec = ELEMENTS.get(name)
        if spec is None:
            return frozenset()
        if spec.content is not ContentModel.TRANSPARENT:
            return spec.children
    return frozenset()


def _closing(name: str, *, slash: str = "") -> Completion:
    return Completion(f"/{name}", CompletionKind.ELEMENT, f"Ends `{name}`.", f"{slash}{name}>")


def _attributes(spec: ElementSpec, written: set[str], typed: str) -> list[Completion]:
    return [
        Completion(name, CompletionKind.ATTRIBUTE, _describe_attribute(attribute), f'{name}=""')
        for name, attribute in spec.attributes.items()
        if name not in written and name.startswith(typed)
    ]


def _values(attribute: AttributeSpec | None, typed: str) -> list[Completion]:
    if attribute is None:
        return []
    return [
        Completion(word, CompletionKind.VALUE, attribute.doc, word)
        for word in attribute.value_type.choices
        if word.startswith(typed)
    ]


def _filters(typed: str) -> list[Completion]:
    return [
        Completion(name, CompletionKind.FILTER, f"`{FILTERS[name].usage}`", name)
        for name in sorted(FILTERS)
        if name.startswith(typed)
    ]


# --- hover ----------------------------------------------------------------------------------------


def _at(found: re.Match[str], text: str) -> Hover:
    return Hover(text, found.start(), found.end())


def _describe_element(spec: ElementSpec) -> str:
    text = read_examples()[spec.name]
    example = f"\n\n```xml\n{text}\n```" if len(text) <= _MAX_DOC else ""
    return f"**{spec.name}**: {spec.doc} Content: {spec.content.value}.{example}"


def _describe_attribute(attribute: AttributeSpec) -> str:
    rest = "Required." if attribute.is_required else ""
    if attribute.default is not None:
        rest = f"Unless given: `{attribute.default}`."
    return f"**{attribute.name}**: {attribute.doc} Accepted: {attribute.value_type.accepts}. {rest}".rstrip()
