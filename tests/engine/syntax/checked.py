"""All findings of one text: of the parser, of the expansion of its parts, and of the checks."""

from workers.engine.diagnostics import Findings
from workers.engine.syntax.checks import check_document
from workers.engine.syntax.nodes import SyntaxTree
from workers.engine.syntax.part_expansion import expand_parts


def check_tree(tree: SyntaxTree) -> Findings:
    """Return the findings of the parser and of `check_document` for one parsed text."""
    findings = Findings()
    findings.extend(tree.findings)
    if tree.root is not None:
        expanded = Findings()
        root = expand_parts(tree.root, expanded)
        findings.extend(check_document(root))
        findings.extend(expanded)
    return findings
