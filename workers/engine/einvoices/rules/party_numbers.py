"""Check digits of the numbers of parties (ISO 6523) that Peppol verifies."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from stdnum import ean, luhn
from stdnum.au import abn
from stdnum.be import vat as belgian
from stdnum.no import orgnr as norwegian


def _is(pattern: str, is_valid: Callable[[str], bool] = lambda _: True) -> Callable[[str], bool]:
    """Return the check of a form in ASCII, and of the check digits."""
    form = re.compile(pattern, re.ASCII)
    return lambda text: form.fullmatch(text.strip()) is not None and is_valid(text.strip())


# By scheme of ISO 6523: the rule, what a number must be, and the check.
NUMBER_CHECKS: Final[dict[str, tuple[str, str, Callable[[str], bool]]]] = {
    "0088": ("PEPPOL-COMMON-R040", "a GLN with its check digit", _is(r"\d{2,}", lambda text: ean.calc_check_digit(text[:-1]) == text[-1])),
    "0192": ("PEPPOL-COMMON-R041", "a Norwegian organisation number", _is(r"\d{9}", norwegian.is_valid)),
    "0184": ("PEPPOL-COMMON-R042", "eight digits, with or without DK", _is(r"(?:DK)?\d{8}")),
    "0208": ("PEPPOL-COMMON-R043", "a Belgian enterprise number", _is(r"\d{10}", belgian.is_valid)),
    "0007": ("PEPPOL-COMMON-R049", "a Swedish organisation number", _is(r"\d{10}", luhn.is_valid)),
    "0151": ("PEPPOL-COMMON-R050", "an Australian business number", _is(r"\d{11}", abn.is_valid)),
}  # fmt: skip
