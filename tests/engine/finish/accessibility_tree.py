"""The structure tree of an accessible file: checkpoints 2, 9 and 13 to 19 of the Matterhorn Protocol."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pikepdf

from tests.engine.finish.matterhorn import name

HEADINGS = {f"H{level}": level for level in range(1, 7)}
# The standard structure types (PDF 1.7, 14.8.4).
STANDARD = {
    *("Document", "Part", "Art", "Sect", "Div", "BlockQuote", "Caption", "TOC", "TOCI", "Index"),
    *("NonStruct", "Private", "P", "H", *HEADINGS, "L", "LI", "Lbl", "LBody", "Table", "TR", "TH"),
    *(
        "TD",
        "THead",
        "TBody",
        "TFoot",
        "Span",
        "Quote",
        "Note",
        "FENote",
        "Reference",
        "BibEntry",
        "Code",
    ),
    *(
        "Link",
        "Annot",
        "Ruby",
        "RB",
        "RT",
        "RP",
        "Warichu",
        "WT",
        "WP",
        "Figure",
        "Formula",
        "Form",
    ),
}
# What an element may contain, and where it is allowed.
KIDS = {
    "Table": {"TR", "THead", "TBody", "TFoot", "Caption"},
    "THead": {"TR"},
    "TBody": {"TR"},
    "TFoot": {"TR"},
    "TR": {"TH", "TD"},
    "L": {"L", "LI", "Caption"},
    "LI": {"Lbl", "LBody"},
    "TOC": {"TOC", "TOCI", "Caption"},
    "TOCI": {"Lbl", "Reference", "P", "NonStruct", "TOC"},
    "Ruby": {"RB", "RT", "RP"},
    "Warichu": {"WT", "WP"},
}
PARENTS = {
    "THead": {"Table"},
    "TBody": {"Table"},
    "TFoot": {"Table"},
    "TR": {"Table", "THead", "TBody", "TFoot"},
    "TH": {"TR"},
    "TD": {"TR"},
    "LI": {"L"},
    "LBody": {"LI"},
    "TOCI": {"TOC"},
    "RB": {"Ruby"},
    "RT": {"Ruby"},
    "RP": {"Ruby"},
    "WT": {"Warichu"},
    "WP": {"Warichu"},
}
FAMILIES = {
    **dict.fromkeys(("Table", "THead", "TBody", "TFoot", "TR", "TH", "TD"), "09-004"),
    **dict.fromkeys(("L", "LI", "LBody"), "09-005"),
    **dict.fromkeys(("TOC", "TOCI"), "09-006"),
    **dict.fromkeys(("Ruby", "RB", "RT", "RP"), "09-007"),
    **dict.fromkeys(("Warichu", "WT", "WP"), "09-008"),
}
LANGUAGE = re.compile(r"[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*")


class Tree:
    """The elements of a structure tree, and what they hold."""

    def __init__(self, pdf: pikepdf.Pdf, *, promises: bool) -> None:
        self.pdf = pdf
        self.promises = promises
        self.parents: dict[Any, Any] = {}  # by number: the element above
        self.types: dict[Any, str] = {}
        self.elements: list[Any] = []
        self.marked: dict[tuple[Any, int], Any] = {}  # stream or page, and number: its element
        self.annotations: dict[Any, Any] = {}  # by number: the element that holds it
        self._languages: dict[Any, bool] = {}

    def check(self) -> Iterator[str]:
        """Read the tree, and yield the conditions that it fails."""
        yield from self._check_roles()
        yield from self._walk(self.pdf.Root.StructTreeRoot.get("/K", pikepdf.Array()), None)
        yield from self._check_elements()
        yield from self._check_ids()
        yield from self._check_headings()
        yield from self._check_tables()
        yield from self._check_parent_tree()

    def type_around(self, annotation: Any) -> str | None:
        """Return the type of the element that holds an annotation, None without one."""
        above = self.annotations.get(annotation.objgen)
        return None if above is None else self.types[above.objgen]

    def has_language(self, element: Any | None) -> bool:
        """Return whether the language of an element is known: its own, one around it, the document's."""
        if element is None:
            return bool(LANGUAGE.fullmatch(str(self.pdf.Root.get("/Lang", ""))))
        key = element.objgen
        if key not in self._languages:
            own = element.get("/Lang")
            self._languages[key] = (
                bool(LANGUAGE.fullmatch(str(own)))
                if own is not None
                else self.has_language(self.parents.get(key))
            )
        return self._languages[key]

    def is_in_formula(self, element: Any | None) -> bool:
        while element is not None:
            if self.types[element.objgen] == "Formula":
                return True
            element = self.parents[element.objgen]
        return False

    def _check_roles(self) -> Iterator[str]:
        roles = self.pdf.Root.StructTreeRoot.get("/RoleMap", {})
        for own, other in roles.items():
            if own.lstrip("/") in STANDARD:
                yield name("02-004", own)
            seen = {own}
            target = str(other)
            while target in roles and target not in seen:
                seen.add(target)
                target = str(roles[target])
            if target in seen:
                yield name("02-003", own)

    # --- the structure tree ----------------------------------------------------------------------

    def _walk(self, kids: Any, parent: Any) -> Iterator[str]:
        waiting = [(kids, parent)]
        while waiting:
            kid, above = waiting.pop()
            if isinstance(kid, pikepdf.Array):
                waiting += [(each, above) for each in reversed(list(kid))]
            elif isinstance(kid, pikepdf.Dictionary) and kid.get("/Type") == "/OBJR":
                self.annotations[kid.Obj.objgen] = above
            elif isinstance(kid, pikepdf.Dictionary) and kid.get("/Type") == "/MCR":
                stream = kid.get("/Stm", kid.get("/Pg", above.get("/Pg")))
                self.marked[stream.objgen, int(kid.MCID)] = above
            elif isinstance(kid, pikepdf.Dictionary):
                if kid.objgen in self.types:
                    yield "structure: an element is in two places"
                    continue
                if above is not None and kid.P.objgen != above.objgen:
                    yield "structure: P is not the parent"
                self.types[kid.objgen] = self._type_of(kid)
                self.parents[kid.objgen] = above
                self.elements.append(kid)
                waiting.append((kid.get("/K", pikepdf.Array()), kid))
            else:
                self.marked[above.Pg.objgen, int(kid)] = above

    def _type_of(self, element: Any) -> str:
        roles = self.pdf.Root.StructTreeRoot.get("/RoleMap", {})
        kind = str(element.S)
        for _ in range(len(roles)):
            kind = str(roles.get(kind, kind))
        return kind.lstrip("/")

    def _kids_of(self, element: Any) -> list[Any]:
        kids = element.get("/K", pikepdf.Array())
        kids = list(kids) if isinstance(kids, pikepdf.Array) else [kids]
        return [kid for kid in kids if isinstance(kid, pikepdf.Dictionary) and "/S" in kid]

    def _check_elements(self) -> Iterator[str]:
        ids: set[bytes] = set()
        for element in self.elements:
            kind = self.types[element.objgen]
            if kind not in STANDARD:
                yield name("02-001", kind)
            yield from self._check_nesting(element, kind)
            yield from self._check_texts(element, kind)
            if kind != "Note":
                continue
            if "/ID" not in element:
                yield name("19-003")
            elif bytes(element.ID) in ids:
                yield name("19-004", element.ID)
            else:
                ids.add(bytes(element.ID))

    def _check_ids(self) -> Iterator[str]:
        """Check that the tree of IDs has those of all elements and no others (PDF 1.7, 14.7.2)."""
        own = [(bytes(each.ID), each.objgen) for each in self.elements if "/ID" in each]
        if len(dict(own)) < len(own):
            yield "structure: an ID is not unique"
        listed: list[tuple[bytes, Any]] = []
        waiting = [self.pdf.Root.StructTreeRoot.get("/IDTree", pikepdf.Dictionary())]
        while waiting:
            node = waiting.pop()
            waiting += reversed(list(node.get("/Kids", ())))
            names = list(node.get("/Names", ()))
            entries = [*zip(map(bytes, names[::2]), names[1::2], strict=True)]
            listed += [(key, each.objgen) for key, each in entries]
            limits = [bytes(each) for each in node.get("/Limits", ())]
            if limits and limits != [entries[0][0], entries[-1][0]]:
                yield "structure: Limits of the IDs are not their first and last"
        if listed != sorted(own):
            yield "structure: IDTree and the IDs of elements differ"

    def _check_texts(self, element: Any, kind: str) -> Iterator[str]:
        """Check what readers say in place of an element."""
        # An empty Alt says nothing (ISO 14289-1, 7.3).
        has_words = bool(element.get("/Alt") or element.get("/ActualText"))
        if kind == "Figure" and not has_words:
            yield name("13-004")
        if kind == "Formula" and not has_words:
            yield name("17-002")
        said = {"/Alt", "/ActualText", "/E"} & element.keys()
        if said and not self.has_language(element):
            yield name("11-002", kind)

    def _check_nesting(self, element: Any, kind: str) -> Iterator[str]:
        allowed = KIDS.get(kind)
        for kid in self._kids_of(element):
            inner = self._type_of(kid)
            if allowed is not None and inner not in allowed:
                yield name(FAMILIES[kind], f"{inner} in {kind}")
        above = self.parents[element.objgen]
        around = None if above is None else self.types[above.objgen]
        if kind in PARENTS and around not in PARENTS[kind]:
            yield name(FAMILIES[kind], f"{kind} in {around}")

    def _check_headings(self) -> Iterator[str]:
        before = 0
        kinds = [self.types[element.objgen] for element in self.elements]
        if "H" in kinds and HEADINGS.keys() & set(kinds):
            yield name("14-007")
        for element in self.elements:
            if sum(self.types[kid.objgen] == "H" for kid in self._kids_of(element)) > 1:
                yield name("14-006", self.types[element.objgen])
        if not self.promises:
            return  # a warning of the engine
        for kind in kinds:
            level = HEADINGS.get(kind)
            if level is None:
                continue
            if not before and level != 1:
                yield name("14-002")
            elif level > before + 1:
                yield name("14-003", f"H{level} after H{before}")
            before = level

    def _check_tables(self) -> Iterator[str]:
        for table in self.elements:
            if self.types[table.objgen] != "Table":
                continue
            parts = [self.types[part.objgen] for part in self._kids_of(table)]
            if parts.count("THead") > 1 or parts.count("TFoot") > 1:
                yield name("09-004", "several THead or TFoot in Table")
            if {"THead", "TFoot"} & set(parts) and "TBody" not in parts:
                yield name("09-004", "THead or TFoot without TBody in Table")
            rows = [
                row
                for part in self._kids_of(table)
                for row in ([part] if self.types[part.objgen] == "TR" else self._kids_of(part))
                if self.types.get(row.objgen) == "TR"
            ]
            cells = [cell for row in rows for cell in self._kids_of(row)]
            heads = {
                bytes(cell.ID)
                for cell in cells
                if self.types[cell.objgen] == "TH" and "/ID" in cell
            }
            has_ids = bool(heads)
            for cell in cells:
                is_head = self.types[cell.objgen] == "TH"
                if is_head and not has_ids and "/Scope" not in _attributes(cell, "/Table"):
                    yield name("15-003")
                named = [bytes(each) for each in _attributes(cell, "/Table").get("/Headers", ())]
                if not heads.issuperset(named):
                    yield "structure: Headers name no TH of the table"
                if len(set(named)) < len(named) or bytes(cell.get("/ID", b"")) in named:
                    yield "structure: Headers name a TH twice, or the cell itself"
            if len(set(_widths(rows, self._kids_of))) > 1:
                yield "7.2 rows of a table differ in their columns"

    def _check_parent_tree(self) -> Iterator[str]:
        """Check that the way from the content to the tree is that from the tree to the content."""
        tree = self.pdf.Root.StructTreeRoot.get("/ParentTree")
        if tree is None:
            yield "structure: no ParentTree"
            return
        nums = list(tree.get("/Nums", pikepdf.Array()))
        held = dict(zip(map(int, nums[::2]), nums[1::2], strict=True))
        streams = [page.obj for page in self.pdf.pages]
        streams += [one for one in self.pdf.objects if isinstance(one, pikepdf.Stream)]
        found: set[tuple[Any, int]] = set()
        for stream in streams:
            if "/StructParents" not in stream:
                continue
            for number, element in enumerate(held.get(int(stream.StructParents), ())):
                above = self.marked.get((stream.objgen, number))
                if element is None and above is None:
                    continue  # an MCID that the stream leaves out
                found.add((stream.objgen, number))
                if above is None or element is None or above.objgen != element.objgen:
                    yield "structure: ParentTree and tree differ"
        if found != self.marked.keys():
            yield "structure: ParentTree lacks content"
        for number, above in self.annotations.items():
            annotation = self.pdf.get_object(number)
            element = held.get(int(annotation.get("/StructParent", -1)))
            if element is None or element.objgen != above.objgen:
                yield "structure: ParentTree and annotation differ"


def _attributes(element: Any, owner: str) -> dict[str, Any]:
    held = element.get("/A", pikepdf.Array())
    each = list(held) if isinstance(held, pikepdf.Array) else [held]
    return {name: value for one in each if one.get("/O") == owner for name, value in one.items()}


def _widths(rows: list[Any], kids_of: Any) -> Iterator[int]:
    """Yield the number of columns of each row, with the cells that reach into it from above."""
    reaching: list[tuple[int, int]] = []  # columns, and rows that are left
    for row in rows:
        spans = [_attributes(cell, "/Table") for cell in kids_of(row)]
        width = sum(columns for columns, _ in reaching)
        yield width + sum(int(span.get("/ColSpan", 1)) for span in spans)
        reaching = [(columns, left - 1) for columns, left in reaching if left > 1]
        reaching += [
            (int(span.get("/ColSpan", 1)), int(span["/RowSpan"]) - 1)
            for span in spans
            if int(span.get("/RowSpan", 1)) > 1
        ]
