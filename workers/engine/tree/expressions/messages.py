"""Messages: texts by key and language, compiled once for a template, selected by language and number.

Plural and ordinal categories are those of CLDR (UTS 35, part 3, section 5).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache
from typing import Final, NamedTuple

from workers.engine.diagnostics import Findings, SourceLocation
from workers.engine.syntax.identifiers import read_language
from workers.engine.syntax.nodes import Element
from workers.engine.syntax.suggestions import suggest_name
from workers.engine.tree.expressions.compiler import compile_text, explain_failure
from workers.engine.tree.expressions.environment import DOCUMENT_NAMES, Environment
from workers.engine.tree.expressions.formats import Formats, find_locale
from workers.engine.tree.expressions.grammar import (
    Expression,
    ExpressionSyntaxError,
    MessageUse,
    TextTemplate,
    parse_text,
)
from workers.engine.tree.expressions.running_text import collapse
from workers.engine.tree.expressions.runtime import (
    EVALUATION_ERRORS,
    ExpressionError,
    Value,
    check_text_length,
    describe_type,
)

NUMBER: Final = "n"  # the argument that selects the variant of a message
CATEGORIES: Final = ("zero", "one", "two", "few", "many", "other")
_OTHER: Final = "other"
_FORMS: Final = ("plural", "ordinal")
# Enough numbers for each category that an author would write a variant for.
_SAMPLE: Final = tuple(map(Decimal, (*range(201), "0.5", "1.5", "2.5")))


class MessageText(NamedTuple):
    """The text of one variant of a message: as written on one line, and parsed.

    Arguments provide the names that it requires; others are implicit.
    """

    text: str
    template: TextTemplate
    required_names: frozenset[str]
    implicit_names: frozenset[str]


@dataclass(slots=True)
class Message:
    """A message in one language: one text, or a text for each plural or ordinal category."""

    key: str
    lang: str
    form: str | None
    location: SourceLocation
    texts: dict[str, MessageText] = field(default_factory=dict)

    @property
    def required_names(self) -> frozenset[str]:
        """The arguments it requires."""
        names = frozenset[str]().union(*(text.required_names for text in self.texts.values()))
        return names | {NUMBER} if self.form else names


class MessageCatalog:
    """The messages of a template, and which of them its expressions use."""

    def __init__(self) -> None:
        # By tag as written; the first is the source.
        self.languages: dict[str, dict[str, Message]] = {}
        self.used: dict[str, tuple[frozenset[str], SourceLocation]] = {}
        self.has_dynamic_keys = False  # some keys are known from data alone
        self.incomplete: set[str] = set()  # keys used with missing arguments
        self._by_tag: dict[str, dict[str, Message]] = {}

    @property
    def keys(self) -> dict[str, None]:
        """Every key, in the order of the document."""
        return {key: None for messages in self.languages.values() for key in messages}

    def add(self, lang: str) -> dict[str, Message]:
        """Return the messages of a language, to which more may be added."""
        made = self.languages.setdefault(lang, {})
        for tag in _list_names(lang):
            self._by_tag.setdefault(tag, made)
        return made

    def find(self, key: str, *tags: str) -> tuple[Message | None, bool]:
        """Find a message in the first of some languages that has it, and whether that is the first.

        If none of them has it, the languages of the document are searched in order.
        """
        for position, tag in enumerate(tags):
            # Those that match the language, the most specific first (RFC 4647, 3.4).
            for messages in filter(None, map(self._by_tag.get, list_tags(tag))):
                if key in messages:
                    return messages[key], position == 0
        others = (messages[key] for messages in self.languages.values() if key in messages)
        return next(others, None), False

    def add_use(
        self, use: MessageUse, text: str, location: SourceLocation, findings: Findings
    ) -> None:
        """Record the use of a message, and check its key and arguments."""
        if use.key is None:
            self.has_dynamic_keys = True
            if not self.languages:
                self._report_unknown("", text, location, findings)
            return
        self.used.setdefault(use.key, (use.arguments, location))
        found = [messages[use.key] for messages in self.languages.values() if use.key in messages]
        if not found:
            self._report_unknown(use.key, text, location, findings)
        for message in found:
            for name in sorted(message.required_names - use.arguments):
                self.incomplete.add(use.key)
                findings.error(
                    "message-argument",
                    f'The message "{use.key}" of `{message.lang}` needs `{name}`, as in '
                    f"t({name}=…): {{{{ {text[:80]} }}}}",
                    location,
                    message.location,
                )

    def _report_unknown(
        self, key: str, text: str, location: SourceLocation, findings: Findings
    ) -> None:
        what = (
            f'No language has the message "{key[:40]}"{suggest_name(key, self.keys)}'
            if self.languages
            else "The document has no `messages`"
        )
        findings.error("unknown-message", f"{what}: {{{{ {text[:80]} }}}}", location)

    def warn_unused(self, findings: Findings) -> None:
        """Warn of messages that no expression uses, unless some keys depend on data."""
        if self.has_dynamic_keys:
            return
        for messages in self.languages.values():
            for key, message in messages.items():
                if key not in self.used and message.location.linkage is None:
                    text = f'The message "{key[:40]}" of `{message.lang}` is not used'
                    findings.warn("unused-message", text, message.location)

    def translate(
        self, key: Value, arguments: dict[str, Value], scope: Environment, *, isolates: bool
    ) -> str:
        """Return a message in the language of the scope, else of the document, else of the source.

        With `isolates` the values in it are set apart from its text.

        Raises:
            ExpressionError: there is no such message, or it cannot be written with the arguments.
        """
        if key.__class__ is not str:
            raise ExpressionError(f"t needs the key of a message, not {describe_type(key)}")
        formats = scope.formats
        message, is_own = self.find(key, formats.tag, scope.language)
        if message is None:
            if not self.languages or key in self.used:
                return ""  # reported before any data
            near = suggest_name(key, self.keys)
            raise ExpressionError(f'no language has the message "{key[:40]}"{near}')
        if not is_own:
            scope.state.findings.warn(
                "missing-message",
                f'The message "{key[:40]}" is missing in `{formats.tag[:40]}`; that of '
                f"`{message.lang}` is shown",
                message.location,
            )
        if key in self.incomplete and not message.required_names <= arguments.keys():
            return ""
        return _write(message, arguments, scope, formats, isolates=isolates)


def _write(
    message: Message,
    arguments: dict[str, Value],
    scope: Environment,
    formats: Formats,
    *,
    isolates: bool,
) -> str:
    """Return the text of a message; numbers in it are formatted in its own language."""
    text = message.texts.get(_category(message, arguments)) or message.texts[_OTHER]
    missing = sorted(text.required_names - arguments.keys())
    if missing:
        raise ExpressionError(f'the message "{message.key[:40]}" needs {", ".join(missing)}')
    if formats.locale.language != _language(message.lang) or formats.is_fallback:
        formats = formats.enter(message.lang)
    implicit = {name: scope.names[name] for name in text.implicit_names if name in scope.names}
    inner = Environment({**implicit, **arguments}, formats, scope.state)
    write = compile_text(text.template, isolates=isolates and bool(arguments))
    try:
        return check_text_length(write(inner))
    except EVALUATION_ERRORS as failure:
        reasons = (explain_failure(expression, inner) for expression in text.template.expressions)
        reason = next((one for one in reasons if one is not None), str(failure))
        raise ExpressionError(
            f'in the message "{message.key[:40]}" of `{message.lang}`, {reason}'
        ) from None


def _category(message: Message, arguments: Mapping[str, Value]) -> str:
    if message.form is None:
        return _OTHER
    number = arguments.get(NUMBER)
    if number.__class__ is not Decimal:
        raise ExpressionError(
            f'the message "{message.key[:40]}" needs a number for {NUMBER}, not {describe_type(number)}'
        )
    return find_category(message.lang, message.form, number)


# --- languages ------------------------------------------------------------------------------------------


def find_category(lang: str, form: str, number: Decimal) -> str:
    """Return the `plural` or `ordinal` category of a number in a language.

    Trailing zeros are dropped first: 1.0 is 1, however the data write it.
    """
    locale = find_locale(lang)
    if locale is None:
        return _OTHER
    rule = locale.plural_form if form == "plural" else locale.ordinal_form
    whole = number.to_integral_value()
    category: str = rule(int(whole) if whole == number else number.normalize())
    return category


def list_categories(lang: str, form: str) -> tuple[str, ...]:
    """Return the categories of a language, in the order of CLDR."""
    locale = find_locale(lang)
    if locale is None:
        return (_OTHER,)
    rule = locale.plural_form if form == "plural" else locale.ordinal_form
    return tuple(one for one in CATEGORIES if one in rule.tags or one == _OTHER)


def list_common_categories(lang: str, form: str) -> tuple[str, ...]:
    """Return the categories that numbers up to 200 have; French has another for whole millions."""
    met = {find_category(lang, form, number) for number in _SAMPLE}
    return tuple(one for one in CATEGORIES if one in met or one == _OTHER)


def _language(lang: str) -> str:
    locale = find_locale(lang)
    return "" if locale is None else str(locale.language)


def _list_names(lang: str) -> list[str]:
    """Return a tag, and CLDR's name of it if that differs."""
    locale = find_locale(lang)
    written = [lang, *([str(locale).replace("_", "-")] if locale else ())]
    return list(dict.fromkeys(name.lower() for name in written))


@lru_cache(maxsize=64)
def list_tags(lang: str) -> list[str]:
    """Return the names of a language, then their shortened forms, in the order of a look-up."""
    names = _list_names(lang)
    found = dict.fromkeys(names)
    for name in reversed(names):
        subtags = name.split("-")
        found |= dict.fromkeys("-".join(subtags[:end]) for end in range(len(subtags) - 1, 0, -1))
    return list(found)


# --- compiling ------------------------------------------------------------------------------------------


def compile_messages(root: Element, findings: Findings) -> MessageCatalog:
    """Compile the messages of a document; errors in them are reported."""
    messages = MessageCatalog()
    for element in root.elements("messages"):
        lang = element.attributes.get("lang", "")
        try:
            read_language(lang)
        except ValueError:  # reported by the checks
            continue
        known = messages.add(lang)
        for child in element.elements("message"):
            _compile_message(child, lang, known, findings)
        for message in known.values():
            _check_forms(message, findings)
    return messages


def _compile_message(
    element: Element, lang: str, known: dict[str, Message], findings: Findings
) -> None:
    key = element.attributes.get("key")
    given = [(form, element.attributes[form]) for form in _FORMS if form in element.attributes]
    if key is None or len(given) > 1 or any(one not in CATEGORIES for _, one in given):
        if len(given) > 1:
            why = "it has both `plural` and `ordinal`"
            _report_forms(key or "", why, element.location, findings)
        return
    form, category = given[0] if given else (None, _OTHER)
    if form is not None and category not in list_categories(lang, form):
        findings.error(
            "plural-category",
            f'No number has the {form} category "{category}" in `{lang}`; it has '
            f"{', '.join(list_categories(lang, form))}",
            element.location,
        )
        return
    message = known.setdefault(key, Message(key, lang, form, element.location))
    if message.form != form:
        why = "its forms are of one kind: plain, `plural` or `ordinal`"
        _report_forms(key, why, element.location, findings)
        return
    message.texts.setdefault(category, _compile_text(element, findings))


def _report_forms(key: str, why: str, location: SourceLocation, findings: Findings) -> None:
    findings.error("message-forms", f'The message "{key[:40]}" cannot be selected: {why}', location)


def _check_forms(message: Message, findings: Findings) -> None:
    if _OTHER not in message.texts:
        findings.error(
            "plural-category",
            f'The message "{message.key[:40]}" of `{message.lang}` has no form for "other", which '
            "fractions have, and numbers without a form of their own",
            message.location,
        )


def _compile_text(element: Element, findings: Findings) -> MessageText:
    shown, template = " ".join(element.text.split()), TextTemplate(("",))
    try:
        template = parse_text(element.text)
    except ExpressionSyntaxError as error:
        findings.error("expression-syntax", f'In "{shown[:80]}": {error}', element.location)
    if any(expression.messages for expression in template.expressions):
        message = "A message may not show another: the filter `t` is not accepted in it"
        findings.error("message-in-message", message, element.location)
        template = TextTemplate(("",))
    template = TextTemplate(tuple(_collapse(template.parts)))
    names = frozenset[str]().union(*(one.names for one in template.expressions))
    every = frozenset[str]().union(*(one.all_names for one in template.expressions))
    return MessageText(shown, template, names - DOCUMENT_NAMES, every & DOCUMENT_NAMES)


def _collapse(parts: tuple[str | Expression, ...]) -> Iterator[str | Expression]:
    """Yield the parts of a text with white space collapsed as in HTML, none at the ends."""
    last = len(parts) - 1
    for position, part in enumerate(parts):
        if not isinstance(part, str):
            yield part
            continue
        text = collapse(part)
        text = text.lstrip(" ") if position == 0 else text
        text = text.rstrip(" ") if position == last else text
        if text or last == 0:
            yield text
