"""Leaves of the structure tree, which have one marked-content sequence or none, as aligned objects."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import compress
from operator import not_

from workers.engine.aligned_rows import AlignedObjects
from workers.engine.paint.structure_runs import LENGTH_STEP


class LeafColumns:
    """Leaves as rows of bytes: equal forms, into which each column of digits is copied at once.

    Formatting each leaf by itself takes three times as long.
    """

    def __init__(self, last_number: int, last_mcid: int) -> None:
        """Prepare for numbers of objects and MCIDs up to the last ones."""
        self._digits, self._mcid_digits = len(str(last_number)), len(str(last_mcid))
        self._form = b"%%%dd" % self._digits
        self._all_mcids = (
            (b"%%%dd" % self._mcid_digits) * (last_mcid + 1) % tuple(range(last_mcid + 1))
        )
        self._kinds: list[tuple[str, ...]] = []
        self._parents: list[bytes] = []
        self._pages: list[bytes] = []
        self._mcids: list[bytes] = []
        self._empty: list[tuple[int, bytes]] = []  # by index
        self._count = 0

    def add(
        self,
        roles: tuple[str, ...],
        parent: int,
        page: int,
        mcid: int,
        drawn: Sequence[bool] | None = None,
    ) -> None:
        """Add the children of one element; those that are `drawn` have consecutive MCIDs of a page."""
        count, width = len(roles), self._mcid_digits
        self._kinds.append(roles)
        self._parents.append(self._form % parent * count)
        self._pages.append(self._form % page * count)
        if drawn is None or all(drawn):
            self._mcids.append(self._all_mcids[mcid * width : (mcid + count) * width])
        else:
            self._mcids += self._add_drawn(roles, parent, mcid, drawn)
        self._count += count

    def _add_drawn(
        self, roles: tuple[str, ...], parent: int, mcid: int, drawn: Sequence[bool]
    ) -> Iterator[bytes]:
        """Yield the MCIDs of the children that are drawn, and record the others, which have none."""
        width, start = self._mcid_digits, 0
        for at in compress(range(len(roles)), map(not_, drawn)):
            after = mcid + at - start
            yield self._all_mcids[mcid * width : after * width]
            yield b" " * width
            mcid, start = after, at + 1
            self._empty.append((self._count + at, _write_empty(roles[at], parent)))
        yield self._all_mcids[mcid * width : (mcid + len(roles) - start) * width]

    def add_empty(self, role: str, parent: int) -> None:
        """Add an element without content."""
        self._empty.append((self._count, _write_empty(role, parent)))
        self.add((role,), parent, 0, 0)

    def write(self) -> AlignedObjects:
        """Return the rows."""
        start, places = b"\0<</P ", []
        for digits, after in (
            (self._digits, b" 0 R/Pg "),
            (self._digits, b" 0 R/K "),
            (self._mcid_digits, b"/S/"),
        ):
            places.append(len(start))
            start += b" " * digits + after
        kinds = set(self._kinds)
        ends = {role: role.encode("ascii") + b">>" for roles in kinds for role in roles}
        length = len(start) - 1 + max(map(len, ends.values()))
        width = -length % LENGTH_STEP + length
        forms = {
            roles: b"".join([(start + ends[role]).ljust(width + 1) for role in roles])
            for roles in kinds
        }
        rows = bytearray(b"".join(map(forms.__getitem__, self._kinds)))
        columns = (
            (self._digits, self._parents),
            (self._digits, self._pages),
            (self._mcid_digits, self._mcids),
        )
        for place, (digits, parts) in zip(places, columns, strict=True):
            text = b"".join(parts)
            for digit in range(digits):
                rows[place + digit :: width + 1] = text[digit::digits]
        for index, written in self._empty:
            at = index * (width + 1) + 1
            rows[at : at + width] = written.ljust(width)
        return AlignedObjects(width, [width] * self._count, bytes(rows))


def _write_empty(role: str, parent: int) -> bytes:
    """Return an element without content."""
    return b"<</P %d 0 R/S/%b>>" % (parent, role.encode("ascii"))
