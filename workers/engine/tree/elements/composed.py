"""Elements whose content is written in the language itself: documents of styles and blocks in `composed`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from functools import cache
from importlib.resources import files

from workers.engine.diagnostics import Findings
from workers.engine.syntax.nodes import Element, PartExpansion
from workers.engine.syntax.parser import parse_document
from workers.engine.syntax.part_expansion import expand_parts
from workers.engine.tree.build_state import Scope
from workers.engine.tree.compiler.builders import collect
from workers.engine.tree.compiler.context import CompileContext
from workers.engine.tree.elements.declarations import make_style_sheet
from workers.engine.tree.nodes import Block
from workers.engine.tree.styles.cascade import ComputedStyle

BuildContent = Callable[[Scope, ComputedStyle, Mapping[str, object]], tuple[Block, ...]]


def compile_content(element: Element, context: CompileContext, *names: str) -> BuildContent:
    """Compile the content of an element: the document of its tag, which knows some names alone.

    Its blocks inherit from the element. They have the styles of their own document, not those of the
    element's, and are where the element is.
    """
    root = deepcopy(_read(element.tag))
    for inner in root.walk():
        inner.location = element.location
        if isinstance(inner, PartExpansion):
            inner.use_location = element.location
    flow = root.find("flow")
    assert flow is not None
    sheet = make_style_sheet(root)
    own = CompileContext(sheet, Findings(), {}, dict.fromkeys(names), context.block_compiler)
    blocks = own.compile_blocks(flow.children, owner=element)

    def build(
        scope: Scope, parent: ComputedStyle, values: Mapping[str, object]
    ) -> tuple[Block, ...]:
        return collect(blocks, scope.enter(names=dict(values)), parent)

    return build


@cache
def _read(tag: str) -> Element:
    source = files(__package__).joinpath("composed", f"{tag}.xml").read_bytes()
    root = parse_document(source, origin=None).root
    assert root is not None
    return expand_parts(root, Findings())
