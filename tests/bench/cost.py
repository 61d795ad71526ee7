"""The CPU cost of a document by process of the farm: the figures of deploy/CAPACITY.md.

CPU time and not wall time, so that a busy machine says the same as an idle one.
"""

import argparse
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from deploy.embedded.demo.show import statement_csv
from shared.templates.pinning import TOMBSTONE_SECONDS
from tests.bench.farm import farm_of
from tests.system.conftest import DOCUMENTS, open_account

TICKS = os.sysconf("SC_CLK_TCK")
PARTS = ("front", "worker", "background", "redis")
HELLO = b"<document><flow><p>Hello</p></flow></document>"


def main() -> None:
    """Render each document many times and print what it cost each process."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--renders", type=int, default=800)
    renders = parser.parse_args().renders
    print("| document | pages | front ms | worker ms | background ms | Redis ms | all ms |")
    print("|---|--:|--:|--:|--:|--:|--:|")
    with farm_of() as farm:
        account = open_account(farm, plan="paid")
        account.store_logo()
        # A farm at work knows the names of its images: not until so long after they changed.
        time.sleep(TOMBSTONE_SECONDS + 1)
        for title, times, ask in _documents(account, renders):
            pages = ask(0).pages
            with ThreadPoolExecutor(4) as pool:
                list(pool.map(ask, range(times // 5)))  # caches, rehearsals
                before = _cpu(farm)
                answers = list(pool.map(ask, range(times)))
            assert all(answer.status == 200 for answer in answers)
            spent = [
                1000 * (after - begun) / times
                for begun, after in zip(before, _cpu(farm), strict=True)
            ]
            shown = " | ".join(f"{milliseconds:.2f}" for milliseconds in [*spent, sum(spent)])
            print(f"| {title} | {pages} | {shown} |", flush=True)


def _documents(account, renders):
    invoice = account.store_template((DOCUMENTS / "invoice.xml").read_bytes())
    data = (DOCUMENTS / "invoice.json").read_bytes()
    statement = account.store_template((DOCUMENTS / "statement.xml").read_bytes())
    rows = statement_csv(1000)
    yield "note", renders, lambda _: account.render(HELLO)
    yield (
        "invoice",
        renders,
        lambda _: account.render(data, "application/json", f"?template={invoice}"),
    )
    yield (
        "statement, 1,000 rows",
        max(renders // 10, 20),
        lambda _: account.render(rows, "text/csv", f"?template={statement}"),
    )


def _cpu(farm) -> list[float]:
    running = farm.folder.read_record().processes
    return [sum(cpu_seconds(pid) for pid in find_processes(running[part])) for part in PARTS]


def find_processes(pid: int) -> list[int]:
    """Return a process and all below it."""
    found = [pid]
    for each in found:
        with suppress(OSError):  # one that has just ended
            found += map(int, Path(f"/proc/{each}/task/{each}/children").read_text().split())
    return found


def cpu_seconds(pid: int) -> float:
    """Return the CPU time of a process and of its children that have ended."""
    # utime, stime, and those of children that have ended (proc(5), fields 14 to 17).
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / TICKS


if __name__ == "__main__":
    sys.exit(main())
