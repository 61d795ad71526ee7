"""`pressroom test`: the cases of templates, run without a farm."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from deploy.cli.output import CommandFailed, write_file

if TYPE_CHECKING:  # the engine is loaded by this command alone
    from deploy.tools.template_tests import CaseRun, Result


def run_tests(arguments: argparse.Namespace) -> int:
    """Run the cases of a folder and print what differs; return 1 if a case failed."""
    from deploy.tools.template_tests import SUFFIX, CaseRun, find_cases, write_junit

    folder: Path = arguments.folder
    if not folder.is_dir():
        raise CommandFailed(f"{folder} is not a folder")
    cases = find_cases(folder)
    if not cases:
        raise CommandFailed(f"{folder} has no cases: files named NAME{SUFFIX}")
    started = perf_counter()
    run = CaseRun(
        folder,
        _find_folder(arguments.images, folder / "images"),
        _find_folder(arguments.fonts, folder / "fonts"),
        arguments.differences,
        arguments.approve,
    )
    results = _run(cases, run, arguments.jobs or os.cpu_count() or 1)
    seconds = perf_counter() - started
    for each in results:
        for failure in each.failures if each.error is None else (each.error,):
            print(f"{each.name}: {failure}")
    if arguments.junit:
        write_file(arguments.junit, write_junit(results, seconds))
    approved = sum(each.approved for each in results)
    passed = sum(each.has_passed for each in results)
    noted = f", {approved} images approved" if arguments.approve else ""
    print(f"{passed} of {len(results)} cases passed in {seconds:.1f} s{noted}")
    return 0 if passed == len(results) else 1


def _run(cases: Sequence[Path], run: CaseRun, jobs: int) -> list[Result]:
    from deploy.tools.template_tests import run_case

    one = partial(run_case, run=run)
    if jobs == 1 or len(cases) == 1:
        return [one(case) for case in cases]
    with ProcessPoolExecutor(min(jobs, len(cases))) as processes:
        return list(processes.map(one, cases, chunksize=4))


def _find_folder(given: Path | None, default: Path) -> Path | None:
    if given is not None and not given.is_dir():
        raise CommandFailed(f"{given} is not a folder")
    return given or (default if default.is_dir() else None)
