"""`pressroom messages`: checks the translations of a template, and exports and imports PO files."""

from __future__ import annotations

import argparse
import io
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final
from xml.sax.saxutils import escape, quoteattr

from babel.messages.catalog import Catalog
from babel.messages.pofile import PoFileError, read_po, write_po
from babel.plural import PluralRule, to_gettext

from deploy.cli.output import CommandFailed, print_result, read_file, write_file
from workers.engine.syntax.encodings import EncodingError, decode_text
from workers.engine.syntax.identifiers import read_language
from workers.engine.syntax.nodes import Element
from workers.engine.syntax.parser import parse_document
from workers.engine.tree.expressions.formats import find_locale
from workers.engine.tree.expressions.messages import (
    CATEGORIES,
    Message,
    MessageCatalog,
    list_common_categories,
)

_ORDINAL: Final = "ordinal"
_LINE_END: Final = re.compile(r"\r\n|\r|\n")  # as XML counts lines (2.11)
_END: Final = re.compile(r"</document\s*>\s*\Z")
# The identity of a form: the message key, and None or its kind and category.
FormKey = tuple[str, tuple[str, str] | None]


def report_coverage(messages: MessageCatalog) -> dict[str, Any]:
    """Return the keys of a template, the missing texts of its languages, and unknown and unused keys."""
    keys = messages.keys
    unused = [] if messages.has_dynamic_keys else [key for key in keys if key not in messages.used]
    return {
        "languages": list(messages.languages),
        "keys": list(keys),
        "gaps": [*_find_gaps(messages)],
        "unknown": [key for key in messages.used if key not in keys],
        "unused": unused,
    }


def _find_gaps(messages: MessageCatalog) -> Iterator[dict[str, Any]]:
    for lang, known in messages.languages.items():
        for key in messages.keys:
            message = known.get(key)
            if message is None:
                yield {"lang": lang, "key": key, "categories": []}
            elif message.form is not None:
                wanted = list_common_categories(lang, message.form)
                missing = [one for one in wanted if one not in message.texts]
                if missing:
                    yield {"lang": lang, "key": key, "categories": missing}


# --- out ------------------------------------------------------------------------------------------------


def write_translations(messages: MessageCatalog, lang: str | None) -> bytes:
    """Return the messages of a language as a PO file; without a language all texts are empty.

    The output is deterministic: the file has no dates.

    Raises:
        ValueError: not a language tag.
    """
    if lang is not None and find_locale(lang) is None:
        raise ValueError(f'unknown language "{lang[:40]}"; accepted are languages of the CLDR')
    own = {tag.lower(): found for tag, found in messages.languages.items()}
    known = own.get(lang.lower(), {}) if lang else {}
    catalog = Catalog()
    if lang:
        catalog.mime_headers = [("Plural-Forms", _plural_forms(lang))]
    for key in dict.fromkeys((*messages.keys, *messages.used)):
        source, _ = messages.find(key)
        _add_message(catalog, key, (source, known.get(key)), lang)
    written = io.BytesIO()
    write_po(written, catalog, width=0, omit_header=True)
    return _header(lang).encode() + written.getvalue().rstrip(b"\n") + b"\n"


def _header(lang: str | None) -> str:
    """Return the header without the dates that Babel writes."""
    lines = ["MIME-Version: 1.0", "Content-Type: text/plain; charset=utf-8"]
    lines.append("Content-Transfer-Encoding: 8bit")
    if lang:
        lines += [f"Language: {lang}", f"Plural-Forms: {_plural_forms(lang)}"]
    return 'msgid ""\nmsgstr ""\n' + "".join(f'"{line}\\n"\n' for line in lines) + "\n"


def _plural_forms(lang: str) -> str:
    """Return gettext's plural rule: the index of a number's category among those of numbers up to 200."""
    categories = list_common_categories(lang, "plural")
    locale = find_locale(lang)
    rules = {} if locale is None else locale.plural_form.rules
    rule = PluralRule({one: text for one, text in rules.items() if one in categories})
    forms: str = to_gettext(rule)  # type: ignore[no-untyped-call]
    return forms


def _add_message(
    catalog: Catalog, key: str, found: tuple[Message | None, Message | None], lang: str | None
) -> None:
    """Add the entries of a message, of its source and own texts: one, or for ordinals one per category."""
    source, own = found
    form = own.form if own is not None else source.form if source is not None else None
    shown = "" if source is None else " / ".join(text.text for text in source.texts.values())
    hints = [] if source is None else [f"{source.lang}: {shown}"]
    categories = list_common_categories(lang, form) if lang and form else ("one", "other")
    if form is None:
        catalog.add(key, _text(own, "other"), auto_comments=hints)
    elif form == "plural":
        hints.append(f"forms: {', '.join(categories)}")
        catalog.add((key, key), [_text(own, one) for one in categories], auto_comments=hints)
    else:
        for one in categories:
            context = f"{_ORDINAL} {one}"
            catalog.add(key, _text(own, one), auto_comments=hints, context=context)


def _text(message: Message | None, category: str) -> str:
    found = None if message is None else message.texts.get(category)
    return "" if found is None else found.text


# --- in -------------------------------------------------------------------------------------------------


def read_translations(source: bytes) -> tuple[str, dict[FormKey, str]]:
    """Read a PO file; return its language and its non-empty texts.

    Raises:
        ValueError: not a PO file, or no language in its header.
    """
    try:
        text = decode_text(source, "utf-8")
        lang = _find_language(text)
        catalog = read_po(io.StringIO(text), abort_invalid=True)
    except (EncodingError, PoFileError) as error:
        raise ValueError(f"not a PO file: {error}") from None
    texts: dict[FormKey, str] = {}
    for entry in catalog:
        if not entry.id or entry.fuzzy:
            continue
        key = entry.id[0] if isinstance(entry.id, tuple | list) else str(entry.id)
        texts.update(_read_entry(key, entry.string, entry.context, lang))
    return lang, texts


def _find_language(text: str) -> str:
    found = re.search(r'^(?:msgstr )?"Language: *([^"\\]*)', text, re.MULTILINE)
    lang = found[1].strip().replace("_", "-") if found else ""
    try:
        return read_language(lang)
    except ValueError:
        raise ValueError('the header has no valid "Language", such as fr') from None


def _read_entry(
    key: str, written: Any, context: str | None, lang: str
) -> Iterator[tuple[FormKey, str]]:
    if isinstance(written, tuple | list):
        categories = list_common_categories(lang, "plural")
        if len(written) > len(categories):
            raise ValueError(
                f'"{key[:40]}" has {len(written)} forms; `{lang}` has {", ".join(categories)}'
            )
        for category, text in zip(categories, written, strict=False):
            if text:
                yield (key, ("plural", category)), text
    elif written:
        kind, _, category = (context or "").partition(" ")
        is_ordinal = kind == _ORDINAL and category in CATEGORIES
        yield (key, (_ORDINAL, category) if is_ordinal else None), str(written)


def merge_translations(source: bytes, lang: str, texts: Mapping[FormKey, str]) -> bytes:
    """Return a document with the texts merged into the messages of a language; other texts are kept.

    Raises:
        ValueError: the document is not in UTF-8, is not well-formed, or has no end tag.
    """
    try:
        text = source.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError("the document is not in UTF-8") from None
    root = parse_document(text.encode(), origin=None).root
    if root is None:
        raise ValueError("the document is not well-formed")
    every = list(root.elements("messages"))
    own = next((e for e in every if e.attributes.get("lang", "").lower() == lang.lower()), None)
    attributes = {"lang": lang} if own is None else own.attributes
    forms = {} if own is None else _forms_of(own)
    for key, changed in texts.items():
        forms[key] = (forms[key][0] if key in forms else _attributes_of(key), changed)
    order = [e.attributes.get("key", "") for one in every for e in one.elements("message")]
    written = _write_element(attributes, forms, order)
    if own is not None:
        start, end = _extent(text, own)
        return (text[:start] + written + text[end:]).encode()
    tag = _END.search(text)
    if tag is None:
        raise ValueError("the document has no </document> at its end")
    return f"{text[: tag.start()]}  {written}\n{text[tag.start() :]}".encode()


_Forms = dict[FormKey, tuple[Mapping[str, str], str]]


def _forms_of(element: Element) -> _Forms:
    """Return the attributes and texts of an element's messages, by form."""
    found: _Forms = {}
    for message in element.elements("message"):
        attributes = message.attributes
        forms = [(kind, attributes[kind]) for kind in ("plural", _ORDINAL) if kind in attributes]
        key = attributes.get("key", ""), forms[0] if forms else None
        found.setdefault(key, (attributes, " ".join(message.text.split())))
    return found


def _attributes_of(key: FormKey) -> dict[str, str]:
    name, form = key
    return {"key": name} | ({} if form is None else {form[0]: form[1]})


def _write_element(attributes: Mapping[str, str], forms: _Forms, order: Sequence[str]) -> str:
    """Return a `messages` element, with its keys in the order of the document."""
    places = {key: position for position, key in reversed([*enumerate(order)])}
    lines = [f"<messages{_written(attributes)}>"]
    for key in sorted(forms, key=lambda one: _rank(one, places)):
        given, text = forms[key]
        lines.append(f"    <message{_written(given)}>{escape(text)}</message>")
    return "\n".join([*lines, "  </messages>"])


def _written(attributes: Mapping[str, str]) -> str:
    return "".join(f" {name}={quoteattr(value)}" for name, value in attributes.items())


def _rank(key: FormKey, places: Mapping[str, int]) -> tuple[int, str, int]:
    name, form = key
    category = form[1] if form is not None else ""
    number = CATEGORIES.index(category) if category in CATEGORIES else -1
    return places.get(name, len(places)), name, number


def _extent(text: str, element: Element) -> tuple[int, int]:
    """Return the start and end offsets of an element in a text."""
    span = element.location.span
    starts = [0, *(end.end() for end in _LINE_END.finditer(text))]
    return (
        starts[span.line_start - 1] + span.column_start - 1,
        starts[span.line_end - 1] + span.column_end - 1,
    )


def run_check(arguments: argparse.Namespace) -> int:
    """Print missing and unknown keys; return 1 if there are any."""
    messages = _read_messages(arguments.document)
    found = report_coverage(messages)
    if arguments.json:
        print_result(found, as_json=True)
        return 1 if found["gaps"] or found["unknown"] else 0
    print(f"{len(messages.keys)} keys in {', '.join(messages.languages) or 'no language'}")
    for gap in found["gaps"]:
        form = f" for {', '.join(gap['categories'])}" if gap["categories"] else ""
        print(f'{gap["lang"]}: "{gap["key"]}" is missing{form}')
    for key in found["unknown"]:
        print(f'"{key}" is used, but no language defines it')
    for key in found["unused"]:
        print(f'"{key}" is not used')
    return 1 if found["gaps"] or found["unknown"] else 0


def run_extract(arguments: argparse.Namespace) -> None:
    """Write the keys and texts of one language as a PO file."""
    messages = _read_messages(arguments.document)
    try:
        written = write_translations(messages, arguments.lang)
    except ValueError as error:
        raise CommandFailed(str(error)) from error
    _write(written, arguments.output)


def run_import(arguments: argparse.Namespace) -> None:
    """Write the document with the texts of a PO file merged into its language."""
    try:
        lang, texts = read_translations(read_file(arguments.translations))
    except ValueError as error:
        raise CommandFailed(f"{arguments.translations}: {error}") from error
    try:
        changed = merge_translations(read_file(arguments.document), lang, texts)
    except ValueError as error:
        raise CommandFailed(f"{arguments.document}: {error}") from error
    _write(changed, arguments.output)


def _read_messages(path: Path) -> MessageCatalog:
    """Return the compiled messages of a document, with the keys that its expressions use."""
    from workers.engine.diagnostics import Severity
    from workers.engine.local_files import LinkedFiles
    from workers.engine.pipeline import prepare_template

    template = prepare_template(read_file(path), LinkedFiles(path.parent))
    if template.compiled is None:
        told = [one.text for one in template.source.findings if one.severity is Severity.ERROR]
        raise CommandFailed(f"{path} cannot be read: {told[0] if told else 'it is no document'}")
    return template.compiled.messages


def _write(written: bytes, output: Path | None) -> None:
    if output is None:
        sys.stdout.buffer.write(written)
    else:
        write_file(output, written)
