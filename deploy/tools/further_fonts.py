"""Make the files of pressroom_fonts: `python -m deploy.tools.further_fonts NOTO ICU PACKED`.

NOTO is a folder with the fonts of Debian's fonts-noto-core, of which hints and tables of no use here are
dropped. ICU is a folder with the dictionaries of ICU (`icupkg -x 'brkitr/*.dict' icudt72l.dat`); their words
are written out, one a line, and compressed. PACKED is a folder with the npm packages of `PACKAGES`, as `npm
pack` writes them; their fonts are compressed, and deploy/tools/fonts/setup.py unpacks them at installation.
"""

from __future__ import annotations

import lzma
import sys
import tarfile
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from struct import unpack_from
from typing import Any

import uharfbuzz as hb

from deploy.tools.typefaces import TYPEFACES, cut

FOLDER = Path(__file__).parent / "fonts" / "pressroom_fonts"
FONTS = (
    *(
        "Armenian",
        "Georgian",
        "Ethiopic",
        "Khmer",
        "Lao",
        "Myanmar",
        "Sinhala",
        "Telugu",
        "Kannada",
    ),
    *("Malayalam", "Gujarati", "Gurmukhi", "Thaana", "Syriac", "Cherokee", "Tifinagh", "Yi", "Vai"),
)
DROPPED = (b"DSIG", b"STAT", b"meta", b"gasp", b"hdmx", b"VDMX", b"LTSH")
# The bold of the families in workers/engine/fonts/typefaces, and emoji: packages with the files of Google Fonts.
PACKAGES = {
    "expo-google-fonts-noto-sans-jp-0.4.3.tgz": "563ee80509692e2b2f42ceae6a0b82afecb90daa1b3d025bcebdf3d9120f43a3",
    "expo-google-fonts-noto-sans-kr-0.4.3.tgz": "7614af529705ea48e8b76cb3b056b92db66b7625ef3fc97ce76366063df94d3f",
    "expo-google-fonts-noto-sans-sc-0.4.3.tgz": "0d69d0f4971d2ff574e3d93cbc218dc950bf3f3f8f8e2c008d97687ed53aee59",
    "expo-google-fonts-noto-sans-tc-0.4.3.tgz": "e7532a3a43a6c660ee0351a167b99fe0da52f20b4940fb3fc067ed7c5bd594bf",
    "expo-google-fonts-noto-emoji-0.4.7.tgz": "6a25fd5a4da5bb34bbc2d300531bbf32de86afd866e119314d7e358f61a6104d",
}
DICTIONARIES = {"khmer": "khmerdict", "lao": "laodict", "myanmar": "burmesedict"}


def main() -> None:
    """Write fonts and words."""
    noto, icu, packed = map(Path, sys.argv[1:])
    for name, digest in PACKAGES.items():
        unpack_fonts(packed / name, digest)
    names = [f"NotoSans{name}" for name in FONTS] + ["NotoSerifTibetan"]
    for path in sorted(
        noto / f"{name}-{style}.ttf" for name in names for style in ("Regular", "Bold")
    ):
        if path.exists():
            (FOLDER / "typefaces" / path.name).write_bytes(
                strip(hb.Face(hb.Blob.from_file_path(str(path))))
            )
    for name, dictionary in DICTIONARIES.items():
        words = sorted(set(read_dictionary((icu / f"{dictionary}.dict").read_bytes())))
        text = "".join(f"{word}\n" for word in words)
        (FOLDER / "words" / f"{name}.txt.xz").write_bytes(lzma.compress(text.encode(), preset=9))


def unpack_fonts(package: Path, digest: str) -> None:
    """Write the fonts of a package, compressed: the bold of a family of the product, or emoji in two weights."""
    if sha256(package.read_bytes()).hexdigest() != digest:
        raise SystemExit(f"{package} is not the locked package")
    with tarfile.open(package) as files:
        for member in files.getmembers():
            _, _, name = member.name.rpartition("/")
            family, _, style = name.removesuffix(".ttf").partition("_")
            if style not in ("400Regular", "700Bold"):
                continue
            regular = TYPEFACES / f"{family}-Regular.ttf"
            if style == "400Regular" and regular.exists():
                continue
            face = hb.Face(hb.Blob(files.extractfile(member).read()))  # type: ignore[union-attr]
            if regular.exists():
                data = cut(face, set(hb.Face(hb.Blob.from_file_path(str(regular))).unicodes))
            else:
                data = strip(face)
            path = FOLDER / "typefaces" / f"{family}-{style[3:]}.ttf.xz"
            path.write_bytes(lzma.compress(data, preset=9 | lzma.PRESET_EXTREME))


def strip(face: Any) -> bytes:
    """Return a font with all its characters and features, without hints."""
    wanted = hb.SubsetInput()
    wanted.keep_everything()
    wanted.flags = hb.SubsetFlags.NO_HINTING | hb.SubsetFlags.NOTDEF_OUTLINE
    wanted.drop_table_tag_set.update(int.from_bytes(tag, "big") for tag in DROPPED)
    data: bytes = hb.subset(face, wanted).blob.data
    return data


def read_dictionary(data: bytes) -> Iterator[str]:
    """Yield the words of a dictionary of ICU: a trie of bytes, each the offset from a first character.

    The format is that of ICU's dictionarydata.h and bytestrie.h.
    """
    (header,) = unpack_from("<H", data)
    trie, *_, transform = unpack_from("<6i", data, header)
    first = transform & 0x1FFFFF
    special = {0xFF: "\u200d", 0xFE: "\u200c"}
    for word in _walk(data, header + trie, ()):
        yield "".join(special.get(byte) or chr(first + byte) for byte in word)


def _walk(data: bytes, at: int, word: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Yield the words that go on from a node."""
    while True:
        node, at = data[at], at + 1
        if node >= 0x20:  # a value, which ends a word
            yield word
            at += _value_length(node)
            if node & 1:
                return
        elif node >= 0x10:  # some bytes one after the other
            count = node - 0x10 + 1
            word, at = (*word, *data[at : at + count]), at + count
        else:
            if node == 0:
                node, at = data[at], at + 1
            yield from _branch(data, at, node + 1, word)
            return


def _branch(data: bytes, at: int, count: int, word: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Yield the words of a branch: halves as long as it has more than five ways, then a list of them."""
    while count > 5:
        delta, below = _read_delta(data, at + 1)
        yield from _branch(data, below + delta, count >> 1, word)
        at, count = below, count - (count >> 1)
    for _ in range(count - 1):
        byte, lead = data[at], data[at + 1]
        value, below = _read_value(data, at + 1)
        if lead & 1:
            yield (*word, byte)
        else:
            yield from _walk(data, below + value, (*word, byte))
        at = below
    yield from _walk(data, at + 1, (*word, data[at]))


def _value_length(lead: int) -> int:
    """Return the number of bytes of a value after its first."""
    kind = lead >> 1
    return 0 if kind < 0x51 else 1 if kind < 0x6C else 2 if lead < 0xFC else 3 if lead < 0xFE else 4


def _read_value(data: bytes, at: int) -> tuple[int, int]:
    lead = data[at]
    kind, more = lead >> 1, _value_length(lead)
    rest = int.from_bytes(data[at + 1 : at + 1 + more], "big")
    head = (kind - 0x10, kind - 0x51, kind - 0x6C, 0, 0)[more]
    return (head << 8 * more) + rest, at + 1 + more


def _read_delta(data: bytes, at: int) -> tuple[int, int]:
    lead = data[at]
    if lead < 0xC0:
        return lead, at + 1
    more = 1 if lead < 0xF0 else 2 if lead < 0xFE else 3 if lead == 0xFE else 4
    rest = int.from_bytes(data[at + 1 : at + 1 + more], "big")
    head = (0, lead - 0xC0, lead - 0xF0, 0, 0)[more]
    return (head << 8 * more) + rest, at + 1 + more


if __name__ == "__main__":
    main()
