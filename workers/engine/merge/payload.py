"""The merge stage: combines a prepared template and a payload into a tree and its data.

The settings of a template are values that belong to a version of it, and that no payload changes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any, Final

from workers.engine.diagnostics import Findings, Origin
from workers.engine.merge.composition import check_links, overlay_document
from workers.engine.merge.conversion import DataConverter, DataReport
from workers.engine.merge.csv_data import read_csv
from workers.engine.merge.declarations import DataPath, Dataset, Declarations, read_declarations
from workers.engine.merge.json_data import merge_patch, read_object
from workers.engine.merge.markdown_reader import MarkdownError, locate_lines, read_markdown
from workers.engine.ports import Payload, PayloadKind
from workers.engine.syntax import values as v
from workers.engine.syntax.checks import check_document, check_effects, shorten_text
from workers.engine.syntax.encodings import (
    FORBIDDEN_CODE,
    EncodingError,
    decode_text,
    position_after,
)
from workers.engine.syntax.nodes import Element, SyntaxTree
from workers.engine.syntax.parser import parse_document
from workers.engine.syntax.part_expansion import expand_parts
from workers.engine.syntax.suggestions import join_words, suggest_name
from workers.engine.syntax.values import ValueType

SETTINGS: Final = "settings"  # by which expressions read them
_TYPES: Final[Mapping[str, ValueType[Any]]] = {
    "string": v.TEXT,
    "text": v.TEXT,
    "color": v.PLAIN_COLOR,
    "image": v.STORED_IMAGE,
    "boolean": v.BOOLEAN,
    "language": v.LANG,
    "paper": v.PAPER,
}
# Stand for values that are not accepted, which would be reported again where they are used.
_FALLBACKS: Final = {"color": "black", "boolean": "false", "language": "en", "paper": "A4"}
_MAY_BE_EMPTY: Final = frozenset({"string", "text", "image"})
_MAX_LENGTH: Final = 4_000
_USE: Final = re.compile(r"\{\{\s*settings\.(\w+)\s*\}\}", re.ASCII)


def apply_settings(root: Element, findings: Findings) -> tuple[Element, dict[str, Any]]:
    """Return a document with its settings in the attributes that name them, and their values.

    An attribute that is read before any data are known can thus depend on a setting. Reports values
    that do not fit their type, and settings of a payload.
    """
    settings = {
        each.attributes["name"]: each
        for each in root.elements("setting")
        if "name" in each.attributes
    }
    if not settings:
        return root, {}
    texts = {name: _read_text(each, findings) for name, each in settings.items()}
    flags = {name for name, each in settings.items() if each.attributes.get("type") == "boolean"}
    values = {name: text == "true" if name in flags else text for name, text in texts.items()}
    for let in (let for data in root.elements("data") for let in data.elements("let")):
        if let.attributes.get("name") == SETTINGS:
            findings.error(
                "duplicate-key", "`let` hides the settings of the template", let.location
            )
    return _substitute(root, texts, findings), values


def _read_text(element: Element, findings: Findings) -> str:
    """Return the text of a setting; of one that is not accepted, which is reported, that of its type."""
    name = shorten_text(element.attributes.get("label") or element.attributes["name"])
    text = element.attributes.get("value", "").strip()
    if element.location.origin is Origin.PAYLOAD:
        message = f'The setting "{name}" belongs to the template; a payload may not set it'
        findings.error("final", message, element.location)
        return ""
    kind = element.attributes.get("type", "string")
    choices: tuple[str, ...] = ()
    try:
        if "values" in element.attributes:
            choices = v.WORD_LIST.parse(element.attributes["values"])
        if not text and kind in _MAY_BE_EMPTY:
            return ""
        if len(text) > _MAX_LENGTH:
            raise ValueError(f"at most {_MAX_LENGTH:,} characters")
        if choices and text not in choices:
            raise ValueError(f"{join_words(choices, 'or')}{suggest_name(text, choices)}")
        if kind in _TYPES:
            _TYPES[kind].parse(text)
    except ValueError as error:
        message = f'The setting "{name}" is "{shorten_text(text)}", accepted is {error}'
        findings.error("wrong-value", message, element.location)
        return next(iter(choices), _FALLBACKS.get(kind, ""))
    return text


def _substitute(element: Element, texts: Mapping[str, str], findings: Findings) -> Element:
    """Return an element with the settings in its attributes and those of its descendants.

    An empty setting stays an expression, for an `if` to leave the element out.
    """
    if element.is_literal:
        return element
    attributes = dict(element.attributes)
    for name, text in element.attributes.items():
        for used in _USE.findall(text):
            if used not in texts:
                message = f'There is no setting "{shorten_text(used)}"{suggest_name(used, texts)}'
                findings.error("unknown-setting", message, element.location)
        attributes[name] = _USE.sub(lambda use: texts.get(use[1]) or use[0], text)
    children = [
        _substitute(child, texts, findings) if isinstance(child, Element) else child
        for child in element.children
    ]
    return replace(element, attributes=attributes, children=children)


@dataclass(frozen=True, slots=True)
class PreparedSource:
    """A checked tree and its declarations, independent of any payload.

    `findings` are those of parser, checks and declarations; `root` is None if the text is not a
    well-formed `document`. `expanded` is the tree with its parts expanded.
    """

    root: Element | None
    expanded: Element | None
    declarations: Declarations
    converter: DataConverter
    findings: Findings


@dataclass(frozen=True, slots=True)
class MergeResult:
    """The input of the tree stage: the tree, and the data merged, converted and validated.

    `source` is the template itself for a JSON, CSV or absent payload, so that its compiled form can
    be reused; an XML or Markdown payload makes a new one. If `is_data_valid` is false, the errors of
    the data are reported already, and evaluation would repeat them.
    """

    source: PreparedSource
    root: Element
    data: dict[str, object]
    is_data_valid: bool
    payload_sha256: str | None


def prepare_source(tree: SyntaxTree) -> PreparedSource:
    """Check a tree and read its data section; the result can be reused for any number of renders."""
    if tree.root is None:
        return _without_tree(tree.findings)
    return _prepare_root(tree.root, tree.findings)


def merge_payload(
    template: PreparedSource | None,
    payload: Payload | None,
    findings: Findings,
    *,
    with_sample: bool = False,
) -> MergeResult | None:
    """Merge a payload into a template; without a template the payload is a complete XML document.

    `with_sample` puts the template's sample values between its defaults and the payload. Adds the findings of the source, the payload and the data to `findings`. Returns None if there
    is None; `findings` then has the error.
    """
    source = _merge_source(template, payload, findings)
    findings.extend(source.findings)
    if source.root is None:
        return None
    declarations = source.declarations
    report = DataReport(
        findings, refuses_misspelled=declarations.refuses_misspelled, location=declarations.location
    )
    data = source.converter.get_values(with_sample=with_sample)
    data = _merge_data(source, data, payload, report, findings)
    report.report_remaining()
    return MergeResult(
        source=source,
        root=source.root,
        data=data,
        is_data_valid=not report.count,
        payload_sha256=None if payload is None else sha256(payload.body).hexdigest(),
    )


# --- the tree -------------------------------------------------------------------------------------------


def _prepare_root(root: Element, found: Findings) -> PreparedSource:
    findings = Findings()
    findings.extend(found)
    check_links(root, findings)
    root, settings = apply_settings(root, findings)
    part_findings = Findings()
    expanded = expand_parts(root, part_findings)
    findings.extend(check_document(expanded))
    findings.extend(part_findings)
    if root.tag != "document":
        return _without_tree(findings)
    check_effects(expanded, findings)
    declarations = replace(read_declarations(root.find("data"), findings), settings=settings)
    return PreparedSource(root, expanded, declarations, DataConverter(declarations, root), findings)


def _without_tree(findings: Findings) -> PreparedSource:
    return PreparedSource(None, None, Declarations(), DataConverter(Declarations()), findings)


def _merge_source(
    template: PreparedSource | None, payload: Payload | None, findings: Findings
) -> PreparedSource:
    """Return the source to render: the template, the template changed by a payload, or the payload."""
    if payload is not None and payload.kind is PayloadKind.XML:
        return _overlay(template, payload, findings)
    if template is None:
        kind = "no payload" if payload is None else payload.kind.value
        findings.error(
            "no-template", f"There is no template, and {kind} is not a complete document"
        )
        return prepare_source(SyntaxTree(None, Findings()))
    if payload is not None and payload.kind is PayloadKind.MARKDOWN and template.root is not None:
        return _replace_flow(template, template.root, payload, findings)
    return template


def _overlay(
    template: PreparedSource | None, payload: Payload, findings: Findings
) -> PreparedSource:
    if template is None:
        return prepare_source(parse_document(payload.body, origin=None, charset=payload.charset))
    tree = parse_document(payload.body, origin=Origin.PAYLOAD, charset=payload.charset)
    if template.root is None or tree.root is None or tree.root.tag != "document":
        findings.extend(template.findings)
        return replace(prepare_source(tree), root=None, expanded=None)
    return _prepare_root(overlay_document(template.root, tree.root, findings), tree.findings)


def _replace_flow(
    template: PreparedSource, root: Element, payload: Payload, findings: Findings
) -> PreparedSource:
    """Return the template with the content of one flow replaced by that of a Markdown payload."""
    name = payload.flow or "body"
    flows = {flow.attributes.get("name", "body"): flow for flow in root.elements("flow")}
    flow = flows.get(name)
    if flow is None:
        message = f'The template has no flow "{name}"; its flows are {", ".join(flows) or "none"}{suggest_name(name, flows)}'
        findings.error("unknown-flow", message)
        return template
    if flow.attributes.get("replace") == "deny" or flow.attributes.get("final") == "true":
        findings.error(
            "final", f'The template does not allow replacing the flow "{name}"', flow.location
        )
        return template
    try:
        text = decode_text(payload.body, payload.charset)
        children = read_markdown(
            text, flow.location, findings, lambda: locate_lines(text, Origin.PAYLOAD)
        )
    except (EncodingError, MarkdownError) as error:
        findings.error("markdown", f"Markdown: {error}", flow.location)
        return template
    changed = replace(flow, children=list(children))
    document = replace(
        root, children=[changed if child is flow else child for child in root.children]
    )
    return replace(template, root=document, expanded=expand_parts(document, Findings()))


# --- the data -------------------------------------------------------------------------------------------


def _merge_data(
    source: PreparedSource,
    data: dict[str, object],
    payload: Payload | None,
    report: DataReport,
    findings: Findings,
) -> dict[str, object]:
    done = None
    for own in source.declarations.patches:
        if source.declarations.refuses_misspelled:
            source.converter.check_unknown(own, report, findings)
        data = merge_patch(data, own)
    if payload is not None and payload.kind is PayloadKind.JSON:
        patch = _read_json_payload(payload, report)
        if patch is None:
            return data  # reported; constraints such as `required` would only repeat it
        source.converter.check_unknown(patch, report, findings)
        data = merge_patch(data, patch)
    elif payload is not None and payload.kind is PayloadKind.CSV:
        dataset = _find_csv_dataset(source.declarations, report)
        if dataset is None:
            return data
        data, done = _merge_rows(data, dataset, payload, report)
    return source.converter.apply(data, report, done=done)


def _read_json_payload(payload: Payload, report: DataReport) -> dict[str, object] | None:
    try:
        text = decode_text(payload.body, payload.charset)
    except EncodingError as error:
        report.error("encoding", f"JSON: {error}", None)
        return None
    patch, wrong, dropped = read_object(text, lambda offset: position_after(text[:offset]))
    for message in dropped:
        report.warn(FORBIDDEN_CODE, message, None)
    if wrong:
        report.error("json", f"The payload is {wrong}", None)
    return patch


def _find_csv_dataset(declarations: Declarations, report: DataReport) -> Dataset | None:
    """Return the dataset of a CSV body: the one with csv="true", or the only one."""
    csv_datasets = [dataset for dataset in declarations.datasets if dataset.accepts_csv]
    datasets = csv_datasets or list(declarations.datasets)
    if len(datasets) == 1 or csv_datasets:
        return datasets[0]
    names = ", ".join(".".join(dataset.path) for dataset in datasets)
    report.error(
        "csv-dataset",
        "The template does not accept CSV: it declares no dataset"
        if not datasets
        else f'The template does not accept CSV: none of its datasets {names} has csv="true"',
        declarations.location,
    )
    return None


def _merge_rows(
    defaults: dict[str, object], dataset: Dataset, payload: Payload, report: DataReport
) -> tuple[dict[str, object], DataPath]:
    rows = read_csv(payload.body, dataset, report, charset=payload.charset)
    patch: object = rows
    for step in reversed(dataset.path):
        patch = {step: patch}
    return merge_patch(defaults, patch), dataset.path
