"""Output plans of batches: the order of the documents, the files that they go to, and an index of them.

A batch with a plan is a run: its documents are rendered in the order of the body, each with the values
that the plan needs (`read_values`), and written in the order of the plan at its end (decision 0502).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from functools import lru_cache
from itertools import chain, groupby, islice
from operator import attrgetter, itemgetter
from typing import Annotated, Any, Final, TypeVar

import msgspec

from shared.limits import MAX_REFERENCE
from shared.records import Record, ShownRecord, Timestamp, doc

MAX_FILES: Final = 500  # of a run, which are open together
MAX_COVERS: Final = 2000  # of a run, which are rendered where it is arranged
MAX_INSERTS: Final = 4  # which optical marks tell
MAX_CLASSES: Final = 50
MAX_VALUE_LENGTH: Final = 200  # characters of a value in the order, the index and mails
_NAMES: Final = r"[^.\x00-\x1f]{1,100}(\.[^.\x00-\x1f]{1,100}){0,9}$"
_Path = Annotated[str, msgspec.Meta(pattern=f"^(?!-){_NAMES}", max_length=300)]
_Order = Annotated[str, msgspec.Meta(pattern=f"^-?{_NAMES}", max_length=300)]
_Code = Annotated[str, msgspec.Meta(pattern=r"^[a-z0-9-]{1,60}$", examples=["marks-zone"])]
_Size = Annotated[int, msgspec.Meta(ge=1, le=1_000_000)]
_Grams = Annotated[float, msgspec.Meta(ge=0, le=100_000)]
# As the engine reads them: cells of CSV are texts, and so are many amounts in JSON.
_NUMBER: Final = re.compile(r"[+-]?\d{1,40}(?:\.\d{1,20})?", re.ASCII)
_MARK_FORMAT: Final = (
    r"^([ -z|~]|\{(job|inserts|(set|sheet|count)(:0[1-9])?)\}){1,20}$"  # 180 characters at most
)
_SET_PATHS: Final = ("set.weight", "set.class", "set.inserts")
_SET_SHEETS: Final = "set.sheets"
_PAPER: Final = (
    "paper."  # the grams of a document's sheets among its values; no path ends with a dot
)
OWN_BYTES: Final = "bytes."  # what a document adds to a file that has its resources
RESOURCES: Final = "resources."  # its fonts, images and so on: digest:bytes of each
FILE_BYTES: Final = 6000  # of a file without documents
BY_HAND: Final = "by hand"  # the value of files of sets that are no machine's
PROOF: Final = "proof"  # why a document is held until the proof is released
Value = str | int | float | bool | None
_Member = TypeVar("_Member")


class Priority(StrEnum):
    """How urgent a batch is; see `shared.batches.slice_scheduling`."""

    EXPRESS = "express"
    NORMAL = "normal"
    NIGHT = "night"


class PlanOutput(StrEnum):
    """What a file of a run is: one PDF, a ZIP with a PDF for each set, or such a ZIP of PDF/A."""

    MERGED = "merged"
    ZIP = "zip"
    ARCHIVE = "archive"


class IndexFormat(StrEnum):
    """The format of the index of a run."""

    CSV = "csv"
    NDJSON = "ndjson"
    XML = "xml"

    @property
    def media_type(self) -> str:
        """The media type of a file of it."""
        return {"csv": "text/csv", "ndjson": "application/x-ndjson", "xml": "application/xml"}[self]


class Condition(Record, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What a value is where a document is held, has an insert or is by hand: everything that is given."""

    value: Annotated[
        _Path,
        doc(
            "A path into the payload; but for inserts set.sheets, set.weight, set.class and set.inserts are of "
            "the set."
        ),
    ]
    one_of: Annotated[
        tuple[str | int | float | bool, ...],
        doc("It is one of these."),
        msgspec.Meta(max_length=100),
    ] = ()
    above: Annotated[float | None, doc("It is a number above this one.")] = None
    below: Annotated[float | None, doc("It is a number below this one.")] = None
    missing: Annotated[bool, doc("There is none, or null.")] = False

    def holds(self, found: Value) -> bool:
        """Return whether it is true of a value."""
        if self.missing:
            return found is None
        amount = _find_amount(found)
        return (
            found is not None
            and (not self.one_of or found in self.one_of or amount in self.one_of)
            and (self.above is None or (amount is not None and amount > self.above))
            and (self.below is None or (amount is not None and amount < self.below))
        )

    def is_undecided(self, found: Value) -> bool:
        """Return whether a value is compared that is no number, such as `1.234,56`."""
        is_compared = self.above is not None or self.below is not None
        return is_compared and found is not None and _find_amount(found) is None


def _find_amount(found: Value) -> float | None:
    is_number = isinstance(found, float) or _NUMBER.fullmatch(str(found).strip())
    return float(found) if is_number and found is not None else None


class _Cut(Record, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Where sets that follow each other are parted."""

    documents: Annotated[_Size | None, doc("Most documents of each.")] = None
    sheets: Annotated[_Size | None, doc("Most sheets of each; a document is not divided.")] = None
    weight: Annotated[_Size | None, doc("Most grams of each, of a plan with a weight.")] = None
    bytes: Annotated[
        Annotated[int, msgspec.Meta(ge=10_000, le=10_000_000_000)] | None,
        doc("Most bytes of each, without covers; what is counted is never less than what it has."),
    ] = None
    value: Annotated[
        _Path | None,
        doc("A path into the payload, or set.class: another begins where the value changes."),
    ] = None

    @property
    def sizes(self) -> Sequence[int | None]:
        """The most documents, sheets, grams and bytes."""
        return self.documents, self.sheets, self.weight, self.bytes


class Split(_Cut, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Where another file begins: after so many documents, sheets, grams or bytes, or where a value changes."""

    by_hand: Annotated[
        tuple[Condition, ...],
        doc(
            "Sets of which one of these is true, such as set.sheets above those that the machine takes, have files "
            "of their own, the last ones."
        ),
        msgspec.Meta(max_length=10),
    ] = ()


class Bundle(_Cut, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """Where another bundle of a file begins, as a split says it, and its cover; without a size and a value each
    file is one.
    """

    cover: Annotated[
        str,
        doc(
            "The template of the cover, a sheet of one page before the documents of each bundle.",
            examples=["tray@2"],
        ),
        msgspec.Meta(max_length=MAX_REFERENCE),
    ]


class MarkType(StrEnum):
    """The marks that an inserting machine reads."""

    OMR = "omr"
    DATAMATRIX = "datamatrix"
    CODE128 = "code128"
    ITF = "itf"


class Marks(Record, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Marks on the front of every sheet, as the element `marks` draws them; lengths are in millimetres."""

    type: MarkType
    left: Annotated[float, msgspec.Meta(ge=0, le=2000)]
    top: Annotated[float, msgspec.Meta(ge=0, le=2000)]
    format: Annotated[
        str,
        doc(
            "Content of a bar code, with {job}, {set}, {sheet}, {count} and {inserts}.",
            examples=["{job}{set:06}{sheet:02}{count:02}"],
        ),
        msgspec.Meta(pattern=_MARK_FORMAT),
    ] = "{set:06}{sheet:02}{count:02}"
    job: Annotated[
        str, doc("Name of the job.", examples=["NIGHT-7"]), msgspec.Meta(pattern=r"^[ -~]{0,20}$")
    ] = ""
    inserts: Annotated[
        str,
        doc("Feeders of inserts.", examples=["1 3"]),
        msgspec.Meta(pattern="^([1-4]( [1-4]){0,3})?$"),
    ] = ""
    width: Annotated[float, msgspec.Meta(ge=2, le=200)] = 8
    height: Annotated[float, msgspec.Meta(ge=2, le=200)] = 8
    pitch: Annotated[float, msgspec.Meta(ge=1.5, le=20)] = 4
    clear: Annotated[float, msgspec.Meta(ge=0, le=50)] = 3

    @property
    def attributes(self) -> Mapping[str, str]:
        """The attributes of the element."""
        lengths = {"left", "top", "width", "height", "pitch", "clear"}
        return {
            name: f"{value:.3f}mm" if name in lengths else str(value)
            for name, value in msgspec.structs.asdict(self).items()
        }


class Hold(Record, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Which documents are in no file until they are released."""

    warnings: Annotated[
        tuple[_Code, ...],
        doc("Those with a warning of one of these codes; any stands for all codes."),
        msgspec.Meta(max_length=50),
    ] = ()
    conditions: Annotated[
        tuple[Condition, ...],
        doc("Those of which one of these is true."),
        msgspec.Meta(max_length=20),
    ] = ()
    proof: Annotated[
        Annotated[int, msgspec.Meta(ge=1, le=1000)] | None,
        doc("All, until a proof of the first documents, of this number, is released."),
    ] = None


class Insert(Record, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What the inserting machine adds to a set."""

    feeder: Annotated[int, doc("Its feeder."), msgspec.Meta(ge=1, le=MAX_INSERTS)]
    grams: Annotated[_Grams, doc("Its weight.")] = 0
    conditions: Annotated[
        tuple[Condition, ...],
        doc("Of sets with a document of which one of these is true; of every set without any."),
        msgspec.Meta(max_length=10),
    ] = ()


class PostageClass(Record, frozen=True, forbid_unknown_fields=True):
    """A class of postage."""

    name: Annotated[str, msgspec.Meta(pattern=r"^[^\x00-\x1f]{1,60}$", examples=["standard"])]
    up_to: Annotated[_Grams, doc("The most grams of a set.")]


class Paper(Record, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Grams of a sheet by the `media` of its front, where they are not those of every sheet."""

    plain: _Grams | None = None
    letterhead: _Grams | None = None
    slip: _Grams | None = None


class Weight(Record, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What a set weighs, in grams: its sheets, its inserts and its envelope."""

    sheet: Annotated[_Grams, doc("A sheet of paper; A4 of 80 g/m² has 4.99.", examples=[4.99])]
    paper: Annotated[Paper, doc("Sheets of other papers, by the medium of their pages.")] = Paper()
    envelope: Annotated[_Grams, doc("The envelope.")] = 0
    classes: Annotated[
        tuple[PostageClass, ...],
        doc(
            "Classes of postage by rising weight; a set has the first that it is not too heavy for."
        ),
        msgspec.Meta(max_length=MAX_CLASSES),
    ] = ()

    def find_class(self, grams: float) -> str | None:
        """Return the class of a weight, None for one above them all."""
        return next((each.name for each in self.classes if grams <= each.up_to), None)


class Keep(Record, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """How long a run is kept, in place of the times of the account and up to those of the service."""

    result_hours: Annotated[
        int | None,
        doc(
            "Hours of its files, and of the pages that reprints are made of, after its end or the last decision on it.",
            minimum=1,
        ),
    ] = None
    record_days: Annotated[
        int | None, doc("Days of its records and their values after its end.", minimum=1)
    ] = None


class Plan(Record, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What is done with the documents of a batch."""

    sort: Annotated[
        tuple[_Order, ...],
        doc(
            "Paths into the payload, such as address.postcode, or set.sheets, set.weight, set.class and set.inserts, "
            "the first one first; -path descends."
        ),
        msgspec.Meta(max_length=8),
    ] = ()
    split: Split = Split()
    bundle: Bundle | None = None
    household: Annotated[
        _Path | None,
        doc("A path into the payload: documents of one value that follow each other are one set."),
    ] = None
    duplex: Annotated[
        bool, doc("Each document begins on a front: a blank page follows an odd number of pages.")
    ] = False
    marks: Annotated[
        Marks | None,
        doc(
            "Marks for the inserting machine, with the number of the set and of the sheet in the run."
        ),
    ] = None
    inserts: Annotated[
        tuple[Insert, ...],
        doc("What the inserting machine adds to sets; marks tell it."),
        msgspec.Meta(max_length=MAX_INSERTS),
    ] = ()
    weight: Weight | None = None
    output: PlanOutput = PlanOutput.MERGED
    hold: Hold = Hold()
    keep: Keep = Keep()
    priority: Priority | None = None  # of its batches which name none
    index: IndexFormat = IndexFormat.CSV
    fields: Annotated[
        tuple[_Path, ...],
        doc("Paths into the payload whose values stand in the index."),
        msgspec.Meta(max_length=20),
    ] = ()

    @property
    def paths(self) -> Sequence[str]:
        """The paths whose values are kept with each document."""
        named = [key.removeprefix("-") for key in self.keys if not self.is_of_set(key)]
        named += [self.household] if self.household else []
        if self.bundle and self.bundle.value and not self.is_of_set(self.bundle.value):
            named.append(self.bundle.value)
        conditions = chain(self.hold.conditions, self.split.by_hand)
        named += [each.value for each in conditions if not self.is_of_set(each.value)]
        named += [each.value for each in chain(*(each.conditions for each in self.inserts))]
        return list(dict.fromkeys([*named, *self.fields]))

    @property
    def counts_bytes(self) -> bool:
        """Whether documents are kept with their sizes."""
        return any(cut is not None and cut.bytes is not None for cut in (self.split, self.bundle))

    @property
    def is_package(self) -> bool:
        """Whether files are ZIPs."""
        return self.output is not PlanOutput.MERGED

    @property
    def has_sheets(self) -> bool:
        """Whether the pages of a set depend on other documents, or its paper on each page."""
        is_paper_told = self.weight is not None and self.weight.paper != Paper()
        return self.duplex or self.marks is not None or self.household is not None or is_paper_told

    @property
    def keys(self) -> Sequence[str]:
        """What the documents are sorted by."""
        return self.sort if self.split.value is None else (self.split.value, *self.sort)

    @property
    def set_paths(self) -> Sequence[str]:
        """The names of values of sets; they are paths into the payload in a plan that gives sets none."""
        return _SET_PATHS if self.inserts or self.weight else ()

    def is_of_set(self, key: str) -> bool:
        """Return whether a key of the order is a value of sets."""
        return key.removeprefix("-") in (_SET_SHEETS, *self.set_paths)

    @property
    def set_conditions(self) -> Sequence[Condition]:
        """The conditions that hold sets; their values are known where the run is arranged."""
        return [each for each in self.hold.conditions if self.is_of_set(each.value)]

    def find_hold(
        self, values: Mapping[str, Value], warnings: Iterable[str], *, left_out: int
    ) -> str | None:
        """Return why a document is held, None for one that is not: its first warning that holds it, the first
        condition, or the proof. Warnings without a code, because they were too many, hold it too, and so does a
        value that a condition cannot compare: the wrong bill stays here.
        """
        wanted = self.hold.warnings
        found = next((code for code in warnings if "any" in wanted or code in wanted), None)
        if found or (wanted and left_out):
            return f"warning:{found or 'more'}"
        for condition in self.hold.conditions:
            value = values.get(condition.value)
            is_true = condition.holds(value) or condition.is_undecided(value)
            if is_true and not self.is_of_set(condition.value):
                return f"condition:{condition.value}"
        return PROOF if self.hold.proof else None

    def sheets_of(self, pages: int) -> int:
        """Return the number of sheets of a document."""
        return (pages + 1) // 2 if self.duplex else pages

    def sides_of(self, pages: int) -> int:
        """Return the number of pages of a document in a file, with a blank back."""
        return pages + pages % 2 if self.duplex else pages

    def weigh_paper(self, media: Sequence[str]) -> Mapping[str, Value]:
        """Return the grams of a document's sheets as one of its values, none where all sheets weigh the same."""
        if self.weight is None or self.weight.paper == Paper():
            return {}
        sheet, papers = self.weight.sheet, msgspec.structs.asdict(self.weight.paper)
        grams = [papers.get(medium) for medium in media[:: 2 if self.duplex else 1]]
        return {_PAPER: round(sum(sheet if each is None else each for each in grams), 3)}


class StoredPlan(ShownRecord, frozen=True):
    """A version of a stored plan; it never changes."""

    name: Annotated[str, doc("Name of the plan.")]
    version: Annotated[int, doc("From 1; a plan that changes has another version.", minimum=1)]
    plan: Plan
    created_at: Annotated[Timestamp, doc("When this version was stored.")]
    # Of an answer about one plan alone: they belong to all its versions.
    tags: Sequence[Mapping[str, Any]] = ()

    def __str__(self) -> str:
        """Return its reference."""
        return f"{self.name}@{self.version}"


class RunDocument(Record, frozen=True, gc=False):
    """A document that was rendered: its pages, and the values of the plan's paths."""

    index: int
    pages: int
    values: Mapping[str, Value]


class RunSet(msgspec.Struct, frozen=True, gc=False):
    """The documents of one envelope, in order, and its values by `Plan.set_paths`."""

    documents: Sequence[RunDocument]
    sheets: int
    weight: float = 0
    feeders: tuple[int, ...] = ()
    values: Mapping[str, Value] = {}

    def find_value(self, path: str) -> Value:
        """Return a value of the set, or of its first document."""
        if path == _SET_SHEETS:
            return self.sheets
        own = self.documents[0].values if path not in self.values else self.values
        return own.get(path)


class RunFile(msgspec.Struct, frozen=True):
    """The sets of one file of a run, or of one of its bundles, in order. `value` is that which parts them."""

    sets: list[RunSet]
    value: Value = None

    @property
    def documents(self) -> list[RunDocument]:
        """Its documents, in order."""
        return [document for each in self.sets for document in each.documents]


def find_held_sets(plan: Plan, documents: Iterable[RunDocument]) -> dict[int, str]:
    """Return why the documents of sets are held that a condition is true of, by their indexes."""
    reasons = [(each, _find_reason(plan, each)) for each in _make_sets(plan, documents)]
    return {
        document.index: reason for each, reason in reasons if reason for document in each.documents
    }


def _find_reason(plan: Plan, each: RunSet) -> str | None:
    true = (one for one in plan.set_conditions if _is_true(plan, one, each))
    return next((f"condition:{one.value}" for one in true), None)


def _is_true(plan: Plan, condition: Condition, each: RunSet) -> bool:
    """Return whether a condition is true of a set or one of its documents."""
    if plan.is_of_set(condition.value):
        return condition.holds(each.find_value(condition.value))
    return any(condition.holds(document.values.get(condition.value)) for document in each.documents)


def arrange(
    plan: Plan, documents: Iterable[RunDocument], *, with_held: bool = False
) -> list[RunFile]:
    """Return the files of a run with their sets, in order. Sets are made of documents in the order of the payload,
    and then sorted by what they have themselves. Those that a condition holds are left out unless `with_held`.

    Numbers stand before texts, texts are in the order of their characters, documents without a value
    last; equal ones stay in the order of the body.

    Raises:
        TooManyFilesError: there are more than `MAX_FILES`, or more bundles than `MAX_COVERS`.
    """
    sets = _make_sets(plan, documents)
    if plan.set_conditions and not with_held:
        sets = [each for each in sets if _find_reason(plan, each) is None]
    if any(plan.is_of_set(key) for key in plan.keys):
        sets = _sort(sets, plan.keys, RunSet.find_value)
    by_hand = [any(_is_true(plan, one, each) for one in plan.split.by_hand) for each in sets]
    ordered = sorted(zip(by_hand, sets, strict=True), key=itemgetter(0))
    own = [(BY_HAND if hand else _value_of(plan.split, each), each) for hand, each in ordered]
    files = list(islice(_divide(plan.split, own), MAX_FILES + 1))
    if len(files) > MAX_FILES:
        raise TooManyFilesError(
            f"The plan divides the documents into more than {MAX_FILES} files: split into larger ones."
        )
    if sum(len(find_bundles(plan, file)) for file in files) > MAX_COVERS:
        raise TooManyFilesError(
            f"The plan divides the documents into more than {MAX_COVERS:,} bundles: make larger ones."
        )
    return files


def find_bundles(plan: Plan, file: RunFile) -> list[RunFile]:
    """Return the bundles of a file in order, none of a plan without."""
    if plan.bundle is None:
        return []
    own = [(_value_of(plan.bundle, each), each) for each in file.sets]
    return list(_divide(plan.bundle, own))


def find_covered(plan: Plan, file: RunFile) -> list[int]:
    """Return the indexes of the documents of a file that a cover stands before, in order."""
    return [bundle.sets[0].documents[0].index for bundle in find_bundles(plan, file)]


def _value_of(cut: _Cut, each: RunSet) -> Value:
    return each.find_value(cut.value) if cut.value else None


def _divide(cut: _Cut, sets: Iterable[tuple[Value, RunSet]]) -> Iterator[RunFile]:
    """Yield sets as they are parted, each given with its value."""
    last: RunFile | None = None
    size: Sequence[float] = (0, 0, 0, 0)
    seen: set[str] = set()
    for value, each in sets:
        own = (len(each.documents), each.sheets, each.weight, _count_bytes(each, seen))
        size = [round(before + more, 3) for before, more in zip(size, own, strict=True)]
        is_full = any(limit and taken > limit for limit, taken in zip(cut.sizes, size, strict=True))
        if last is None or is_full or last.value != value:
            if last is not None:
                yield last
            seen.clear()
            last, size = RunFile([], value), (*own[:3], FILE_BYTES + _count_bytes(each, seen))
        last.sets.append(each)
    if last is not None:
        yield last


def _count_bytes(each: RunSet, seen: set[str]) -> int:
    """Return the most that a set adds to a file, whose resources are `seen`."""
    size = 0
    for document in each.documents:
        size += int(document.values.get(OWN_BYTES) or 0)
        listed = str(document.values.get(RESOURCES) or "")
        new = set() if listed in seen else {*listed.split()} - seen
        size += sum(int(resource.rpartition(":")[2]) for resource in new)
        seen |= {listed, *new}
    return size


def _make_sets(plan: Plan, documents: Iterable[RunDocument]) -> list[RunSet]:
    """Return documents as sets in the order of the payload."""
    keys = [key for key in plan.keys if not plan.is_of_set(key)]
    ordered = _sort(documents, keys, lambda each, path: each.values.get(path))
    return [_make_set(plan, members) for members in _group(plan, ordered)]


def _sort(
    members: Iterable[_Member], keys: Sequence[str], find: Callable[[_Member, str], Value]
) -> list[_Member]:
    ordered = list(members)
    for key in reversed(keys):
        path = key.removeprefix("-")
        last = (2, "") if path == key else (-1, "")

        def rank(each: _Member, path: str = path, last: tuple[int, str] = last) -> tuple[int, Any]:
            return _rank(find(each, path)) or last

        ordered.sort(key=rank, reverse=path != key)
    return ordered


def _group(plan: Plan, documents: Iterable[RunDocument]) -> list[tuple[RunDocument, ...]]:
    """Return documents in the order of the payload as sets: each goes to one envelope.

    A document without a key of a household is a set. So is one whose key may have been cut: another one may
    begin alike.
    """
    value = plan.split.value if plan.split.value and not plan.is_of_set(plan.split.value) else None

    def find_key(document: RunDocument) -> tuple[Value, ...]:
        key = document.values.get(plan.household) if plan.household else None
        if key in (None, "") or (isinstance(key, str) and len(key) >= MAX_VALUE_LENGTH):
            return (document.index,)
        return (key, document.values.get(value) if value else None)

    return [tuple(members) for _, members in groupby(documents, find_key)]


def _make_set(plan: Plan, members: Sequence[RunDocument]) -> RunSet:
    sheets = sum(plan.sheets_of(document.pages) for document in members)
    if not plan.set_paths:
        return RunSet(members, sheets)
    feeders = tuple(
        insert.feeder
        for insert in sorted(plan.inserts, key=attrgetter("feeder"))
        if not insert.conditions
        or any(
            condition.holds(document.values.get(condition.value))
            for condition in insert.conditions
            for document in members
        )
    )
    papers = [document.values.get(_PAPER) for document in members]
    paper = sum(each for each in papers if isinstance(each, int | float))
    if plan.weight is not None and None in papers:
        paper = sheets * plan.weight.sheet
    return RunSet(members, sheets, *_weigh(plan, round(paper, 3), feeders))


@lru_cache(maxsize=1024)
def _weigh(
    plan: Plan, paper: float, feeders: tuple[int, ...]
) -> tuple[float, tuple[int, ...], Mapping[str, Value]]:
    """Return the weight, the feeders and the values of a set; equal sets share them."""
    own: dict[str, Value] = dict.fromkeys(_SET_PATHS)
    own["set.inserts"] = " ".join(map(str, feeders)) or None
    grams = 0.0
    if plan.weight is not None:
        inserts = sum(each.grams for each in plan.inserts if each.feeder in feeders)
        grams = round(plan.weight.envelope + paper + inserts, 3)
        own |= {"set.weight": grams, "set.class": plan.weight.find_class(grams)}
    return grams, feeders, own


class TooManyFilesError(ValueError):
    """The plan makes too many files or bundles."""


def read_values(paths: Sequence[str], payload: bytes) -> Mapping[str, Value]:
    """Return the values of a document at some paths, those that it has; longer ones are cut.

    The engine has accepted the payload; what its reader takes beyond others', such as half a surrogate
    pair, has no value.
    """
    if not paths:
        return {}
    try:
        members = msgspec.json.decode(payload)
    except (ValueError, RecursionError):
        return {}
    found = {path: _find(members, path.split(".")) for path in paths}
    return {path: value for path, value in found.items() if value is not None}


def _find(members: Any, path: Sequence[str]) -> Value:
    for name in path:
        members = members.get(name) if isinstance(members, dict) else None
    match members:
        case str():
            return members[:MAX_VALUE_LENGTH]
        case bool() | float():
            return members
        case int() if -(2**63) <= members < 2**63:  # what databases store
            return members
        case int():
            return str(members)[:MAX_VALUE_LENGTH]
        case _:
            return None


def _rank(value: Value) -> tuple[int, Any] | None:
    if value is None:
        return None
    return (1, value) if isinstance(value, str) else (0, float(value))
