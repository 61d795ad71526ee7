"""Results of layout that are used again: in one document, and in the next ones of its template.

Each kind of result has a `Kind`, which types its keys and values. What a document remembers is freed
with it. What a template remembers has one budget in bytes, and the results used longest ago go first.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Callable, Hashable
from enum import Enum, auto
from typing import Any, Final, Generic, TypeVar, cast
from weakref import WeakKeyDictionary

BUDGET: Final = 1_000_000  # bytes of the results of one template
# Of one document: what differs in each document must not push out what is the same in all of them.
MAX_NEW: Final = BUDGET // 2
ALL_TEMPLATES: Final = 16 * BUDGET  # in a process, which may have compiled thousands of them
_MAX_SIZE: Final = BUDGET // 8  # of one result

K = TypeVar("K")
V = TypeVar("V")


class Lifetime(Enum):
    """How long the results of a kind are valid in a document with references."""

    DOCUMENT = auto()
    ONE_PASS = auto()
    DIGITS = auto()  # until page numbers have more digits
    WIDTHS = auto()  # until a reference that widths depend on shows another text


class Kind(Generic[K, V]):
    """A kind of result with its types of keys and values; kinds are told apart by identity.

    `size_of` estimates the bytes of a result for the budget of a template; None means that it is not
    remembered.
    """

    __slots__ = ("lifetime", "size_of")

    def __init__(
        self,
        lifetime: Lifetime = Lifetime.DOCUMENT,
        *,
        size_of: Callable[[V], int | None] = lambda _: 300,
    ) -> None:
        self.lifetime = lifetime
        self.size_of = size_of


class DocumentMemo:
    """The results of one document; `template` has those for the next documents too."""

    def __init__(self, template: TemplateMemo) -> None:
        self.template = template
        self._results: defaultdict[Kind[Any, Any], dict[object, Any]] = defaultdict(dict)

    def remember(self, kind: Kind[K, V], key: K, make: Callable[[], V]) -> V:
        """Return the result of a key; `make` makes it the first time."""
        results = self._results[kind]
        try:
            return cast("V", results[key])
        except KeyError:
            value = results[key] = make()
            return value

    def find(self, kind: Kind[K, V], key: K) -> V | None:
        """Return the result of a key, None without one."""
        return self._results[kind].get(key)

    def store(self, kind: Kind[K, V], key: K, value: V) -> None:
        """Store a result, replacing an earlier one."""
        self._results[kind][key] = value

    def forget(self, lifetime: Lifetime) -> None:
        """Remove the results of a lifetime that has ended."""
        for kind, results in self._results.items():
            if kind.lifetime is lifetime:
                results.clear()


class TemplateMemo:
    """The results of a template for its next documents, in fonts that stay the same."""

    __slots__ = ("__weakref__", "_new", "_results", "_size")

    def __init__(self) -> None:
        self._results: OrderedDict[Hashable, tuple[object, int, object]] = OrderedDict()
        self._size = 0
        self._new = 0  # bytes, of the current document

    @property
    def size(self) -> int:
        """The approximate bytes of all results."""
        return self._size

    def begin_document(self) -> None:
        """Start a document; the memos of the templates used longest ago are cleared above the budget of all."""
        self._new = 0
        _RECENT.use(self)

    def remember(
        self, kind: Kind[K, V], key: K, make: Callable[[], V], *, holds: object = None
    ) -> V:
        """Return the result of a key; `make` makes it if it is not remembered.

        `holds` are the objects whose identities are in the key: they live as long as the result.
        """
        full_key = kind, key
        known = self._results.get(full_key)
        if known is not None:
            self._results.move_to_end(full_key)
            return cast("V", known[0])
        value = make()
        size = kind.size_of(value)
        if size is not None and size <= _MAX_SIZE and self._new + size <= MAX_NEW:
            self._new += size
            self._size += size
            _RECENT.grown += size
            self._results[full_key] = value, size, holds
            while self._size > BUDGET:
                self._size -= self._results.popitem(last=False)[1][1]
        return value

    def count(self, kind: Kind[object, object]) -> int:
        """Return the number of results of a kind."""
        return sum(
            key[0] is kind for key in cast("dict[tuple[object, object], object]", self._results)
        )

    def clear(self) -> None:
        """Remove all results."""
        self._results.clear()
        self._size = 0


class _RecentMemos:
    """The memos of a process; `grown` are the bytes that they remembered since they were last added up."""

    def __init__(self) -> None:
        self._memos: WeakKeyDictionary[TemplateMemo, None] = WeakKeyDictionary()  # newest last
        self.grown = 0

    def use(self, memo: TemplateMemo) -> None:
        self._memos.pop(memo, None)
        self._memos[memo] = None
        if self.grown > BUDGET:
            self._shrink()

    def _shrink(self) -> None:
        self.grown, size = 0, sum(memo.size for memo in self._memos)
        for oldest in list(self._memos):
            if size <= ALL_TEMPLATES:
                break
            size -= oldest.size
            oldest.clear()
            del self._memos[oldest]


_RECENT: Final = _RecentMemos()
