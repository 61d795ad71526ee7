"""One entry to merging: a prepared template and a payload give a merged tree and its data."""

from __future__ import annotations

from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

from workers.engine.diagnostics import Findings, Origin
from workers.engine.merge.conversion import Converter, DataReport
from workers.engine.merge.csv_data import read_csv
from workers.engine.merge.declarations import DataPath, Dataset, Declarations, read_declarations
from workers.engine.merge.json_data import JsonError, merge_patch, read_json
from workers.engine.merge.markdown_flow import MarkdownError, lines_of, read_markdown
from workers.engine.merge.overlay import overlay_document
from workers.engine.ports import Payload, PayloadKind
from workers.engine.syntax.checks import check_document
from workers.engine.syntax.encodings import EncodingError, decode_text, position_after
from workers.engine.syntax.nodes import Element, SyntaxTree
from workers.engine.syntax.parser import parse_document
from workers.engine.syntax.suggestions import nearest
from workers.engine.syntax.usage import check_effects


@dataclass(frozen=True, slots=True)
class PreparedSource:
    """A checked tree and what its data section declares: all that does not depend on a payload.

    `findings` are the parser's, the checks' and the declarations'; `root` is None when the text
    is not a well-formed `document`.
    """

    root: Element | None
    declarations: Declarations
    converter: Converter
    findings: Findings


@dataclass(frozen=True, slots=True)
class Merged:
    """What build takes: the tree, and the data merged, converted and checked.

    `source` is the template itself for a JSON, CSV or absent payload, so what was compiled from
    it may be reused; an XML or Markdown payload makes a new one. With `is_data_sound` False the
    data have errors already told: evaluating over them would only tell them again.
    """

    source: PreparedSource
    root: Element
    data: dict[str, Any]
    is_data_sound: bool
    payload_sha256: str | None


def prepare(tree: SyntaxTree) -> PreparedSource:
    """Check a tree and read its data section, once for all renders of it."""
    if tree.root is None:
        return PreparedSource(None, Declarations(), Converter(Declarations()), tree.findings)
    return _prepare_root(tree.root, tree.findings)


def merge_payload(
    template: PreparedSource | None, payload: Payload | None, findings: Findings
) -> Merged | None:
    """Merge a payload into a template, or take a complete XML payload on its own.

    Adds every finding of the source, the payload and the data to `findings`. Gives None when
    there is no tree to go on with; the findings then have an error that says why.
    """
    source = _merge_source(template, payload, findings)
    findings.extend(source.findings)
    if source.root is None:
        return None
    report = DataReport(findings)
    data = _merge_data(source, payload, report, findings)
    report.close()
    return Merged(
        source=source,
        root=source.root,
        data=data,
        is_data_sound=not report.count,
        payload_sha256=None if payload is None else sha256(payload.body).hexdigest(),
    )


# --- the tree -------------------------------------------------------------------------------------------


def _prepare_root(root: Element, found: Findings) -> PreparedSource:
    findings = Findings()
    findings.extend(found)
    findings.extend(check_document(root))
    if root.tag != "document":
        return PreparedSource(None, Declarations(), Converter(Declarations()), findings)
    check_effects(root, findings)
    declarations = read_declarations(root.find("data"), findings)
    return PreparedSource(root, declarations, Converter(declarations, root), findings)


def _merge_source(
    template: PreparedSource | None, payload: Payload | None, findings: Findings
) -> PreparedSource:
    """Give the source to render: the template, what a payload makes of it, or the payload alone."""
    if payload is not None and payload.kind is PayloadKind.XML:
        return _overlay(template, payload, findings)
    if template is None:
        kind = "no payload" if payload is None else payload.kind.value
        findings.error("no-template", f"There is no template, and {kind} is no document of its own")
        return prepare(SyntaxTree(None, Findings()))
    if payload is not None and payload.kind is PayloadKind.MARKDOWN and template.root is not None:
        return _replace_flow(template, template.root, payload, findings)
    return template


def _overlay(
    template: PreparedSource | None, payload: Payload, findings: Findings
) -> PreparedSource:
    if template is None:
        return prepare(parse_document(payload.body, origin=None))
    tree = parse_document(payload.body, origin=Origin.PAYLOAD)
    if template.root is None or tree.root is None or tree.root.tag != "document":
        findings.extend(template.findings)
        return replace(prepare(tree), root=None)
    return _prepare_root(overlay_document(template.root, tree.root, findings), tree.findings)


def _replace_flow(
    template: PreparedSource, root: Element, payload: Payload, findings: Findings
) -> PreparedSource:
    """Give the template with the children of one flow made from Markdown."""
    name = payload.flow or "body"
    flows = {flow.attributes.get("name", "body"): flow for flow in root.elements("flow")}
    flow = flows.get(name)
    if flow is None:
        findings.error(
            "unknown-flow",
            f'The template has no flow "{name}"; its flows are {", ".join(flows) or "none"}'
            f"{nearest(name, flows)}",
        )
        return template
    if flow.attributes.get("replace") == "deny" or flow.attributes.get("final") == "true":
        findings.error("final", f'The template lets nobody replace the flow "{name}"', flow.place)
        return template
    try:
        text = decode_text(payload.body, payload.charset)
        children = read_markdown(text, flow.place, findings, lines_of(text, Origin.PAYLOAD))
    except (EncodingError, MarkdownError) as error:
        findings.error("markdown", f"Markdown: {error}", flow.place)
        return template
    changed = replace(flow, children=list(children))
    document = replace(
        root, children=[changed if child is flow else child for child in root.children]
    )
    return replace(template, root=document)


# --- the data -------------------------------------------------------------------------------------------


def _merge_data(
    source: PreparedSource, payload: Payload | None, report: DataReport, findings: Findings
) -> dict[str, Any]:
    data, done = source.converter.defaults, None
    if payload is not None and payload.kind is PayloadKind.JSON:
        patch = _read_json_payload(payload, report)
        if patch is None:
            return data  # told; rules such as `required` would only tell it again
        source.converter.warn_unknown(patch, findings)
        data = merge_patch(data, patch)
    elif payload is not None and payload.kind is PayloadKind.CSV:
        dataset = _csv_dataset(source.declarations, report)
        if dataset is None:
            return data
        data, done = _with_rows(data, dataset, payload, report)
    return source.converter.apply(data, report, done=done)


def _read_json_payload(payload: Payload, report: DataReport) -> dict[str, Any] | None:
    try:
        text = decode_text(payload.body, payload.charset)
    except EncodingError as error:
        report.error("encoding", f"JSON: {error}", None)
        return None
    try:
        patch = read_json(text)
    except JsonError as error:
        where = ""
        if error.offset is not None:
            line, column = position_after(text[: error.offset])
            where = f" at line {line}, column {column}"
        report.error("json", f"The payload is not JSON{where}: {error}", None)
        return None
    if not isinstance(patch, dict):
        report.error("json", 'The payload is no JSON object; accepted is { "name": … }', None)
        return None
    return patch


def _csv_dataset(declarations: Declarations, report: DataReport) -> Dataset | None:
    """Find the dataset a CSV body becomes: the one that says so, or the only one there is."""
    takers = [dataset for dataset in declarations.datasets if dataset.takes_csv]
    datasets = takers or list(declarations.datasets)
    if len(datasets) == 1 or takers:
        return datasets[0]
    names = ", ".join(".".join(dataset.path) for dataset in datasets)
    report.error(
        "csv-dataset",
        "The template takes no CSV: it declares no dataset"
        if not datasets
        else f'The template takes no CSV: none of its datasets {names} has csv="true"',
        declarations.place,
    )
    return None


def _with_rows(
    defaults: dict[str, Any], dataset: Dataset, payload: Payload, report: DataReport
) -> tuple[dict[str, Any], DataPath]:
    rows = read_csv(payload.body, dataset, report, charset=payload.charset)
    patch: Any = rows
    for step in reversed(dataset.path):
        patch = {step: patch}
    return merge_patch(defaults, patch), dataset.path
