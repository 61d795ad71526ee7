"""Convert properties and test files of Unicode into the compact files that engine and tests read.

`python -m deploy.tools.unicode_data FOLDER` takes the folder of Debian's package unicode-data
(/usr/share/unicode). Properties become one line per class: its name and its ranges.
"""

from __future__ import annotations

import lzma
import re
import sys
from collections import defaultdict
from itertools import groupby
from pathlib import Path

ROOT = Path(__file__).parents[2]
ENGINE = ROOT / "workers" / "engine"
TESTS = ROOT / "tests" / "engine" / "layout" / "unicode"
_LINE = re.compile(r"^([0-9A-F]+)(?:\.\.([0-9A-F]+))?\s*;\s*(\w+)", re.MULTILINE)
# What LineBreak.txt says in words: unassigned characters of these blocks are ID or PR.
_RESERVED = {
    "ID": ((0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x1F000, 0x1FAFF), (0x1FC00, 0x1FFFD),
           (0x20000, 0x2FFFD), (0x30000, 0x3FFFD)),
    "PR": ((0x20A0, 0x20CF),),
}  # fmt: skip


def main() -> None:
    """Write the files."""
    folder = Path(sys.argv[1])
    write_classes(ENGINE / "layout" / "lines" / "line_classes.txt", line_classes(folder))
    write_classes(ENGINE / "cluster_classes.txt", cluster_classes(folder))
    TESTS.mkdir(exist_ok=True)
    for name in ("auxiliary/LineBreakTest", "auxiliary/GraphemeBreakTest", "BidiCharacterTest"):
        text = (folder / f"{name}.txt").read_text(encoding="utf-8")
        kept = "".join(
            line.partition("#")[0].strip() + "\n"
            for line in text.splitlines()
            if not line.startswith("#") and line.strip()
        )
        path = TESTS / f"{Path(name).name}.txt.xz"
        path.write_bytes(lzma.compress(kept.encode(), preset=9 | lzma.PRESET_EXTREME))


def line_classes(folder: Path) -> dict[int, str]:
    """Return the line breaking class of each character, as rule LB1 resolves it.

    Wide brackets are OPW and CPW (LB30), quotes QUI and QUF where they open or close (LB15), pictures
    that may be assigned later EB (LB30b).
    """
    classes = {
        code: name
        for name, ranges in _RESERVED.items()
        for first, last in ranges
        for code in range(first, last + 1)
    }
    classes |= dict(read(folder / "LineBreak.txt"))
    wide = {code for code, width in read(folder / "EastAsianWidth.txt") if width in "FWH"}
    category = {
        int(fields[0], 16): fields[2]
        for fields in map(str.split, _semicolons(folder / "UnicodeData.txt"))
    }
    classes |= {code: "EB" for code in pictures(folder) if code not in category}
    for code, name in classes.items():
        kind = category.get(code, "")
        if name == "SA":
            classes[code] = "CM" if kind in ("Mn", "Mc") else "AL"
        elif name == "CJ":
            classes[code] = "NS"
        elif name in (
            "AI",
            "SG",
            "XX",
            "H2",
            "H3",
            "JL",
            "JV",
            "JT",
        ):  # Korean breaks at its spaces
            classes[code] = "AL"
        elif name in ("OP", "CP") and code in wide:
            classes[code] = name + "W"
        elif name == "QU" and kind in ("Pi", "Pf"):
            classes[code] = "QUI" if kind == "Pi" else "QUF"
    return {code: name for code, name in classes.items() if name != "AL"}


def cluster_classes(folder: Path) -> dict[int, str]:
    """Return the class of each character for grapheme clusters; syllables of Hangul are computed."""
    classes = dict.fromkeys(pictures(folder), "ExtPict")
    classes |= dict(read(folder / "auxiliary" / "GraphemeBreakProperty.txt"))
    return {code: name for code, name in classes.items() if name not in ("LV", "LVT")}


def pictures(folder: Path) -> list[int]:
    """Return the characters that are Extended_Pictographic."""
    path = folder / "emoji" / "emoji-data.txt"
    return [code for code, name in read(path) if name == "Extended_Pictographic"]


def read(path: Path) -> list[tuple[int, str]]:
    """Return each character of a property file with its value."""
    return [
        (code, name)
        for first, last, name in _LINE.findall(path.read_text(encoding="utf-8"))
        for code in range(int(first, 16), int(last or first, 16) + 1)
    ]


def write_classes(path: Path, classes: dict[int, str]) -> None:
    """Write the ranges of each class on one line."""
    by_name = defaultdict(list)
    for code in sorted(classes):
        by_name[classes[code]].append(code)
    lines = [f"{name} {' '.join(_ranges(codes))}\n" for name, codes in sorted(by_name.items())]
    path.write_text("".join(lines), encoding="ascii")


def _ranges(codes: list[int]) -> list[str]:
    runs = [
        [code for _, code in run]
        for _, run in groupby(enumerate(codes), lambda pair: pair[1] - pair[0])
    ]
    return [f"{run[0]:X}" if len(run) == 1 else f"{run[0]:X}-{run[-1]:X}" for run in runs]


def _semicolons(path: Path) -> list[str]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return [
        " ".join(field.replace(" ", "_") or "_" for field in line.split(";")[:3]) for line in lines
    ]


if __name__ == "__main__":
    main()
