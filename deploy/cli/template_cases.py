"""The cases of a template as a farm has them: a ZIP of the folder `DIR/SLUG`, beside `DIR/SLUG.xml`."""

from __future__ import annotations

from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Final
from zipfile import BadZipFile, ZipFile, ZipInfo

from deploy.cli.output import CommandFailed, write_file
from pressroom_client import Pressroom

_MAX_BYTES: Final = 64_000_000  # unpacked


def pack_cases(folder: Path) -> bytes | None:
    """Return the files of a folder as a ZIP, None without a case; the same files are the same bytes on every machine."""
    files = sorted(each for each in folder.rglob("[!.]*") if each.is_file())
    if not any(each.name.endswith(".case.json") for each in files):
        return None
    buffer = BytesIO()
    with ZipFile(buffer, "w") as archive:
        for file in files:
            archive.writestr(ZipInfo(file.relative_to(folder).as_posix()), file.read_bytes())
    return buffer.getvalue()


def unpack_cases(archive: bytes, folder: Path) -> None:
    """Write the files of a ZIP below a folder."""
    try:
        with ZipFile(BytesIO(archive)) as opened:
            if sum(each.file_size for each in opened.infolist()) > _MAX_BYTES:
                raise CommandFailed(f"the stored cases are more than {_MAX_BYTES:,} bytes unpacked")
            opened.extractall(folder)  # never above the folder
    except (BadZipFile, NotImplementedError, OSError) as error:
        raise CommandFailed(f"the stored cases cannot be unpacked: {error}") from error


def fetch_version(farm: Pressroom, template: str, version: int, folder: Path) -> str | None:
    """Write the cases of a version, its content and what it is built on to a folder; return the SHA-256 of the cases.

    None, and nothing is written, if it has no cases.
    """
    read = farm.templates.read(f"{template}@{version}")
    archive = farm.templates.read_cases(read.id, version)
    if archive is None:
        return None
    own = read.slug or read.id
    contents = {own: read.content or ""}
    for reference, digest in (farm.templates.version(read.id, version).links or {}).items():
        linked = farm.templates.read(reference).content or ""
        name = reference.partition("@")[0]
        if sha256(linked.encode()).hexdigest() != digest or contents.get(name, linked) != linked:
            raise CommandFailed(
                f"{reference} is not what it was when version {version} of {template} was published, or another "
                f"version of {name} is linked to as well: its cases cannot be run with both"
            )
        contents[name] = linked
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in contents.items():
        write_file(folder / f"{name}.xml", content.encode())
    unpack_cases(archive, folder / own)
    return sha256(archive).hexdigest()
