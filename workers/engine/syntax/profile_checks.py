"""What a profile rules out, as far as it is seen without data (language.md 1.10)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from workers.engine.diagnostics import Findings
from workers.engine.ports import Profile
from workers.engine.syntax.nodes import Element
from workers.engine.syntax.values import BorderValue, ColorName
from workers.engine.syntax.vocabulary import ELEMENTS
from workers.engine.units import Color, ColorSpace


def check_profile(root: Element, findings: Findings) -> None:
    """Tell the parts of a document that its profile forbids."""
    profile = root.attributes.get("profile", "").strip()
    if profile not in tuple(Profile):
        return
    for security in root.elements("security"):
        findings.error(
            "profile-security",
            f'`security` encrypts the file, which profile="{profile}" forbids; leave one of them out',
            security.place,
        )
    if profile == Profile.PDF_A_2B:
        for attachment in root.elements("attachment"):
            findings.error(
                "profile-attachment",
                f'`attachment` is not allowed with profile="{profile}"; use profile="pdf/a-3b"',
                attachment.place,
            )
    _check_colors(root, profile, findings)


def _check_colors(root: Element, profile: str, findings: Findings) -> None:
    """Tell uses of CMYK: the file says that its colours are meant for sRGB (ISO 19005-2, 6.2.4.3)."""
    declared = _declared_colors(root)
    for element in root.walk():
        if element.tag == "color":
            continue  # told where it is used
        for name, text in element.attributes.items():
            if any(_is_cmyk(color, declared) for color in _colors_of(element, name, text)):
                findings.error(
                    "profile-color",
                    f'`{name}` of `{element.tag}` is a CMYK colour, which profile="{profile}" does '
                    "not allow; write it as #rrggbb or rgb(r g b)",
                    element.place,
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
        value = spec.kind.parse(text)
    except ValueError:
        return  # told by the checks of the text
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
