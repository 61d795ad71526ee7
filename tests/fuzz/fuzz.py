"""Fuzzing: mutated documents, data and files through the whole engine, in a child of bounded time and memory.

`python tests/fuzz/fuzz.py --seconds 60 --seed 1` mutates the golden cases, `--rounds` bounds their
number. A find is any exception but an authoring error, a document that validation and rendering
disagree about, a case over its time, or a child that dies; it is written to build/fuzz with its
data, and the same seed finds it again.
"""

from __future__ import annotations

import argparse
import resource
import signal
import subprocess
import sys
import time
import traceback
from pathlib import Path
from random import Random
from types import FrameType

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from tests.fuzz.hostile_files import FONT_DOCUMENT, HostileFont, check, make_font, make_invoice  # noqa: E402
from tests.fuzz.hostile_images import make_document  # noqa: E402
from tests.fuzz.hostile_markdown import make_markdown  # noqa: E402
from tests.fuzz.mutations import mutate  # noqa: E402 - the repository is not installed for scripts
from tests.fuzz.verdicts import find_disagreement  # noqa: E402
from tests.golden.case import OPTIONS, Case, FolderImages, find_cases  # noqa: E402
from tests.runs import keep_run  # noqa: E402
from workers.engine.diagnostics import AuthoringError  # noqa: E402
from workers.engine.pipeline import prepare_template, render, validate  # noqa: E402
from workers.engine.ports import Payload, PayloadKind, Resources  # noqa: E402

FINDS = ROOT / "build" / "fuzz"
SECONDS_PER_CASE = 10  # of CPU: a busy machine is not a find
MEMORY = 1536 * 1024 * 1024
ROUNDS_PER_CHILD = 400
DIED = 3
MARKDOWN = Case("markdown")
FOLDER_IMAGES = FolderImages()


class TooSlowError(BaseException):
    """A case took longer than it may; no handler of the engine takes it for its own."""


def main() -> int:
    """Fuzz for a time and return 1 if anything was found, else 0."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=sys.maxsize)
    parser.add_argument("--child", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child is not None:
        return run_rounds(given.seed, given.child, given.seconds, rounds=given.rounds)
    return watch_children(given.seed, given.seconds, rounds=given.rounds)


def watch_children(seed: int, seconds: float, *, rounds: int) -> int:
    """Run child after child until the time is over, or all rounds are done."""
    FINDS.mkdir(parents=True, exist_ok=True)
    start, first, finds = time.monotonic(), 0, 0
    end = start + seconds
    while first < rounds and (left := end - time.monotonic()) > 0:
        command = [sys.executable, __file__, "--seed", str(seed), "--child", str(first)]
        command += ["--seconds", f"{left:.1f}", "--rounds", str(rounds)]
        ended = subprocess.run(
            command, cwd=ROOT, timeout=left + 60, stdout=subprocess.PIPE, text=True, check=False
        )
        print(ended.stdout, end="")
        finds += ended.stdout.count("FIND")
        if ended.returncode not in (0, 1):
            print(f"FIND the child ended with {ended.returncode}: {FINDS / 'running.xml'}")
            finds += 1
            (FINDS / "running.xml").rename(FINDS / f"died-{seed}-{first}.xml")
        first += ROUNDS_PER_CHILD
    took = round(time.monotonic() - start)
    print(f"fuzz: seed {seed}, {took} s, {finds} finds")
    if not finds:
        keep_run("fuzzing", f"seed {seed}", seconds=took)
    return 1 if finds else 0


def run_rounds(seed: int, first: int, seconds: float, *, rounds: int) -> int:
    """Run the rounds of one child."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    signal.signal(signal.SIGPROF, _stop)
    cases, end, finds = find_cases(), time.monotonic() + seconds, 0
    texts = [case.source.decode() for case in cases]
    done = 0
    for number in range(first, min(first + ROUNDS_PER_CHILD, rounds)):
        if time.monotonic() > end:
            break
        random = Random(seed * 1_000_003 + number)
        resources = FOLDER_IMAGES
        match number % 10:
            case 0 | 5:
                text, payload = MARKDOWN.source.decode(), make_markdown_payload(random)
            case 1 | 6:
                text, payload = make_document(random), None
            case 2:
                resources = HostileFont(make_font(random))
                (FINDS / "running.font").write_bytes(resources.data)
                text, payload = FONT_DOCUMENT, None
            case 3:
                text, payload = make_invoice(random).decode(errors="replace"), None
            case _:
                case = random.choice(cases)
                text = mutate(case.source.decode(), random, texts)
                payload = mutated_payload(case, random)
        (FINDS / "running.xml").write_text(text, errors="surrogatepass")
        finds += try_case(number, text, payload, resources)
        done += 1
    print(f"rounds {first} to {first + done}: {finds} finds")
    return 1 if finds else 0


def make_markdown_payload(random: Random) -> Payload:
    """Return hostile Markdown."""
    body = make_markdown(random).encode(errors="replace")
    (FINDS / "running.md").write_bytes(body)
    return Payload(PayloadKind.MARKDOWN, body)


def mutated_payload(case: Case, random: Random) -> Payload | None:
    """Return the data of a case, damaged every other time."""
    payload = case.payload
    if payload is None or random.random() < 0.5:
        return payload
    body = mutate(payload.body.decode(), random, ())
    return Payload(payload.kind, body.encode(errors="replace"), flow=payload.flow)


def try_case(
    number: int, text: str, payload: Payload | None, resources: Resources = FOLDER_IMAGES
) -> int:
    """Render and validate one document, or check an invoice; return the number of finds, 0 or 1."""
    signal.setitimer(signal.ITIMER_PROF, SECONDS_PER_CASE)
    try:
        source = text.encode(errors="replace")
        if number % 10 == 3:
            check(source)
        disagreement = judge(source, payload, resources)
    except BaseException as error:  # noqa: BLE001 - any is what is looked for
        signal.setitimer(signal.ITIMER_PROF, 0)
        what = f"{type(error).__name__}: {str(error)[:200]}"
        return keep(number, text, payload, what=what, why=traceback.format_exc())
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    if disagreement is None:
        return 0
    return keep(number, text, payload, what=disagreement, why=disagreement)


def judge(
    source: bytes, payload: Payload | None, resources: Resources = FOLDER_IMAGES
) -> str | None:
    """Validate and render a document as a worker does; return how the two disagree, if they do.

    A document without a payload is a template or, for half of them, a payload of its own.
    """
    template = None if payload is None and len(source) % 2 else prepare_template(source)
    if template is None:
        payload = Payload(PayloadKind.XML, source)
    found = validate(template, payload, options=OPTIONS, resources=resources)
    try:
        render(template, payload, options=OPTIONS, resources=resources)
    except AuthoringError as error:
        return find_disagreement(found, error.diagnostics)
    return find_disagreement(found, ())


def keep(number: int, text: str, payload: Payload | None, *, what: str, why: str) -> int:
    """Write a find to its files, print it, and return 1."""
    name = FINDS / f"find-{number}"
    name.with_suffix(".xml").write_text(text, errors="surrogatepass")
    name.with_suffix(".txt").write_text(why)
    if payload is not None:
        name.with_suffix(".data").write_bytes(payload.body)
    print(f"FIND {number}: {what[:300]} ({name}.xml)")
    return 1


def _stop(_signal: int, _frame: FrameType | None) -> None:
    raise TooSlowError(f"over {SECONDS_PER_CASE} s")


if __name__ == "__main__":
    sys.exit(main())
