"""The order of texts in a language, as in its dictionaries (UTS #10 and the tailorings of CLDR)."""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from typing import Final

# For each language: a letter, and the letters that come after it in order.
_OWN_LETTERS: Final[dict[str, str]] = {
    "sv": "z å ä ö", "fi": "z å ä ö", "da": "z æ ø å", "nb": "z æ ø å", "nn": "z æ ø å", "no": "z æ ø å",
    "is": "a á,d ð,e é,i í,o ó,u ú,y ý,z þ æ ö", "fo": "a á,d ð,i í,o ó,u ú,y ý,z æ ø",
    "es": "n ñ", "gl": "n ñ", "eu": "n ñ", "fil": "n ñ",
    "pl": "a ą,c ć,e ę,l ł,n ń,o ó,s ś,z ź ż",
    "cs": "c č,h ch,r ř,s š,z ž", "sk": "a ä,c č,h ch,o ô,s š,z ž",
    "hr": "c č ć,d dž đ,l lj,n nj,s š,z ž", "bs": "c č ć,d dž đ,l lj,n nj,s š,z ž",
    "sl": "c č ć,d đ,s š,z ž",
    "hu": "c cs,d dz dzs,g gy,l ly,n ny,o ö,s sz,t ty,u ü,z zs",
    "tr": "c ç,g ğ,h ı,o ö,s ş,u ü", "az": "c ç,e ə,g ğ,h x ı,k q,o ö,s ş,u ü",
    "ro": "a ă â,i î,s ș,t ț", "lv": "c č,g ģ,k ķ,l ļ,n ņ,s š,z ž", "lt": "c č,s š,z ž",
    "et": "s š z ž,w õ ä ö ü", "sq": "c ç,d dh,e ë,g gj,l ll,n nj,r rr,s sh,t th,x xh,z zh",
    "cy": "c ch,d dd,f ff,g ng,l ll,p ph,r rh,t th",
}  # fmt: skip
# Letters that no accent is taken from, as German sorts them.
_SPREAD: Final = str.maketrans({"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i"})  # fmt: skip

# How a text compares: by its letters, then by their accents, then by their case.
Key = tuple[str, str, str]


def collation_key(text: str, lang: str) -> Key:
    """Return the sort key of a text in a language, a BCP 47 tag."""
    folded = unicodedata.normalize("NFC", text).casefold()
    return "".join(split_letters(folded, lang)), folded, text


def split_letters(folded: str, lang: str) -> list[str]:
    """Return the letters of a text without case, each as its base letter and its rank after it."""
    own = _own_letters(lang.split("-", maxsplit=1)[0].lower())
    if not own:
        return list(_strip_accents(folded))
    longest = max(map(len, own))
    letters: list[str] = []
    at = 0
    while at < len(folded):
        for size in range(min(longest, len(folded) - at), 0, -1):
            found = own.get(folded[at : at + size])
            if found is not None:
                letters.append(found)
                at += size
                break
        else:
            letters += [f"{char}\0" for char in _strip_accents(folded[at])]
            at += 1
    return letters


def _strip_accents(folded: str) -> str:
    """Return a text without accents."""
    if folded.isascii():
        return folded
    parted = unicodedata.normalize("NFKD", folded.translate(_SPREAD))
    return "".join(char for char in parted if not unicodedata.combining(char))


@lru_cache(maxsize=64)
def _own_letters(lang: str) -> dict[str, str]:
    own: dict[str, str] = {}
    for group in filter(None, _OWN_LETTERS.get(lang, "").split(",")):
        base, *others = group.split()
        own |= {letter: base + chr(rank) for rank, letter in enumerate(others, 1)}
    return own
