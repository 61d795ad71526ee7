"""Measure runs: `python -m tests.bench.runs [--documents 10000]`."""

from __future__ import annotations

import argparse
import csv
import io
import json
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import datetime
from hashlib import sha256
from itertools import zip_longest
from pathlib import Path

import pikepdf
import pypdfium2
import zxingcpp
from PIL import Image

from tests.bench.batches import Run, measure_batch
from tests.bench.demands import HEAD, at_most, fact, show
from tests.bench.farm import Client, farm_of
from tests.bench.works import LETTERHEAD

NOTE = """\
Letters of one to four pages as one merged batch, and as a run that is sorted by postcode, split at 2,500
sheets, printed on both sides and marked, with inserts, weights and classes of postage; in turns on a farm of
this machine, the lesser of two figures each. CPU is that of the pool of batches. Memory is the most that any
process of its kind held. Marks are read from the drawn pages: lines by their pixels, codes by zxing-cpp. Forecasts are those of the record from 5 % on, once a second, against its end. PDF/VT-1
is read by pikepdf, the plates of its first hundred pages are Ghostscript's."""
LINE = b"The contract is renewed by a year unless it is terminated in writing. " * 4
TEMPLATE = (
    b"""<document><data><field name="n" type="integer"/><field name="zip" type="string"/>
<json>{"lines": 1}</json></data>
<page size="A4" margin="25mm"/><flow><p>{{ zip }} Town</p><h1>Letter {{ n }}</h1>
<p for="line in range(lines)">%b</p></flow></document>"""
    % LINE
)
WITH_LOGO = TEMPLATE.replace(b" Town</p>", b' Town <img src="logo" alt="" height="4mm"/></p>')
FOR_PRINT = b'<document profile="pdf/x-4" output-intent="press" title="Letter {{ n }}">'
PLAN = {
    "sort": ["zip"],
    "split": {"sheets": 2500},
    "duplex": True,
    "fields": ["n", "zip"],
    "inserts": [{"feeder": 1, "grams": 3.2, "conditions": [{"value": "zip", "one_of": ["07919"]}]}],
    "weight": {
        "sheet": 4.99,
        "envelope": 6.5,
        "classes": [{"name": "standard", "up_to": 20}, {"name": "compact", "up_to": 50}],
    },
    "marks": {"type": "omr", "left": 6, "top": 120},
}
CODED = PLAN | {
    "marks": {"type": "datamatrix", "left": 6, "top": 20, "format": "{set:06}{sheet:02}{count:02}"}
}
LINES_OF_PAGE = 19
ROUNDS = 2


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--documents", type=int, default=10_000)
    show(measure(parser.parse_args().documents))


def measure(documents: int) -> Iterator[str]:
    """Yield the table, each line as soon as it is measured."""
    yield from (NOTE, "", HEAD)
    with farm_of(1) as farm:
        client = Client(farm)
        template = client.store(WITH_LOGO)
        client.json("PUT", "/v2/plans/letters", json.dumps(PLAN).encode(), "application/json")
        outputs = ("merged", "merged&plan=letters")
        body = letters(documents)
        client.json("PUT", "/v2/plans/coded", json.dumps(CODED).encode(), "application/json")
        measure_batch(client, template, documents, output="merged&plan=coded", body=body)
        codes = read_marks(client, "coded", read_code)
        measured: dict[str, list[Run]] = {output: [] for output in outputs}
        forecasts: list[float] = []
        for output in outputs * ROUNDS:
            measured[output].append(
                measure_batch(
                    client,
                    template,
                    documents,
                    output=output,
                    body=body,
                    meanwhile=lambda: forecasts.extend(compare_forecasts(client)),
                )
            )
        lines = read_marks(client, "letters", read_lines)
        differing = compare_reprint(client, template, documents)
        printed = read_print_file(client, documents, body)
    name = f"{documents:,} letters"
    plain, run = (min(each.cpu for each in measured[output]) for output in outputs)
    yield at_most(f"{name} as a run: CPU, of the plain merged batch's", run / plain, 1.05, "%")
    yield fact(f"{name}: CPU of the plain merged batch, of the run", f"{plain:.1f}, {run:.1f} s")
    plain, run = (min(each.render for each in measured[output]) for output in outputs)
    yield fact(f"{name}: time of the plain merged batch, of the run", f"{plain:.1f}, {run:.1f} s")
    for output, what in zip(outputs, ("merged", "as a run"), strict=True):
        most = max(each.memory["batch"] for each in measured[output])
        yield at_most(f"{name} {what}: memory of batch", most, 300, "MB")
    yield at_most(
        f"{name}: farthest of {len(forecasts)} forecasts", max(forecasts, default=0), 0.1, "%"
    )
    yield at_most(f"{name}: sides with a wrong mark of lines", lines, 0, "")
    yield at_most(f"{name}: sides with a wrong mark of a DataMatrix", codes, 0, "")
    what = f"{name}, reprinted after template and image changed: pages of other bytes"
    yield at_most(what, differing, 0, "")
    yield from printed


def compare_forecasts(client: Client) -> list[float]:
    """Follow the newest batch to its end; return how far from it each forecast was, as a share of its time."""
    forecasts = []
    while True:
        [batch] = client.json("GET", "/v2/batches?limit=1")["batches"]
        batch = client.json("GET", f"/v2/batches/{batch['id']}")
        if batch["status"] == "finished":
            begun, end = (datetime.fromisoformat(batch[at]) for at in ("created_at", "finished_at"))
            return [abs(each - end) / (end - begun) for each in forecasts]
        if "forecast_at" in batch:
            forecasts.append(datetime.fromisoformat(batch["forecast_at"]))
        time.sleep(1)


def compare_reprint(client: Client, template: str, documents: int) -> int:
    """Reprint all letters of the newest batch, a run, and return how many pages have other content or images."""
    [batch] = client.json("GET", "/v2/batches?limit=1")["batches"]
    path = f"/v2/batches/{batch['id']}"
    changed = WITH_LOGO.replace(b"Town", b"City").replace(b"25mm", b"30mm")
    client.json("PUT", f"/v2/templates/{template}", changed, "text/xml")
    client.json("PUT", "/v2/images/logo", LETTERHEAD.read_bytes(), "application/pdf")
    wanted = json.dumps({"first": 0, "last": documents - 1}).encode()
    client.json("POST", f"{path}/reprint", wanted)
    while not (account := client.json("GET", f"{path}/account"))["reprints"][0]["bytes"]:
        time.sleep(1)
    [again] = digest_pages(client, [f"{path}/files/reprint-1"])
    before = digest_pages(client, [f"{path}/files/{file['number']}" for file in account["files"]])
    pages = [page for file in before for page in file]
    assert len(pages) == account["pages"]
    assert account["delivered"] == documents
    return sum(one != other for one, other in zip_longest(again, pages))


def read_marks(
    client: Client, plan: str, read: Callable[[pypdfium2.PdfPage, int, int, int], bool]
) -> int:
    """Return how many sides of the newest run have another mark than its index asks for.

    `read` is given a page, the number of its set and of its sheet in it, 0 for a back, and the sheets of the set.
    """
    [batch] = client.json("GET", "/v2/batches?limit=1")["batches"]
    assert batch["plan"].startswith(plan)
    path = f"/v2/batches/{batch['id']}"
    index = client.send("GET", f"{path}/index").read().decode()
    sheets = [int(row["n"]) % 4 // 2 + 1 for row in csv.DictReader(io.StringIO(index))]
    sides = [
        (at, sheet if is_front else 0, count)
        for at, count in enumerate(sheets, 1)
        for sheet in range(1, count + 1)
        for is_front in (True, False)
    ]
    wrong = done = 0
    for file in client.json("GET", f"{path}/account")["files"]:
        pdf = pypdfium2.PdfDocument(client.send("GET", f"{path}/files/{file['number']}").read())
        for page in pdf:
            wrong += not read(page, *sides[done])
            done += 1
            page.close()
        pdf.close()
    return wrong + len(sides) - done


def read_lines(page: pypdfium2.PdfPage, _: int, sheet: int, count: int) -> bool:
    """Return whether a page has the lines of a sheet: start and gate, its end of set, and parity."""
    image = page.render(scale=200 / 72, grayscale=True).to_pil()
    places = [((120.25 + 4 * line) / 25.4 * 200) for line in range(11)]
    dark = [image.getpixel((round(10 / 25.4 * 200), round(place))) < 128 for place in places]
    if not sheet:
        return not any(dark)
    return dark[:2] == [True, True] and dark[2] == (sheet == count) and sum(dark) % 2 == 0


def read_code(page: pypdfium2.PdfPage, number: int, sheet: int, count: int) -> bool:
    """Return whether a page has the code of a sheet of a set, and a back none."""
    codes = zxingcpp.read_barcodes(page.render(scale=200 / 72, grayscale=True).to_pil())
    return [code.text for code in codes] == ([f"{number:06}{sheet:02}{count:02}"] if sheet else [])


def digest_pages(client: Client, paths: list[str]) -> list[list[bytes]]:
    """Return a digest of the content and the images of each page of files of a run."""
    found = []
    for path in paths:
        with pikepdf.open(io.BytesIO(client.send("GET", path).read())) as pdf:
            found.append([])
            for page in pdf.pages:
                page.contents_coalesce()
                drawn = [page.obj.Contents] if "/Contents" in page.obj else []
                images = page.obj.Resources.get("/XObject", pikepdf.Dictionary())
                drawn += [image for _, image in sorted(images.items())]
                own = [one.read_raw_bytes() for one in drawn]
                found[-1].append(sha256(b"|".join(own)).digest())
    return found


def read_print_file(client: Client, documents: int, body: bytes) -> Iterator[str]:
    """Return the rows of the letters as PDF/VT-1, beside the same merged for screens."""
    icc = Path(__file__).parents[1] / "golden" / "images" / "press.icc"
    client.json("PUT", "/v2/images/press", icc.read_bytes(), "application/vnd.iccprofile")
    sizes = []
    with tempfile.NamedTemporaryFile(suffix=".pdf") as file:
        for source in (TEMPLATE, TEMPLATE.replace(b"<document>", FOR_PRINT)):
            path = f"/v2/batches?template={client.store(source)}&output=merged"
            batch = client.json("POST", path, body, "application/x-ndjson")
            while batch["status"] != "finished":
                batch = client.json("GET", f"/v2/batches/{batch['id']}?wait=60")
            assert batch["succeeded"] == documents, batch
            file.seek(0)
            answer = client.send("GET", f"/v2/batches/{batch['id']}/result")
            while piece := answer.read(1 << 20):
                file.write(piece)
            file.truncate()
            sizes.append(file.tell())
        file.flush()
        wrong, colored = check_records(file.name, documents)
        plates = find_plates(file.name)
    name = f"{documents:,} records of PDF/VT-1"
    return iter(
        (
            at_most(f"{name}: of the size of the merged file", sizes[1] / sizes[0], 1.1, "%"),
            at_most(f"{name}: with another part than their pages", wrong, 0, ""),
            at_most(f"{name}: operators of RGB", colored, 0, ""),
            at_most(f"{name}: plates beside black with ink", plates, 0, ""),
        )
    )


def check_records(name: str, documents: int) -> tuple[int, int]:
    """Return how many records have a wrong part, and how many operators set a colour of RGB."""
    wrong = colored = 0
    with pikepdf.open(name) as pdf:
        pages = [page.obj for page in pdf.pages]
        at = {page.objgen: number for number, page in enumerate(pages)}
        parts = list(pdf.Root.DPartRoot.DPartRootNode.DParts[0])
        first = 0
        for number, part in enumerate(parts):
            last = at[part.End.objgen]
            own = pages[first : last + 1]
            is_right = (
                str(part.DPM.Record.Title) == f"Letter {number}"
                and at[part.Start.objgen] == first
                and len(own) == number % 4 + 1
                and all(page.DPart.objgen == part.objgen for page in own)
            )
            wrong += not is_right
            first = last + 1
        wrong += abs(documents - len(parts)) + len(pages) - first
        for page in pages:
            used = pikepdf.parse_content_stream(page)
            colored += sum(str(each.operator) in ("rg", "RG") for each in used)
    return wrong, colored


def find_plates(name: str) -> int:
    """Return how many plates of the first hundred pages, beside that of black, have ink."""
    with tempfile.TemporaryDirectory() as folder:
        command = ["gs", "-q", "-dNOPAUSE", "-dBATCH", "-dSAFER", "-sDEVICE=tiffsep", "-r36"]
        subprocess.run(
            [*command, "-dLastPage=100", f"-sOutputFile={folder}/%03d.tif", name], check=True
        )
        inked, blacks = 0, 0
        for plate in Path(folder).glob("*(*).tif"):
            with Image.open(plate) as opened:
                has_ink = opened.getextrema() != (255, 255)
            blacks += has_ink and "(Black)" in plate.name
            inked += has_ink and "(Black)" not in plate.name
    assert blacks == 100, blacks
    return inked


def letters(count: int) -> bytes:
    """Return letters of one to four pages, of postcodes in no order."""
    return b"".join(
        json.dumps(
            {
                "n": number,
                "zip": f"{number * 7919 % 100_000:05}",
                "lines": number % 4 * LINES_OF_PAGE + 1,
            }
        ).encode()
        + b"\n"
        for number in range(count)
    )


if __name__ == "__main__":
    main()
