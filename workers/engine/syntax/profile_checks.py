"""Static checks of conformance profiles."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from workers.engine.diagnostics import Findings
from workers.engine.ports import ConformanceProfiles
from workers.engine.syntax.files import PROFILE
from workers.engine.syntax.nodes import Element
from workers.engine.syntax.values import BorderValue, ColorName
from workers.engine.syntax.vocabulary import ELEMENTS
from workers.engine.units import Color, ColorSpace


def check_profile(root: Element, findings: Findings) -> None:
    """Report elements that the profile of a document forbids, and a missing `lang` that it requires."""
    profile = _profiles_of(root).archive
    if is_strict(root) and not root.attributes.get("lang", "").strip():
        findings.error(
            "missing-lang",
            'The document has no `lang`, which screen readers need; add one, such as lang="en"',
            root.location,
        )
    if profile is None:
        return
    for security in root.elements("security"):
        if "sign" in security.attributes:
            continue  # it is not encrypted
        findings.error(
            "profile-security",
            f'`security` encrypts the file, which profile="{profile}" forbids; leave one of them out',
            security.location,
        )
    if not profile.takes_files:
        for attachment in root.elements("attachment"):
            findings.error(
                "profile-attachment",
                f'`attachment` is not allowed with profile="{profile}"; use profile="pdf/a-3b"',
                attachment.location,
            )
    _check_colors(root, profile, findings)


def is_strict(root: Element) -> bool:
    """Return whether missing accessibility information is an error: the file is tagged by its profile."""
    return _profiles_of(root).is_tagged


def _profiles_of(root: Element) -> ConformanceProfiles:
    try:
        return PROFILE.parse(root.attributes.get("profile", ""))
    except ValueError:  # absent, or reported by the check of the value
        return ConformanceProfiles()


def _check_colors(root: Element, profile: str, findings: Findings) -> None:
    """Report uses of CMYK, which does not match the sRGB output intent (ISO 19005-2, 6.2.4.3)."""
    declared = _declared_colors(root)
    for element in root.walk():
        if element.tag == "color":
            continue  # reported where it is used
        for name, text in element.attributes.items():
            if any(_is_cmyk(color, declared) for color in _colors_of(element, name, text)):
                findings.error(
                    "profile-color",
                    f'`{name}` of `{element.tag}` is a CMYK colour, which profile="{profile}" does '
                    "not allow; write it as #rrggbb or rgb(r g b)",
                    element.location,
                )


def _declared_colors(root: Element) -> dict[str, Any]:
    colors = root.elements("color")
    return {
        color.attributes.get("name", ""): next(
            _colors_of(color, "value", color.attributes.get("value", "")), None
        )
        for color in colors
    }


def _colors_of(element: Element, name: str, text: str) -> Iterator[Color | ColorName]:
    spec = ELEMENTS[element.tag].attributes.get(name) if element.tag in ELEMENTS else None
    if spec is None or "{{" in text:
        return
    try:
        value = spec.value_type.parse(text)
    except ValueError:
        return  # reported by the check of the value
    yield from _colors_in(value)


def _colors_in(value: Any) -> Iterator[Color | ColorName]:
    if isinstance(value, Color | ColorName):
        yield value
    elif isinstance(value, BorderValue):
        yield value.color
    elif type(value) is tuple:
        for part in value:
            yield from _colors_in(part)


def _is_cmyk(color: Color | ColorName, declared: Mapping[str, Any]) -> bool:
    named = declared.get(color.name, color.standard) if isinstance(color, ColorName) else color
    return isinstance(named, Color) and named.space is ColorSpace.CMYK
