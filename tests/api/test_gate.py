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
        and isinstance(node.func, ast.Name | ast.Attribute)
        and getattr(node.func, "id", getattr(node.func, "attr", "")) in {"Ticket", "replace"}
        and "Ticket" in path.read_text()
    ]
    assert makers == ["gate.py"]
