"""`pressroom einvoice`, `rules` and `form extract`: files received from others, and what judges them."""

from __future__ import annotations

import argparse
import shutil
import zipfile
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from msgspec import to_builtins

from deploy.cli.output import (
    CommandFailed,
    Result,
    make_printable,
    print_result,
    read_file,
    write_file,
    write_table,
)
from shared import clock
from shared.limits import MB
from shared.settings import RuleSettings, read_settings
from shared.templates.public import FOLDER
from workers.engine.einvoices import list_terms
from workers.engine.invoice_checks import InvoiceReport, check_external_invoice
from workers.engine.ports import Payload, PayloadKind, RenderOptions, Resources
from workers.rules.judging import Judge, has_processor, refuse_files

_TEMPLATE: Final = "service-received-invoice.xml"


def run_check(arguments: argparse.Namespace) -> int:
    """Print what official rules find; return 1 if the invoice breaks one, or if it cannot be read."""
    report = _check(arguments.file).to_report()
    if arguments.json:
        print_result(report, as_json=True)
    else:
        _print_findings(report)
    return 1 if report["errors"] else 0


def run_show(arguments: argparse.Namespace) -> None:
    """Print every term of an invoice and what official rules find, or write a PDF that shows them."""
    found = _check(arguments.file)
    assert found.invoice is not None
    if arguments.pdf:
        write_file(arguments.pdf, _draw(found))
        return
    _print_findings(found.to_report())
    for title, terms in groupby(list_terms(found.invoice.record), lambda one: one.section):
        rows = [[one.number, one.label, str(one.value)] for one in terms]
        print(f"\n{make_printable(title or 'Document')}\n{write_table(['', '', ''], rows)}")
    for deviation in found.invoice.deviations:
        print(make_printable(f"cannot be read: {deviation.path}: {deviation.message}"))


def _check(file: Path) -> InvoiceReport:
    judge = Judge(read_settings(RuleSettings).rules, refuse_files) if has_processor() else None
    found = check_external_invoice(read_file(file), judge)
    if found.reason:
        raise CommandFailed(f"{file}: {found.reason}")
    return found


def _draw(found: InvoiceReport) -> bytes:
    from workers.engine.local_files import LinkedFiles
    from workers.engine.pipeline import prepare_template, render

    template = prepare_template((FOLDER / _TEMPLATE).read_bytes(), LinkedFiles(FOLDER))
    data = Payload(PayloadKind.JSON, found.to_json())
    return render(template, data, options=RenderOptions(clock.now()), resources=Resources()).pdf


def _print_findings(report: dict[str, Any]) -> None:
    for one in (*report["errors"], *report["warnings"]):
        place = one["element"] if one["path"] == "/" else one["path"]
        text = f"{one['severity']}: {one['rule']} at {place}: {one['message']}"
        print(make_printable(text))
    words = {
        True: "valid",
        False: "not valid",
        None: f"not known to be valid: {report.get('note')}",
    }
    print(make_printable(f"invoice {report.get('number')}: {words[report['valid']]}"))
    for pack in report["checked_by"]:
        print(f"checked by {' '.join(text for text in pack.values() if text)}")


def run_extract(arguments: argparse.Namespace) -> Result:
    """Print each field and its value.

    Raises:
        CommandFailed: the file is not a PDF with fields that can be read.
    """
    from workers.engine.pdf_pages import UnusablePdfError, read_form

    try:
        report = read_form(read_file(arguments.file)).to_report()
    except UnusablePdfError as error:
        raise CommandFailed(f"{arguments.file}: {error}. {error.advice}") from error
    values = {each["name"]: each["value"] for each in report["fields"]}
    return report if arguments.json else values


_MAX_UNPACKED: Final = 500 * MB
_NEEDED: Final = "PRESSROOM_RULES names no folder that exists; set it to the folder of rule packs"


def run_list(arguments: argparse.Namespace) -> int:
    """Print each pack with its edition and what it serves; return 1 if a folder cannot be used."""
    judge = Judge(read_settings(RuleSettings).rules)
    packs = judge.packs
    if arguments.json:
        print_result({"packs": to_builtins(packs), "unusable": judge.unusable}, as_json=True)
    else:
        rows = [
            [
                one.name,
                one.version,
                one.date,
                " ".join(one.serves) or f"both parties in {one.country}",
            ]
            for one in packs
        ]
        print(write_table(["PACK", "VERSION", "DATE", "SERVES"], rows))
        print(*(f"cannot be used: {one}" for one in judge.unusable), sep="\n", end="")
    return 1 if judge.unusable else 0


def run_add(arguments: argparse.Namespace) -> None:
    """Add a publisher's archive, or a folder, under its name in place of an earlier one.

    Raises:
        CommandFailed: it has no rule pack, or cannot be read.
    """
    from workers.engine.einvoices import UnusablePackError, read_packs

    folder = _find_folder()
    target = folder / (arguments.name or arguments.archive.stem)
    with TemporaryDirectory(prefix=".new-", dir=folder) as made:
        unpacked = Path(made, "pack")
        try:
            _unpack(arguments.archive, unpacked)
            packs = read_packs(unpacked)
        except (OSError, zipfile.BadZipFile, UnusablePackError) as error:
            text = str(error).replace(str(unpacked), str(arguments.archive))
            raise CommandFailed(f"{arguments.archive} is no rule pack: {text}") from error
        if target.exists():
            shutil.rmtree(target)
        unpacked.rename(target)
    for pack in packs:
        print(f"added {pack.name} {pack.version}".rstrip())


def run_remove(arguments: argparse.Namespace) -> None:
    """Remove what was added under a name.

    Raises:
        CommandFailed: there is nothing of that name.
    """
    folder = _find_folder()
    names = sorted(one.name for one in folder.iterdir() if one.is_dir())
    if arguments.name not in names:
        raise CommandFailed(
            f"{folder} has no {arguments.name!r}, it has {', '.join(names) or 'none'}"
        )
    shutil.rmtree(folder / arguments.name)


def _find_folder() -> Path:
    folder = read_settings(RuleSettings).rules
    if not folder or not Path(folder).is_dir():
        raise CommandFailed(_NEEDED)
    return Path(folder)


def _unpack(archive: Path, target: Path) -> None:
    if archive.is_dir():
        shutil.copytree(archive, target)
        return
    with zipfile.ZipFile(archive) as files:
        size = sum(one.file_size for one in files.infolist())
        if size > _MAX_UNPACKED:
            raise OSError(f"it unpacks to {size:,} bytes, accepted are {_MAX_UNPACKED:,}")
        files.extractall(target)
