"""The XPath of the element that states a member of the record."""

from __future__ import annotations

from functools import cache
from itertools import zip_longest

from workers.engine.einvoices.mapping import MappingNode

_PathParts = tuple[str, ...]  # the texts between the positions of lists


def find_element_path(mapping: MappingNode, path: str) -> str:
    """Return the XPath of a path such as `/lines/2/quantity`; of its group if no element states it."""
    names: list[str] = []
    positions: list[int] = []
    for step in path.split("/"):
        if step.isdigit():
            positions.append(int(step) + 1)
        elif step:
            names.append(step)
    known = _element_paths(mapping)
    while names and ".".join(names) not in known:
        names.pop()
    parts = known.get(".".join(names), (f"/{mapping.tag}",))
    written = parts[0]
    for position, part in zip_longest(positions[: len(parts)], parts[1:], fillvalue=""):
        written += (f"[{position}]" if position else "") + str(part)
    return written


@cache
def _element_paths(mapping: MappingNode) -> dict[str, _PathParts]:
    """Return the XPath of each member and group by its dotted path, cut where lists have positions."""
    found: dict[str, _PathParts] = {}
    _walk(mapping, ("",), (), found)
    return found


def _walk(
    node: MappingNode, above: _PathParts, names: tuple[str, ...], found: dict[str, _PathParts]
) -> None:
    here = (*above[:-1], f"{above[-1]}/{node.tag}{_predicates(node)}")
    if node.inside:
        names = (*names, *node.inside.split("."))
        found.setdefault(".".join(names), here)
    if node.each:
        names = (*names, *node.each.split("."))
        found.setdefault(".".join(names), here)
        here = (*here, "")
    if node.value:
        found.setdefault(_resolve(node.value, names), here)
    for attribute, source in node.attributes:
        if not source.startswith(("=", "/", "~")):
            end = (*here[:-1], f"{here[-1]}/@{attribute}")
            found.setdefault(_resolve(source, names), end)
    for child in node.children:
        _walk(child, here, names, found)


def _resolve(path: str, names: tuple[str, ...]) -> str:
    if path.startswith("/"):
        return path[1:]
    if path.startswith("../"):
        return ".".join((*names[:-1], path[3:]))
    return ".".join((*names, path))


def _predicates(node: MappingNode) -> str:
    """Return what distinguishes an element from others of its tag."""
    own = "".join(
        f"[@{name}='{source[1:]}']" for name, source in node.attributes if source.startswith("=")
    )
    inner = "".join(
        f"[{path}]"
        for child in node.children
        if child.is_discriminator and child.is_constant
        for path in _constants(child)
    )
    return own + inner


def _constants(node: MappingNode, above: str = "") -> list[str]:
    path = f"{above}{node.tag}"
    if node.constant:
        return [f"{path}='{node.constant}'"]
    return [one for child in node.children for one in _constants(child, f"{path}/")]
