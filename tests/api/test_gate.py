"""Only `api.admission.gate` creates tickets."""

from __future__ import annotations

import ast
from pathlib import Path

import api


def test_only_the_gate_makes_a_ticket():
    makers = [
        path.name
        for path in Path(api.__file__).parent.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call)
        and (
            ast.unparse(node.func).endswith("Ticket")
            or (
                ast.unparse(node.func) == "replace" and ast.unparse(node.args[0]).endswith("ticket")
            )
        )
    ]
    assert makers == ["gate.py"]
