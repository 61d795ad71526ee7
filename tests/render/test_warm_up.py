"""The warm-up before the fork loads what documents need, and its document is valid."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping

import pytest

from workers.engine.diagnostics import Severity
from workers.engine.pipeline import prepare_template, render, validate
from workers.render.run import Engine
from workers.render.warm_up import warm_up

# In a process of its own: here other tests have loaded everything.
_FIRST_DOCUMENT = """
import sys
from datetime import UTC, datetime
from deploy.embedded.demo.show import DOCUMENTS
from workers.engine.pipeline import prepare_template, render, validate
from workers.engine.ports import Payload, PayloadKind, RenderOptions
from workers.render.warm_up import warm_up
from workers.render.run import Engine

warm_up(Engine(prepare_template, render, validate))

class Logo:
    def find_image(self, name):
        return (DOCUMENTS / f"{name}.png").read_bytes()

payload = Payload(PayloadKind.JSON, (DOCUMENTS / "invoice.json").read_bytes())
template = prepare_template((DOCUMENTS / "invoice.xml").read_bytes())
options = RenderOptions(now=datetime(2026, 3, 2, tzinfo=UTC))
opened = []
sys.addaudithook(lambda event, told: opened.append(told[0]) if event == "open" else None)
render(template, payload, options=options, resources=Logo())
# The logo, and the locale of the document, are its own.
print([name for name in opened if not str(name).endswith(("logo.png", ".dat"))])
"""


def test_the_document_of_the_warm_up_is_valid() -> None:
    told = []

    def noting(template, payload, **options):
        rendered = render(template, payload, **options)
        told.extend(rendered.warnings)
        return rendered

    def checking(source: bytes, linked: Mapping[str, bytes]):
        template = prepare_template(source, linked)
        assert template.compiled is not None
        told.extend(f for f in template.compiled.findings if f.severity is Severity.ERROR)
        return template

    warm_up(Engine(checking, noting, validate))
    assert told == []


@pytest.mark.long
def test_after_it_a_document_opens_no_module_and_no_font() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _FIRST_DOCUMENT], check=True, capture_output=True, text=True
    )
    assert done.stdout.strip() == "[]"
