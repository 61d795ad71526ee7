"""Convert the hyphenation patterns of TeX (hyph-utf8) into the files that the engine reads.

`python -m deploy.tools.hyphenation FOLDER` takes the folder `hyph-utf8/patterns` of a TeX distribution
(Debian: texlive-base and texlive-lang-*) and writes workers/engine/layout/lines/patterns.
Each file keeps the whole comment of its source: title, authors, licence.
"""

from __future__ import annotations

import re
import sys
import textwrap
from pathlib import Path

PATTERNS = Path(__file__).parents[2] / "workers" / "engine" / "layout" / "lines" / "patterns"
# Languages of scripts that lines are set in, or that were supported before; licences that allow
# data to be carried unchanged beside other files. Spellings of schools and of liturgy are left out.
TAGS = (  # noqa: SIM905
    "af as be bg bn ca cs cy da de-1901 de-1996 de-ch-1901 el-monoton el-polyton en-gb en-us eo es et "
    "eu fi fr fur ga gl grc gu hi hr hsb hu hy ia id is it ka kmr kn la lt lv ml mn-cyrl mr nb nl "
    "oc or pa pi pl pms pt rm ro ru sa sh-cyrl sh-latn sk sl sv ta te tk tr uk"
).split()
_MINIMA = re.compile(r"typesetting:\s*\n%\s*left: *(\d+).*\n%\s*right: *(\d+)")
_DEFAULT = ("2", "2")  # CSS Text 4, 6.3.3, where the source has no minima for typesetting


def main() -> None:
    """Write the files."""
    source = Path(sys.argv[1])
    PATTERNS.mkdir(exist_ok=True)
    for tag in TAGS:
        (PATTERNS / f"hyph-{tag}.txt").write_text(convert(source, tag), encoding="utf-8")


def convert(source: Path, tag: str) -> str:
    """Return the file of one language: its comment, minima, exceptions, patterns."""
    comment = read_comment(source / "tex" / f"hyph-{tag}.tex")
    found = _MINIMA.search(comment)
    left, right = found.groups() if found else _DEFAULT
    exceptions = read_words(source, tag, "hyp", "hyphenation")
    patterns = read_words(source, tag, "pat", "patterns")
    return write(comment, f"{left} {right}", exceptions, patterns)


def read_words(source: Path, tag: str, kind: str, command: str) -> list[str]:
    """Return patterns or exceptions: most languages have them as plain text, others in TeX alone."""
    path = source / "txt" / f"hyph-{tag}.{kind}.txt"
    if path.exists():
        return path.read_text(encoding="utf-8").split()
    text = (source / "tex" / f"hyph-{tag}.tex").read_text(encoding="utf-8")
    found = re.search(rf"\\{command}\s*{{([^}}]*)}}", re.sub(r"%.*", "", text))
    return found[1].split() if found else []


def read_comment(path: Path) -> str:
    """Return the comment lines before the first command."""
    lines = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith(("\\", "% =====")):
            break
        if line.startswith("%"):
            lines.append(line.rstrip())
    return "\n".join(lines)


def write(comment: str, minima: str, exceptions: list[str], patterns: list[str]) -> str:
    """Return a file of sections; a section is one line that begins with its name, or many."""
    parts = [comment, f"minima {minima}"]
    if exceptions:
        parts += ["exceptions", _fill(exceptions)]
    return "\n".join([*parts, "patterns", _fill(patterns), ""])


def _fill(words: list[str]) -> str:
    return textwrap.fill(" ".join(words), 120, break_long_words=False, break_on_hyphens=False)


if __name__ == "__main__":
    main()
