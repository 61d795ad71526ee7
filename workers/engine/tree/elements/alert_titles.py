"""The titles of Markdown's alerts, by language."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from workers.engine.syntax.nodes import ALERTS

# In the order of `ALERTS`.
_TITLES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "en": "Note Tip Important Warning Caution", "de": "Hinweis Tipp Wichtig Warnung Vorsicht",
        "fr": "Remarque Conseil Important Avertissement Attention", "es": "Nota Consejo Importante Advertencia Precaución",
        "it": "Nota Suggerimento Importante Avviso Attenzione", "pt": "Nota Dica Importante Aviso Cuidado",
        "nl": "Opmerking Tip Belangrijk Waarschuwing Let\u00a0op", "pl": "Uwaga Wskazówka Ważne Ostrzeżenie Przestroga",
        "cs": "Poznámka Tip Důležité Varování Upozornění", "sk": "Poznámka Tip Dôležité Varovanie Upozornenie",
        "da": "Bemærk Tip Vigtigt Advarsel Forsigtig", "sv": "Obs Tips Viktigt Varning Försiktighet",
        "nb": "Merk Tips Viktig Advarsel Forsiktig", "nn": "Merk Tips Viktig Åtvaring Forsiktig", "no": "Merk Tips Viktig Advarsel Forsiktig",
        "fi": "Huomautus Vinkki Tärkeää Varoitus Huomio", "hu": "Megjegyzés Tipp Fontos Figyelmeztetés Vigyázat",
        "ro": "Notă Sfat Important Avertisment Atenție", "el": "Σημείωση Συμβουλή Σημαντικό Προειδοποίηση Προσοχή",
        "ru": "Примечание Совет Важно Предупреждение Осторожно", "uk": "Примітка Порада Важливо Попередження Обережно",
        "tr": "Not İpucu Önemli Uyarı Dikkat", "ar": "ملاحظة نصيحة مهم تحذير تنبيه", "he": "הערה טיפ חשוב אזהרה זהירות",
        "ja": "注記 ヒント 重要 警告 注意", "ko": "참고 팁 중요 경고 주의", "zh": "注意 提示 重要 警告 小心",
    }
)  # fmt: skip


def translate_alert(kind: str, lang: str) -> str:
    """Return the title of a kind of alert in a language, in English where there is none."""
    titles = _TITLES.get(lang.partition("-")[0].lower(), _TITLES["en"])
    return titles.split(" ")[ALERTS.index(kind)]
