"""Builders of templates and payloads for the tests of merging."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from workers.engine.diagnostics import Diagnostic, Findings, Origin
from workers.engine.merge.payload import MergeResult, PreparedSource, merge_payload, prepare_source
from workers.engine.ports import Payload, PayloadKind
from workers.engine.syntax.parser import parse_document


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a merge, and all its findings."""

    merged: MergeResult | None
    findings: tuple[Diagnostic, ...]

    @property
    def data(self) -> dict[str, Any]:
        assert self.merged is not None
        return self.merged.data

    @property
    def codes(self) -> list[str]:
        return [finding.code for finding in self.findings]

    @property
    def only(self) -> Diagnostic:
        (finding,) = self.findings
        return finding


def template(source: str) -> PreparedSource:
    return prepare_source(parse_document(source.encode(), origin=Origin.TEMPLATE))


def with_data(section: str) -> PreparedSource:
    return template(f"<document><data>{section}</data><flow/></document>")


def merge(
    source: PreparedSource | None,
    body: str | bytes | None = None,
    kind: PayloadKind = PayloadKind.JSON,
    *,
    charset: str | None = None,
    flow: str | None = None,
    with_sample: bool = False,
) -> Outcome:
    payload = None
    if body is not None:
        content = body.encode() if isinstance(body, str) else body
        payload = Payload(kind, content, charset=charset, flow=flow)
    findings = Findings()
    merged = merge_payload(source, payload, findings, with_sample=with_sample)
    return Outcome(merged, tuple(findings))
