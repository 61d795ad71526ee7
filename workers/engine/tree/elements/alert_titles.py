"""The titles of Markdown's alerts, by language."""

from __future__ import annotations

from typing import Final

from workers.engine.data_tables import read_table
from workers.engine.syntax.nodes import ALERTS

_TITLES: Final = read_table(__package__, "alert_titles.txt")


def translate_alert(kind: str, lang: str) -> str:
    """Return the title of a kind of alert in a language, in English where there is none."""
    titles = _TITLES.get(lang.partition("-")[0].lower(), _TITLES["en"])
    return titles.split(" ")[ALERTS.index(kind)]
