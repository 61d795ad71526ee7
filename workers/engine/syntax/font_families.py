"""The names of font families: the bundled ones, and those of the package pressroom-fonts."""

from __future__ import annotations

from typing import Final

# Bundled with the product (fonts/).
FONT_FAMILIES: Final = (
    *("Noto Sans", "Noto Serif", "JetBrains Mono"),
    *("Noto Sans Arabic", "Noto Sans Hebrew", "Noto Sans Devanagari", "Noto Sans Bengali"),
    *("Noto Sans Tamil", "Noto Sans Thai"),
    *("Noto Sans JP", "Noto Sans SC", "Noto Sans TC", "Noto Sans KR"),
    *("Noto Sans Symbols 2", "Liberation Sans"),
)
# Those of the package pressroom-fonts.
FURTHER_FAMILIES: Final = (
    *(
        f"Noto Sans {name}"
        for name in ("Armenian", "Syriac", "Thaana", "Gurmukhi", "Gujarati", "Telugu")
    ),
    *(
        f"Noto Sans {name}"
        for name in ("Kannada", "Malayalam", "Sinhala", "Lao", "Myanmar", "Georgian")
    ),
    *(f"Noto Sans {name}" for name in ("Ethiopic", "Cherokee", "Khmer", "Tifinagh", "Yi", "Vai")),
    *("Noto Serif Tibetan", "Noto Emoji"),
)
GENERIC_FAMILIES: Final = ("sans-serif", "serif", "monospace")
# Aliases of bundled families on other systems: accepted, but not listed in messages.
OTHER_FAMILIES: Final = tuple(f"Noto Sans CJK {region}" for region in ("JP", "SC", "TC", "KR"))
