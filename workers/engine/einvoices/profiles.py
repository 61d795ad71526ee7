"""The profiles of electronic invoices: their identifiers and the terms that they contain."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

from workers.engine.einvoices.mapping import Record
from workers.engine.einvoices.terms import INVOICE, BusinessGroup, Level

_EN16931: Final = "urn:cen.eu:en16931:2017"
_PEPPOL: Final = f"{_EN16931}#compliant#urn:fdc:peppol.eu:2017:poacc:billing:3.0"
_OF_ZUGFERD: Final = ("urn:zugferd.de:2p0:", "urn:factur-x.eu:1p0:")  # of 2.0, and of later ones


@dataclass(frozen=True, slots=True)
class InvoiceProfile:
    """A profile: its name in the language, in XMP and as BT-24, and the level of its terms."""

    name: str
    conformance: str
    guideline: str
    level: Level
    file_name: str = "factur-x.xml"
    syntaxes: tuple[str, ...] = ("cii",)  # that it is written in, the usual one first

    @property
    def is_partial(self) -> bool:
        """Whether it has no lines, so that the XML is not a complete invoice (Factur-X 1.0, 6.2.2)."""
        return self.level < Level.BASIC


PROFILES: Final = {
    profile.name: profile
    for profile in (
        InvoiceProfile("minimum", "MINIMUM", "urn:factur-x.eu:1p0:minimum", Level.MINIMUM),
        InvoiceProfile("basicwl", "BASIC WL", "urn:factur-x.eu:1p0:basicwl", Level.BASIC_WL),
        InvoiceProfile("basic", "BASIC", f"{_EN16931}#compliant#urn:factur-x.eu:1p0:basic", Level.BASIC),
        InvoiceProfile("en16931", "EN 16931", _EN16931, Level.EN16931, syntaxes=("cii", "ubl")),
        InvoiceProfile("extended", "EXTENDED", f"{_EN16931}#conformant#urn:factur-x.eu:1p0:extended", Level.EN16931),
        InvoiceProfile("extended-ctc-fr", "", f"{_EN16931}#conformant#urn.cpro.gouv.fr:1p0:extended-ctc-fr", Level.EN16931, syntaxes=("cii", "ubl")),
        InvoiceProfile("xrechnung", "XRECHNUNG", f"{_EN16931}#compliant#urn:xeinkauf.de:kosit:xrechnung_3.0", Level.EN16931, "xrechnung.xml", ("cii", "ubl")),
        InvoiceProfile("peppol", "", _PEPPOL, Level.EN16931, syntaxes=("ubl",)),
    )
}  # fmt: skip
UBL_FILE_NAME: Final = "ubl-invoice.xml"  # of Pressroom; no standard embeds UBL in a PDF
# The names of invoices in a PDF; the third is that of ZUGFeRD 2.0.
INVOICE_NAMES: Final = ("factur-x.xml", "xrechnung.xml", "zugferd-invoice.xml", UBL_FILE_NAME)
_XRECHNUNG: Final = re.compile(
    re.escape(_EN16931)
    + r"#compliant#urn:(?:xeinkauf\.de:kosit|xoev-de:kosit:standard):xrechnung_[\d.]{1,9}"
    # Its extension, and its specification of clean vehicles.
    r"(?:#conformant#urn:(?:xeinkauf\.de:kosit|xoev-de:kosit):extension:xrechnung_[\d.]{1,9}"
    r"|#compliant#urn:xeinkauf\.de:kosit:xrechnung:cvd_[\d.]{1,9})?"
)


def find_profile(guideline: str) -> InvoiceProfile | None:
    """Return the profile of a specification identifier (BT-24), None if it is unknown.

    A specification that states to comply with EN 16931 has its rules.
    """
    if _XRECHNUNG.fullmatch(guideline):
        return PROFILES["xrechnung"]
    if guideline.startswith(_PEPPOL):
        return PROFILES["peppol"]
    current = guideline.replace(*_OF_ZUGFERD)
    named = next((one for one in PROFILES.values() if one.guideline == current), None)
    if named is None and guideline.startswith(f"{_EN16931}#compliant#"):
        return PROFILES["en16931"]
    return named


def select_terms(record: Record, level: Level, group: BusinessGroup = INVOICE) -> Record:
    """Return the part of a record that is in profiles of a level."""
    selected: Record = {}
    for member in group.members:
        value = record.get(member.name)
        if value is None:
            continue
        if isinstance(member, BusinessGroup):
            part = _select_group(value, level, member)
            if part:
                selected[member.name] = part
        elif member.level <= level:
            selected[member.name] = value
    return selected


def _select_group(value: Any, level: Level, group: BusinessGroup) -> object:
    if not group.is_list:
        return select_terms(value, level, group)
    return [part for one in value if (part := select_terms(one, level, group))]
