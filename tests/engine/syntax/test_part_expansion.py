"""Parts and `else` take their place in the tree, within bounds."""

from __future__ import annotations

import time

import pytest

from tests.golden.case import OPTIONS
from workers.engine.diagnostics import Findings
from workers.engine.pipeline import prepare_template, validate
from workers.engine.ports import Payload, PayloadKind
from workers.engine.syntax.names import PARAMETERS
from workers.engine.syntax.nodes import ElseExpansion, PartExpansion
from workers.engine.syntax.parser import parse_document
from workers.engine.syntax.part_expansion import MAX_USE_DEPTH, expand_parts


def expanded(inside: str) -> tuple[list[str], Findings]:
    tree = parse_document(f"<document>{inside}</document>".encode(), origin=None)
    assert tree.root is not None
    findings = Findings()
    root = expand_parts(tree.root, findings)
    return [element.tag for element in root.walk()], findings


def codes(inside: str, payload: Payload | None = None) -> list[str]:
    template = prepare_template(f"<document>{inside}</document>".encode())
    return [finding.code for finding in validate(template, payload, options=OPTIONS)]


def test_a_tree_without_parts_stays_the_same_object():
    tree = parse_document(b"<document><flow><p if='a'>x</p></flow></document>", origin=None)
    assert tree.root is not None
    assert expand_parts(tree.root, Findings()) is tree.root


def test_the_tree_as_written_is_not_changed():
    source = b"<document><part name='a'><p><slot/></p></part><flow><use part='a'>x</use></flow></document>"
    tree = parse_document(source, origin=None)
    assert tree.root is not None
    before = [(element, list(element.children)) for element in tree.root.walk()]
    expand_parts(tree.root, Findings())
    assert [(element, list(element.children)) for element in tree.root.walk()] == before


def test_the_place_of_an_else_and_of_a_part_is_theirs():
    source = "<part name='a'><p/></part><flow><p if='x'/><else/><use part='a'/></flow>"
    tree = parse_document(f"<document>{source}</document>".encode(), origin=None)
    assert tree.root is not None
    made = list(expand_parts(tree.root, Findings()).walk())
    otherwise = next(element for element in made if isinstance(element, ElseExpansion))
    used = next(element for element in made if isinstance(element, PartExpansion))
    assert otherwise.location.tag_name == "else"
    assert (used.location.tag_name, used.source_location.tag_name) == ("part", "use")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("", []),
        ("who", [("who", None)]),
        (" who , heading = 'To, or from' ", [("who", None), ("heading", "'To, or from'")]),
        ("a=[1, 2], b={'x': (3, 4)}, c", [("a", "[1, 2]"), ("b", "{'x': (3, 4)}"), ("c", None)]),
        ("a = 1 == 2", [("a", "1 == 2")]),
    ],
)
def test_parameters_of_a_part_are_read(text, names):
    assert [tuple(parameter) for parameter in PARAMETERS.parse(text)] == names


@pytest.mark.parametrize(
    "text",
    [
        *("a, a", "a b", "1", "a,", ",", "data", "page", "loop", "if", "for", "part", "a=", "a-b"),
        *("é", ", ".join(f"a{n}" for n in range(31))),
    ],
)
def test_invalid_parameters_of_a_part_are_rejected(text):
    with pytest.raises(ValueError, match="names separated by commas"):
        PARAMETERS.parse(text)


def test_parts_that_double_each_other_end_in_a_finding():
    parts = "".join(
        f"<part name='p{n}'><use part='p{n + 1}'/><use part='p{n + 1}'/></part>" for n in range(30)
    )
    started = time.process_time()
    _, findings = expanded(f"{parts}<part name='p30'><p>a</p></part><flow><use part='p0'/></flow>")
    assert time.process_time() - started < 5
    assert [finding.code for finding in findings] == ["too-many-parts"]


def test_slots_that_double_their_content_end_in_a_finding():
    inner = "<p>a</p>"
    for _ in range(60):
        inner = f"<use part='twice'>{inner}</use>"
    started = time.process_time()
    _, findings = expanded(f"<part name='twice'><slot/><slot/></part><flow>{inner}</flow>")
    assert time.process_time() - started < 5
    assert [finding.code for finding in findings] == ["too-many-parts"]


def test_parts_that_stand_too_deep_in_each_other_end_in_a_finding():
    boxes, ends = "<div>" * 60, "</div>" * 60
    parts = "".join(
        f"<part name='p{n}'>{boxes}<use part='p{n + 1}'/>{ends}</part>" for n in range(10)
    )
    reported = codes(f"{parts}<part name='p10'><p>a</p></part><flow><use part='p0'/></flow>")
    assert "too-many-parts" in reported


def test_slot_content_counts_towards_the_depth():
    boxes, ends = "<div>" * 110, "</div>" * 110
    part = f"<part name='a'>{boxes}<slot/>{ends}</part>"
    assert codes(f"{part}<flow><use part='a'>{boxes}<p>a</p>{ends}</use></flow>") == [
        "too-many-parts"
    ]


def test_a_chain_of_parts_is_as_long_as_the_bound():
    def chain(length: int) -> str:
        parts = "".join(
            f"<part name='p{n}'><use part='p{n + 1}'/></part>" for n in range(length - 1)
        )
        return f"{parts}<part name='p{length - 1}'><p>a</p></part><flow><use part='p0'/></flow>"

    assert codes(chain(MAX_USE_DEPTH)) == []
    assert codes(chain(MAX_USE_DEPTH + 1)) == ["part-cycle", "unused-part"]


def test_slot_content_may_use_the_same_part():
    part = "<part name='a'><div><slot/></div></part>"
    assert codes(f"{part}<flow><use part='a'><use part='a'><p>x</p></use></use></flow>") == []


def test_an_unused_part_is_checked_and_reported():
    assert codes("<part name='a' takes='x'><p>{{ x + }}</p></part><flow/>") == [
        "expression-syntax",
        "unused-part",
    ]
    assert codes("<part name='a'><p colour='red'/></part><flow/>") == [
        "unknown-attribute",
        "unused-part",
    ]
    assert codes("<part name='a'><tr><td>{{ x }}</td></tr></part><flow/>") == ["unused-part"]


def test_a_part_used_only_by_an_unused_part_is_reported_once():
    parts = "<part name='b'><p>a</p></part><part name='a'><use part='b'/></part>"
    assert codes(f"{parts}<flow/>") == ["unused-part"]


def test_a_mistake_in_a_part_is_reported_once_for_all_uses():
    uses = "<use part='a'/>" * 5
    assert codes(f"<part name='a'><p colour='red'/></part><flow>{uses}</flow>") == [
        "unknown-attribute"
    ]


def test_a_payload_replaces_a_part_that_is_not_final():
    payload = Payload(PayloadKind.XML, b"<document><part name='a'><h1>b</h1></part></document>")
    flow = "<flow><use part='a'/></flow>"
    assert codes(f"<part name='a'><p>a</p></part>{flow}", payload) == []
    assert codes(f"<part name='a' final='true'><p>a</p></part>{flow}", payload) == ["final"]


def test_markdown_may_replace_a_flow_beside_parts():
    payload = Payload(PayloadKind.MARKDOWN, b"# New")
    part = "<part name='a'><p>a</p></part><flow name='body'><p>old</p></flow>"
    template = f"{part}<page><footer><use part='a'/></footer></page>"
    assert codes(template, payload) == []


@pytest.mark.parametrize("where", ["data", "page", "security", "document"])
def test_a_misplaced_element_is_reported_by_its_own_name(where):
    holder = "<use part='a'/>" if where == "document" else f"<{where}><use part='a'/></{where}>"
    template = prepare_template(
        f"<document><part name='a'><p>a</p></part>{holder}<flow/></document>".encode()
    )
    found = [f for f in validate(template, None, options=OPTIONS) if f.code == "misplaced-element"]
    assert found[0].message.startswith(f"`use` is not allowed in `{where}`")
    assert found[0].location is not None
    assert found[0].location.tag_name == "use"
