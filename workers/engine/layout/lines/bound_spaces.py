"""Spaces that belong to one expression, at which no line ends: 10 km, § 5, Nr. 3, 24. Dezember.

The characters stay as the author wrote them; only the break is prohibited, and only while the
expression fits on a line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Final

# SI units and those used with them, sizes of data, and signs after a number, in any language.
_UNITS: Final = [
    "nm",
    "µm",
    "mm",
    "cm",
    "dm",
    "m",
    "km",
    "µg",
    "mg",
    "g",
    "kg",
    "t",
    "µl",
    "ml",
    "cl",
    "dl",
    "l",
    "hl",
    "ns",
    "µs",
    "ms",
    "s",
    "min",
    "h",
    "d",
    "Hz",
    "kHz",
    "MHz",
    "GHz",
    "V",
    "kV",
    "mV",
    "A",
    "mA",
    "W",
    "kW",
    "MW",
    "GW",
    "Wh",
    "kWh",
    "MWh",
    "GWh",
    "J",
    "kJ",
    "MJ",
    "kcal",
    "N",
    "kN",
    "Pa",
    "hPa",
    "kPa",
    "MPa",
    "bar",
    "mbar",
    "K",
    "°C",
    "°F",
    "°",
    "%",
    "‰",
    "dB",
    "lm",
    "lx",
    "mol",
    "Ω",
    "kΩ",
    "B",
    "kB",
    "KB",
    "MB",
    "GB",
    "TB",
    "bit",
    "kbit",
    "Mbit",
    "Gbit",
    "px",
    "pt",
    "dpi",
    "ha",
    "mm²",
    "cm²",
    "dm²",
    "m²",
    "km²",
    "mm³",
    "cm³",
    "dm³",
    "m³",
    "km/h",
    "m/s",
    "m/s²",
    "l/min",
    "kWh/m²",
    "g/m²",
    "kg/m³",
    "ct",
    "€",
    "$",
    "£",
    "¥",
    "₹",
    "zł",
    "Kč",
    "kr",
    "Ft",
    "EUR",
    "USD",
    "GBP",
    "CHF",
    "JPY",
    "SEK",
    "NOK",
    "DKK",
    "PLN",
    "CZK",
    "HUF",
]
# Signs and abbreviations before a number: of all languages, and of one.
_SIGNS: Final = ("§", "§§", "№", "#", "€", "$", "£", "¥", "EUR", "USD", "GBP", "CHF")
_BEFORE_NUMBERS: Final = {
    "en": "No. Nos. no. nos. p. pp. Art. Arts. Fig. Figs. Sec. Vol. Ch. para. cl.",
    "de": "Nr. Nrn. S. Art. Abs. Abb. Bd. Kap. Tab. Tz. Ziff. Rn. Rz. Buchst. Lit. Satz",
    "fr": "n° N° nᵒ p. pp. art. fig. chap. t. vol. no",
    "it": "n. N. p. pp. art. artt. fig. cap. vol.",
    "es": "n.º núm. Núm. p. pp. art. arts. fig. cap. vol.",
    "pt": "n.º N.º p. pp. art. arts. fig. cap. vol.",
    "nl": "nr. Nr. blz. p. art. fig. hfdst. dl.",
    "sv": "nr s. fig. kap. bd.",
    "da": "nr. s. fig. kap. bd. stk.",
    "nb": "nr. s. fig. kap. bd.",
    "pl": "nr s. art. ust. rys. rozdz. t.",
    "cs": "č. s. čl. odst. obr. kap. sv.",
}
_MONTHS: Final = {
    "en": "January February March April May June July August September October November December Jan Feb Mar Apr Jun Jul Aug Sep Sept Oct Nov Dec",
    "de": "Januar Jänner Februar Feber März April Mai Juni Juli August September Oktober November Dezember",
    "fr": "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "it": "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
    "es": "de enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "pt": "de janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
    "nl": "januari februari maart april mei juni juli augustus september oktober november december",
    "sv": "januari februari mars april maj juni juli augusti september oktober november december",
    "da": "januar februar marts april maj juni juli august september oktober november december",
    "nb": "januar februar mars april mai juni juli august september oktober november desember",
    "pl": "stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia",
    "cs": "ledna února března dubna května června července srpna září října listopadu prosince",
}
_ORDINALS: Final = {"en": ("st", "nd", "rd", "th"), "fr": ("er",)}  # of days
_SOFT_HYPHEN: Final = "\u00ad"
# No expression has neither a digit nor an abbreviation of one letter.
_MAY_BIND: Final = re.compile(r"\d|\b[^\W\d_]\. ")
_DIGIT: Final = re.compile(r"\d")


def may_bind_spaces(text: str) -> bool:
    """Return quickly whether spaces of a text may belong to expressions; false positives occur."""
    return ". " in text or _DIGIT.search(text) is not None


def find_bound_spaces(words: Sequence[str], lang: str) -> list[int]:
    """Return the indexes of the words after whose space no line ends, by the rules of a language."""
    text = " ".join(words)
    if not _MAY_BIND.search(text):
        return []
    text = text.replace(_SOFT_HYPHEN, "")
    bound = []
    number = at = 0
    for match in _find_pattern(lang[:2].lower()).finditer(text):
        number += text.count(" ", at, match.start())
        at = match.start()
        bound.append(number)
    return bound


@cache
def _find_pattern(language: str) -> re.Pattern[str]:
    """Return a pattern that matches the spaces of expressions in a language.

    It starts with what is quick to look for: a space, then a number after it.
    """
    words = [*_SIGNS, *_BEFORE_NUMBERS.get(language, "").split()]
    before = [rf"(?<=(?<!\w){re.escape(word)} )" for word in words]
    after = [rf"(?<=\d )(?=(?:{_any_of(_UNITS)})(?![\w/²³]))"]
    if months := _MONTHS.get(language, "").split():
        after += [
            rf"(?<=\d{re.escape(ending)} )(?=(?:{_any_of(months)})(?!\w))"
            for ending in ("", ".", *_ORDINALS.get(language, ()))
        ]
    if language == "en":  # 24 after its month
        before += [rf"(?<=\b{month} )(?=\d{{1,2}}\b)" for month in months]
    if language in ("de", "nl"):  # z. B., u. a. O.
        after.append(r"(?<=\b[^\W\d_]\. )(?=[^\W\d_]\.)")
    return re.compile(f" (?:(?=\\d)(?:{'|'.join(before)})|{'|'.join(after)})")


def _any_of(words: Iterable[str]) -> str:
    return "|".join(map(re.escape, sorted(words, key=len, reverse=True)))
