"""The official XML schemas: the elements of an invoice, their order, number and types."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

from lxml import etree

from workers.engine.einvoices.findings import MAX_VIOLATIONS, RuleViolation

# The schema processor computes a path for each error, whose time grows with the elements before
# it: the XML is cut after the piece that has the 50th error.
_PIECE: Final = 4096
_MAX_PLAIN_TEXT: Final = 10_000_000  # bytes of one text in libxml2 without `huge_tree`
_NAMESPACE: Final = re.compile(r"\{([^{}]*)\}")
_EXPECTED_SHOWN: Final = 300  # characters of a message


def find_schema_errors(
    content: bytes, schema: Path, prefixes: Mapping[str, str]
) -> list[RuleViolation]:
    """Return the first 50 deviations of an XML from a schema; `prefixes` are by `{namespace}`.

    The XML has been read by `read_xml` before, so that it has no declarations and its size is limited.
    """
    loaded = _load(schema)
    end = _find_end(content, loaded)
    if end is None:
        return []
    options = _parser_options(content)
    tree = etree.fromstring(content[:end], etree.XMLParser(recover=True, **options))
    if tree is None or loaded.validate(tree):  # libxml2 does not read what expat has read
        message = "The schema processor cannot read the XML; write it in UTF-8"
        return [RuleViolation("schema", "/", message, "/")]
    return [
        RuleViolation("schema", "/", _shorten(error.message, prefixes), error.path or "/")
        for error, _ in zip(loaded.error_log, range(MAX_VIOLATIONS), strict=False)
    ]


def _find_end(content: bytes, schema: etree.XMLSchema) -> int | None:
    """Return where an XML has had 50 errors, or its end; None if it has no error."""
    parser = etree.XMLParser(schema=schema, **_parser_options(content))
    try:
        for start in range(0, len(content), _PIECE):
            parser.feed(content[start : start + _PIECE])
            if len(parser.feed_error_log) >= MAX_VIOLATIONS:
                return start + _PIECE
        parser.close()
    except (etree.XMLSyntaxError, LookupError):
        return len(content)
    return None


def _parser_options(content: bytes) -> dict[str, bool]:
    return {
        "resolve_entities": False,
        "no_network": True,
        "load_dtd": False,
        "huge_tree": len(content) > _MAX_PLAIN_TEXT,
    }


def _shorten(message: str, prefixes: Mapping[str, str]) -> str:
    """Return a message with prefixes in place of namespaces, without the end of a long list."""
    text = _NAMESPACE.sub(lambda found: prefixes.get(found[0], found[0]), message).rstrip(". ")
    return text if len(text) <= _EXPECTED_SHOWN else f"{text[:_EXPECTED_SHOWN]}…"


@cache
def _load(schema: Path) -> etree.XMLSchema:
    return etree.XMLSchema(etree.parse(schema))
