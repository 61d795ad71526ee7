"""`pressroom test`: the cases of templates, in a folder or stored on a farm, run on this machine."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import TYPE_CHECKING

from deploy.cli.output import CommandFailed, read_credentials, write_file
from deploy.cli.template_cases import fetch_version
from pressroom_client import Pressroom

if TYPE_CHECKING:  # the engine is loaded by this command alone
    from deploy.tools.template_tests import CaseRun, Result


def run_tests(arguments: argparse.Namespace) -> int:
    """Run the cases of a folder and print what differs; return 1 if a case failed."""
    from deploy.tools.template_tests import CaseRun, write_junit

    folder: Path = arguments.folder
    if arguments.stored:
        template, _, version = arguments.stored.partition("@")
        if not version.isdecimal():
            raise CommandFailed("--stored takes a template with the number of a version: invoice@7")
        if folder.exists():
            raise CommandFailed(f"{folder} exists: what is stored is written to a new folder")
        farm = Pressroom(*read_credentials(arguments))
        if fetch_version(farm, template, int(version), folder) is None:
            raise CommandFailed(f"version {version} of {template} has no stored cases")
    elif not folder.is_dir():
        raise CommandFailed(f"{folder} is not a folder")
    started = perf_counter()
    given = (arguments.images, arguments.fonts, arguments.differences, arguments.approve)
    results = _run_folder(CaseRun(folder, *given), arguments.jobs)
    seconds = perf_counter() - started
    if arguments.junit:
        write_file(arguments.junit, write_junit(results, seconds))
    approved = sum(each.approved for each in results)
    passed = sum(each.has_passed for each in results)
    noted = f", {approved} images approved" if arguments.approve else ""
    print(f"{passed} of {len(results)} cases passed in {seconds:.1f} s{noted}")
    return 0 if passed == len(results) else 1


def run_stored(farm: Pressroom, template: str, version: int) -> Mapping[str, str | int] | None:
    """Run the stored cases of a version, and return the report with which it is approved; None if it has none.

    Raises:
        CommandFailed: a case failed; what differs is printed.
    """
    from deploy.tools.template_tests import CaseRun

    with TemporaryDirectory() as name:
        digest = fetch_version(farm, template, version, Path(name))
        if digest is None:
            return None
        results = _run_folder(CaseRun(Path(name)))
    failed = sum(not each.has_passed for each in results)
    if failed:
        raise CommandFailed(f"{failed} of {len(results)} stored cases failed: it is not approved")
    return {"sha256": digest, "passed": len(results), "failed": 0}


def _run_folder(run: CaseRun, jobs: int | None = None) -> list[Result]:
    """Run the cases of a folder, and print what differs."""
    from deploy.tools.template_tests import SUFFIX, find_cases

    cases = find_cases(run.folder)
    if not cases:
        raise CommandFailed(f"{run.folder} has no cases: files named NAME{SUFFIX}")
    images = _find_folder(run.images, run.folder, "images")
    run = replace(run, images=images, fonts=_find_folder(run.fonts, run.folder, "fonts"))
    results = _run(cases, run, jobs or os.cpu_count() or 1)
    for each in results:
        for failure in each.failures if each.error is None else (each.error,):
            print(f"{each.name}: {failure}")
    return results


def _run(cases: Sequence[Path], run: CaseRun, jobs: int) -> list[Result]:
    from deploy.tools.template_tests import run_case

    one = partial(run_case, run=run)
    if jobs == 1 or len(cases) == 1:
        return [one(case) for case in cases]
    with ProcessPoolExecutor(min(jobs, len(cases))) as processes:
        return list(processes.map(one, cases, chunksize=4))


def _find_folder(given: Path | None, folder: Path, name: str) -> Path | None:
    """Return the folder of images or fonts: given, in that of the templates, or in one of cases."""
    if given is not None and not given.is_dir():
        raise CommandFailed(f"{given} is not a folder")
    defaults = (folder / name, *sorted(folder.glob(f"*/{name}")))
    return given or next((each for each in defaults if each.is_dir()), None)
