"""The profiles of electronic invoices: their identifiers and the terms that they contain."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

from workers.engine.einvoices.mapping import Record
from workers.engine.einvoices.terms import INVOICE, BusinessGroup, Level

_EN16931: Final = "urn:cen.eu:en16931:2017"


@dataclass(frozen=True, slots=True)
class InvoiceProfile:
    """A profile: its name in the language, in XMP and as BT-24, and the level of its terms."""

    name: str
    conformance: str
    guideline: str
    level: Level
    file_name: str = "factur-x.xml"

    @property
    def is_partial(self) -> bool:
        """Whether it has no lines, so that the XML is not a complete invoice (Factur-X 1.0, 6.2.2)."""
        return self.level < Level.BASIC


PROFILES: Final = {
    profile.name: profile
    for profile in (
        InvoiceProfile("minimum", "MINIMUM", "urn:factur-x.eu:1p0:minimum", Level.MINIMUM),
        InvoiceProfile("basicwl", "BASIC WL", "urn:factur-x.eu:1p0:basicwl", Level.BASIC_WL),
        InvoiceProfile(
            "basic", "BASIC", f"{_EN16931}#compliant#urn:factur-x.eu:1p0:basic", Level.BASIC
        ),
        InvoiceProfile("en16931", "EN 16931", _EN16931, Level.EN16931),
        InvoiceProfile(
            "extended",
            "EXTENDED",
            f"{_EN16931}#conformant#urn:factur-x.eu:1p0:extended",
            Level.EN16931,
        ),
        InvoiceProfile(
            "xrechnung",
            "XRECHNUNG",
            f"{_EN16931}#compliant#urn:xeinkauf.de:kosit:xrechnung_3.0",
            Level.EN16931,
            "xrechnung.xml",
        ),
    )
}
FILE_NAMES: Final = tuple(dict.fromkeys(profile.file_name for profile in PROFILES.values()))
_XRECHNUNG: Final = re.compile(
    re.escape(_EN16931)
    + r"#compliant#urn:(?:xeinkauf\.de:kosit|xoev-de:kosit:standard):xrechnung_[\d.]{1,9}"
)


def find_profile(guideline: str) -> InvoiceProfile | None:
    """Return the profile of a specification identifier (BT-24), None if it is unknown."""
    if _XRECHNUNG.fullmatch(guideline):
        return PROFILES["xrechnung"]
    return next((one for one in PROFILES.values() if one.guideline == guideline), None)


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


def _select_group(value: Any, level: Level, group: BusinessGroup) -> Any:
    if not group.is_list:
        return select_terms(value, level, group)
    return [part for one in value if (part := select_terms(one, level, group))]
