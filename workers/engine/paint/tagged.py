"""Content streams of tagged pages: marked-content sequences, each of one structure element.

ISO 32000-1, 14.6 and 14.7.4. Items without an owner are artifacts, and so are all lines and fills
outside of figures: borders, backgrounds, rules, underlines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any, Final

from workers.engine.caches import BoundedCache
from workers.engine.layout.display import GlyphRun, Item, Restore, Save, ShapedRun, TextRows, Widget
from workers.engine.layout.structure import LogicalStructure
from workers.engine.paint.content_stream import WRITERS, ContentStreamWriter, FormCall, PdfResources
from workers.engine.paint.structure_tree import MCID_STEP, NOBODY, MarkedContent, StructureTree

# Items without an owner, or with several.
_COMPLETE: Final = frozenset({Save, Restore, FormCall, Widget, TextRows})
_TEXTS: Final = frozenset({GlyphRun, ShapedRun})
_NOTHING: Final = -1  # no sequence is open


class TaggedStreamWriter(ContentStreamWriter):
    """Writes the items of one page of a tagged document.

    A text sequence starts inside its text object, so that the texts of many elements share one;
    that of a figure encloses all of its items. Sequences in a transparency group have MCIDs of
    their own, since a group is a separate stream (14.7.4.2).
    """

    def __init__(
        self,
        resources: PdfResources,
        tree: StructureTree,
        *,
        width: float,
        height: float,
        page: int,
    ) -> None:
        super().__init__(resources, width=width, height=height)
        self._tree = tree
        self._structure: LogicalStructure = tree.structure
        self._page = page
        self._content = tree.begin_content(page)
        self._around: list[MarkedContent] = []
        self._current: int | None = _NOTHING
        self._is_inside = False  # of a text object

    def _write_items(self, items: Iterable[Item | FormCall]) -> None:
        figures, roles, writers = self._structure.boxes, self._structure.roles, _TAGGED_WRITERS
        for item in items:
            kind = type(item)
            if kind in _COMPLETE:
                writers[kind](self, item)
                continue
            owner: Any = item.owner  # type: ignore[union-attr]  # all others have one
            is_text = kind in _TEXTS and owner not in figures
            if not is_text and owner not in figures:
                owner = None
            if owner != self._current:
                if is_text and owner is not None and self._is_inside:
                    # The cells of a table, one after the other: no object is ended.
                    owners = self._content.owners
                    self._out.append(_NEXT_SEQUENCES[roles[owner]] % len(owners))
                    owners.append(owner)
                    self._current = owner
                else:
                    self._switch(owner, is_text=is_text)
            writers[kind](self, item)

    def write_rows(self, item: TextRows) -> None:
        """Write the texts of rows, each a sequence of its own: no text object is ended."""
        if item.owners is None:
            if self._current is not None:
                self._switch(None, is_text=True)
            super().write_rows(item)
            return
        rows: Sequence[Sequence[Any]] = item.owners  # numbers of structure elements
        before = self._begin_cells(rows)
        self._prepare_text(item.face, item.size, item.color, item.letter_spacing)
        self._write_texts(item, before)

    def _begin_cells(self, rows: Sequence[Sequence[int]]) -> Sequence[bytes]:
        """Number the cells of rows of one template, and return the operators in front of each.

        Those of the first are written: it may need another object.
        """
        owners, roles = self._content.owners, self._structure.roles
        columns = stride = len(rows[0])
        if 2 * columns >= MCID_STEP and self._structure.cells.get(rows[0][0] - 1) is rows[0]:
            stride += -columns % MCID_STEP
            owners += [NOBODY] * (-len(owners) % MCID_STEP)
        mcids = range(len(owners), len(owners) + len(rows) * stride, stride)
        kinds = tuple([roles[cell] for cell in rows[0]])
        if self._is_inside:
            self._out.append(_NEXT_SEQUENCES[kinds[0]] % mcids.start)
        else:
            self._switch(rows[0][0], is_text=True)
            del owners[mcids.start :]
        nothing = (NOBODY,) * (stride - columns)
        owners += chain.from_iterable(chain.from_iterable((row, nothing) for row in rows))
        self._current = rows[-1][-1]
        return _write_nexts(kinds, mcids)

    def _switch(self, owner: int | None, *, is_text: bool) -> None:
        """End the open sequence and start that of an owner, None for an artifact."""
        self._end_open()
        if owner is not None and is_text:
            self._begin_text()
            self._is_inside = True
        self._current = owner
        if owner is None:
            self._out.append(b"/Artifact BMC\n")
            return
        owners = self._content.owners
        self._out.append(_begin_sequence(self._structure.roles[owner]) % len(owners))
        owners.append(owner)

    def _end_open(self) -> None:
        if self._is_inside:
            self._out.append(b"EMC\n")
            self._end_object()
        else:
            self._end_object()
            if self._current != _NOTHING:
                self._out.append(b"EMC\n")
        self._current, self._is_inside = _NOTHING, False

    def begin_group(self, item: Save) -> None:
        """Start a group; a transparent one is a stream of its own."""
        super().begin_group(item)
        if item.opacity < 1:
            self._around.append(self._content)
            self._content = self._tree.begin_content(self._page)

    def add_widget(self, item: Widget) -> None:
        """Record the area of a form field, and its place among the marked content."""
        super().add_widget(item)
        if isinstance(item.owner, int):
            self._end_open()  # text after it is another sequence
            content = self._content
            content.fields.setdefault(len(content.owners), []).append(item.owner)

    def _add_group(self, called: Iterable[str], opacity: float) -> str:
        content = self._content
        name, content.stream = self._resources.add_group(
            self._width,
            self._height,
            b"".join(self._out),
            called,
            opacity=opacity,
            structure_key=content.key,
        )
        self._content = self._around.pop()
        return name


_TAGGED_WRITERS: Final[dict[type, Callable[[Any, Any], None]]] = {
    **WRITERS,
    TextRows: TaggedStreamWriter.write_rows,
    Save: TaggedStreamWriter.begin_group,
    Widget: TaggedStreamWriter.add_widget,
}


def _begin_sequence(role: str) -> bytes:
    return b"/%b<</MCID %%d>>BDC\n" % role.encode("ascii")


# Operators that end a sequence and begin one of a role.
_NEXT_SEQUENCES: Final = BoundedCache[str, bytes](lambda role: b"EMC\n" + _begin_sequence(role))


@lru_cache(maxsize=16)
def _write_nexts(roles: Sequence[str], mcids: range) -> Sequence[bytes]:
    """Return the operators that end a sequence and begin one, for the cells of rows of these roles.

    `mcids` are those of the first cells. The operators of the first one are written by themselves.
    """
    written = [b""] * (len(mcids) * len(roles))
    for at, role in enumerate(roles):
        form = _NEXT_SEQUENCES[role]
        written[at :: len(roles)] = [form % (mcid + at) for mcid in mcids]
    written[0] = b""
    return tuple(written)
