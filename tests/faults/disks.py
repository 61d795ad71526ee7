"""Small file systems, and what fills them."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from PIL import Image

from tests.images import encode


@contextmanager
def mounted(folder: Path, *, megabytes: int) -> Iterator[Path]:
    """Mount a file system of this size on a folder, which is made.

    Raises:
        subprocess.CalledProcessError: this machine allows no mounts: such a test is not passed by.
    """
    folder.mkdir(parents=True, exist_ok=True)
    options = f"size={megabytes}m,mode=0700"
    command = ["mount", "-t", "tmpfs", "-o", options, "pressroom-test", str(folder)]
    subprocess.run(command, check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def fill(disk: Path) -> Path:
    """Write a file until not a byte more has space; return it."""
    filler = disk / "filler"
    for size in (65536, 4096, 1):
        try:
            with filler.open("ab", buffering=0) as file:
                while True:
                    file.write(b"x" * size)
        except OSError:
            continue
    return filler


def picture(number: int) -> bytes:
    """Return an image of some 700 KB that no other number has."""
    return encode("PNG", Image.effect_noise((900, 900), 90 + number))
