"""Installation of pressroom-fonts: its largest fonts are stored compressed, and installed as plain files.

Workers map font files into memory, so that they share it, which needs them uncompressed.
"""

from __future__ import annotations

import lzma
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py


class BuildWithFonts(build_py):
    """Copies the package, and unpacks its compressed fonts."""

    def run(self) -> None:
        """Build, then replace each `.ttf.xz` by its `.ttf`."""
        super().run()
        for packed in sorted(Path(self.build_lib).glob("pressroom_fonts/typefaces/*.ttf.xz")):
            packed.with_suffix("").write_bytes(lzma.decompress(packed.read_bytes()))
            packed.unlink()


if __name__ == "__main__":
    setup(cmdclass={"build_py": BuildWithFonts})
