"""An attribute that parses but does nothing is a defect: each one changes what a document becomes."""

from __future__ import annotations

import io
import re
import warnings
from functools import cache
from itertools import cycle
from typing import Any

import pikepdf
import pytest

from tests.engine.language.probes import (
    BASES,
    BLOCKS,
    HEAD,
    HOSTS,
    OWN,
    PROBES,
    SPACERS,
    STYLE,
    WIDTHS,
    Probe,
)
from tests.golden.case import LINKED, OPTIONS, FolderImages
from tests.golden.dump import dump_pages
from workers.engine.diagnostics import AuthoringError, Diagnostic, Findings, Severity
from workers.engine.pipeline import (
    PreparedTemplate,
    build_document,
    lay_out_document,
    prepare_template,
    render,
    validate,
)
from workers.engine.ports import Payload
from workers.engine.syntax.vocabulary import ELEMENTS

FLOWS = f'<flow name="notes">{BLOCKS}</flow><flow name="other"><p>x</p></flow>'
IN_THE_FILE = frozenset(
    {"document", "security", "attachment", "einvoice"}
)  # what they say is seen in the finished file
GIVEN = re.compile(r'([a-z][a-z-]*)="([^"]*)"')


@pytest.mark.long
@pytest.mark.parametrize("tag", [tag for tag, spec in ELEMENTS.items() if spec.attributes])
def test_every_attribute_works(tag: str):
    verdicts = {name: judge(tag, name) for name in ELEMENTS[tag].attributes}
    assert {name: verdict for name, verdict in verdicts.items() if verdict} == {}


def test_every_probe_is_of_a_declared_attribute():
    declared = {name for spec in ELEMENTS.values() for name in spec.attributes}
    assert PROBES.keys() <= declared
    for tag, probes in OWN.items():
        assert probes.keys() <= ELEMENTS[tag].attributes.keys(), tag


@pytest.mark.parametrize("tag", HOSTS)
def test_attributes_of_other_elements_are_findings_not_crashes(tag: str):
    declared = {name for spec in ELEMENTS.values() for name in spec.attributes}
    given = {name for name, _ in GIVEN.findall(HOSTS[tag])}
    foreign = sorted(declared - given - ELEMENTS[tag].attributes.keys())
    written = "".join(f' {name}="{value}"' for name, value in zip(foreign, cycle(("a", "{{ 1 }}"))))
    source = _write(HOSTS[tag].replace(" @", written, 1), "", "")
    assert validate(prepare_template(source.encode(), LINKED), None, options=OPTIONS).errors


@pytest.mark.parametrize(
    "tag", [tag for tag in HOSTS if "background-image" in ELEMENTS[tag].attributes]
)
def test_a_missing_background_is_found_by_validation_as_by_rendering(tag: str):
    given = "".join(f' {name}="{value}"' for name, value in BASES.get(tag, {}).items())
    host = HOSTS[tag].replace(" @", f'{given} background-image="nowhere"', 1)
    template = prepare_template(_write(host, "", "").encode(), LINKED)
    found = validate(template, None, options=OPTIONS, resources=FolderImages())
    missing = [each.location for each in found.errors if each.code == "image-missing"]
    with pytest.raises(AuthoringError) as caught:
        render(template, None, options=OPTIONS, resources=FolderImages())
    assert missing == [each.location for each in caught.value.diagnostics]


def test_a_missing_image_of_a_footnote_is_found_by_validation_as_by_rendering():
    note = '<p>text<footnote>note <img src="nowhere" alt=""/></footnote></p>'
    template = prepare_template(_write(note, "", "").encode(), LINKED)
    found = validate(template, None, options=OPTIONS, resources=FolderImages())
    with pytest.raises(AuthoringError) as caught:
        render(template, None, options=OPTIONS, resources=FolderImages())
    assert "image-missing" in {each.code for each in (*found.errors, *found.warnings)}
    assert "image-missing" in {each.code for each in caught.value.diagnostics}


def judge(tag: str, name: str) -> str:
    """Return why an attribute does not count as working, empty if its two documents differ.

    What they tell must be the effect that the probe names, so that no misspelt probe passes.
    """
    probe = OWN.get(tag, {}).get(name) or PROBES.get(name)
    if probe is None:
        return "has no probe"
    befores = SPACERS if probe.is_near_foot else ("<p>before</p>",)
    verdicts = [compare(tag, name, probe, before) for before in befores]
    return "" if "" in verdicts else verdicts[0]


def compare(tag: str, name: str, probe: Probe, before: str) -> str:
    plain, changed = (
        outcome(document(tag, name, probe, value, before), probe.payload, tag in IN_THE_FILE)
        for value in (probe.other, probe.value)
    )
    reported = [*errors(plain), *errors(changed)]
    if {one.code for one in reported} != ({probe.reported} if probe.reported else set()):
        return f"tells {[one.text for one in reported]}"
    return "has no effect" if plain == changed else ""


def document(tag: str, name: str, probe: Probe, value: str | None, before: str) -> str:
    """Write a probe's document with a value of the attribute, or with none."""
    given = {} if probe.is_bare else dict(BASES.get(tag, {}))
    given |= dict(GIVEN.findall(probe.base))
    given.pop(name, None)
    if value is not None:
        given[name] = value
    written = " ".join(f'{key}="{text}"' for key, text in given.items())
    host = (probe.host or HOSTS[tag]).replace("@", written, 1)
    after = f"<p>after</p>{probe.after}"
    if name == "font-stretch" and tag != "font":
        return _write(host, before, after).replace("<flow", f"{WIDTHS}<flow", 1)
    return _write(host, before, after)


def _write(host: str, before: str, after: str) -> str:
    if host.startswith("<document"):
        return host.replace("{before}", before).replace("{after}", after)
    return f"<document>{STYLE}{HEAD}<flow>{before}{host}{after}</flow>{FLOWS}</document>"


@cache
def outcome(source: str, payload: Payload | None, is_finished: bool) -> tuple[Any, ...]:
    """Return the results of a document: its pages, its metadata and its findings."""
    template = prepare_template(source.encode(), LINKED)
    findings = Findings()
    try:
        built, _ = build_document(template, payload, options=OPTIONS, findings=findings)
        laid_out = lay_out_document(built, resources=FolderImages(), findings=findings)
    except AuthoringError as error:
        return (*error.diagnostics, *findings.warnings)
    file = describe_file(template, payload) if is_finished else []
    return dump_pages(laid_out), built.info, file, *findings.warnings


def describe_file(template: PreparedTemplate, payload: Payload | None) -> list[Any]:
    """Return the metadata of the finished file, and the access that each password opens."""
    pdf = render(template, payload, options=OPTIONS, resources=FolderImages()).pdf
    return [describe_opened(pdf, password) for password in ("", "secret")]


def describe_opened(pdf: bytes, password: str) -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a password that is not needed
            file = pikepdf.open(io.BytesIO(pdf), password=password)
    except pikepdf.PasswordError:
        return "closed"
    with file:
        info = {key: str(value) for key, value in file.docinfo.items()}
        method = str(file.encryption.stream_method) if file.is_encrypted else ""
        entries = [key in file.Root for key in ("/OutputIntents", "/StructTreeRoot")]
        root = str(file.Root.get("/AF")), entries
        files = [(name, one.get_file().read_bytes()) for name, one in file.attachments.items()]
        return info, file.allow, method, file.owner_password_matched, root, files


def errors(reported: tuple[Any, ...]) -> list[Diagnostic]:
    found = [one for one in reported if isinstance(one, Diagnostic)]
    return [one for one in found if one.severity is Severity.ERROR]
