"""Output plans of batches: the order of the documents, the files that they go to, and an index of them.

A batch with a plan is a run: its documents are rendered in the order of the body, each with the values
that the plan needs (`read_values`), and written in the order of the plan at its end (decision 0502).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from itertools import groupby
from typing import Annotated, Any, Final

import msgspec

from shared.errors import ServiceError
from shared.identifiers import SLUG
from shared.records import Record, ShownRecord, Timestamp, doc

MAX_FILES: Final = 500  # of a run, which are open together
MAX_VALUE_LENGTH: Final = 200  # characters of a value in the order, the index and mails
_NAMES: Final = r"[^.\x00-\x1f]{1,100}(\.[^.\x00-\x1f]{1,100}){0,9}$"
_Path = Annotated[str, msgspec.Meta(pattern=f"^(?!-){_NAMES}", max_length=300)]
_Order = Annotated[str, msgspec.Meta(pattern=f"^-?{_NAMES}", max_length=300)]
_Code = Annotated[str, msgspec.Meta(pattern="^[a-z0-9-]{1,60}$", examples=["marks-zone"])]
_Size = Annotated[int, msgspec.Meta(ge=1, le=1_000_000)]
_MARK_FORMAT: Final = (
    r"^([ -z|~]|\{(job|inserts|(set|sheet|count)(:0[1-9])?)\}){1,20}$"  # 180 characters at most
)
_MAX_MARK_LENGTH: Final = 80  # characters, as of a bar code in a document
_DIGITS_OF_MARKS: Final = re.compile(r"\{(?:set|sheet|count):0([1-9])\}|\{(inserts)\}")
PROOF: Final = "proof"  # why a document is held until the proof is released
Value = str | int | float | bool | None


class Priority(StrEnum):
    """How urgent a batch is; see `shared.batches.slice_scheduling`."""

    EXPRESS = "express"
    NORMAL = "normal"
    NIGHT = "night"


class IndexFormat(StrEnum):
    """The format of the index of a run."""

    CSV = "csv"
    NDJSON = "ndjson"


class Split(Record, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Where another file begins: after so many documents or sheets, or where a value changes."""

    documents: Annotated[_Size | None, doc("Most documents of a file.")] = None
    sheets: Annotated[_Size | None, doc("Most sheets of a file; a document is not divided.")] = None
    value: Annotated[
        _Path | None, doc("A path into the payload: each value has files of its own.")
    ] = None


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
        str, doc("Name of the job.", examples=["NIGHT-7"]), msgspec.Meta(pattern="^[ -~]{0,20}$")
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


class Condition(Record, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What a value of the payload is where a document is held: everything that is given."""

    value: Annotated[_Path, doc("A path into the payload.")]
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
        is_number = isinstance(found, int | float) and not isinstance(found, bool)
        amount = float(found) if is_number and found is not None else None
        return (
            found is not None
            and (not self.one_of or found in self.one_of)
            and (self.above is None or (amount is not None and amount > self.above))
            and (self.below is None or (amount is not None and amount < self.below))
        )


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


class Plan(Record, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What is done with the documents of a batch."""

    sort: Annotated[
        tuple[_Order, ...],
        doc(
            "Paths into the payload, such as address.postcode, the first one first; -path descends."
        ),
        msgspec.Meta(max_length=8),
    ] = ()
    split: Split = Split()
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
    hold: Hold = Hold()
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
        named = [path.removeprefix("-") for path in self.sort]
        named += [path for path in (self.split.value, self.household) if path]
        named += [condition.value for condition in self.hold.conditions]
        return list(dict.fromkeys([*named, *self.fields]))

    def find_hold(
        self, values: Mapping[str, Value], warnings: Iterable[str], *, left_out: int
    ) -> str | None:
        """Return why a document is held, None for one that is not: its first warning that holds it, the first
        condition, or the proof. Warnings without a code, because they were too many, hold it too.
        """
        wanted = self.hold.warnings
        found = next((code for code in warnings if "any" in wanted or code in wanted), None)
        if found or (wanted and left_out):
            return f"warning:{found or 'more'}"
        for condition in self.hold.conditions:
            if condition.holds(values.get(condition.value)):
                return f"condition:{condition.value}"
        return PROOF if self.hold.proof else None

    def sheets_of(self, pages: int) -> int:
        """Return the number of sheets of a document."""
        return (pages + 1) // 2 if self.duplex else pages


class StoredPlan(ShownRecord, frozen=True):
    """A version of a stored plan; it never changes."""

    name: Annotated[str, doc("Name of the plan.")]
    version: Annotated[int, doc("From 1; a plan that changes has another version.", minimum=1)]
    plan: Plan
    created_at: Annotated[Timestamp, doc("When this version was stored.")]

    def __str__(self) -> str:
        """Return its reference."""
        return f"{self.name}@{self.version}"


class RunDocument(msgspec.Struct, frozen=True):
    """A document that was rendered: its pages, and the values of the plan's paths."""

    index: int
    pages: int
    values: Mapping[str, Value]


class RunFile(msgspec.Struct, frozen=True):
    """The documents of one file of a run, in order. `value` is that of `split.value`."""

    documents: list[RunDocument]
    value: Value = None


def arrange(plan: Plan, documents: Iterable[RunDocument]) -> list[RunFile]:
    """Return the files of a run with their documents, in order.

    Numbers stand before texts, texts are in the order of their characters, documents without a value
    last; equal ones stay in the order of the body.

    Raises:
        TooManyFilesError: there are more than `MAX_FILES`.
    """
    ordered = list(documents)
    for path in reversed(
        [*plan.sort] if plan.split.value is None else [plan.split.value, *plan.sort]
    ):
        name = path.removeprefix("-")
        last = (2, "") if path == name else (-1, "")
        ordered.sort(key=lambda each: _rank(each.values.get(name)) or last, reverse=path != name)
    files: list[RunFile] = []
    sheets = 0
    for members in group_sets(plan, ordered):
        value = members[0].values.get(plan.split.value) if plan.split.value else None
        own = sum(plan.sheets_of(document.pages) for document in members)
        documents_then = len(files[-1].documents) + len(members) if files else 0
        is_full = _is_full(plan.split, documents_then, sheets + own)
        if not files or is_full or files[-1].value != value:
            if len(files) == MAX_FILES:
                raise TooManyFilesError(
                    f"The plan divides the documents into more than {MAX_FILES} files: split into larger ones."
                )
            files.append(RunFile([], value))
            sheets = 0
        files[-1].documents.extend(members)
        sheets += own
    return files


def group_sets(plan: Plan, documents: Iterable[RunDocument]) -> list[list[RunDocument]]:
    """Return documents, in the order of a run or of one of its files, as sets: each goes to one envelope.

    A document without a key of a household is a set. So is one whose key may have been cut: another one may
    begin alike.
    """

    def find_key(document: RunDocument) -> tuple[Value, ...]:
        key = document.values.get(plan.household) if plan.household else None
        if key in (None, "") or (isinstance(key, str) and len(key) >= MAX_VALUE_LENGTH):
            return (document.index,)
        return (key, document.values.get(plan.split.value) if plan.split.value else None)

    return [list(members) for _, members in groupby(documents, find_key)]


class TooManyFilesError(ValueError):
    """The plan makes too many files."""


def check_plan(plan: Plan) -> None:
    """Check what the types of its fields do not say.

    Raises:
        ServiceError: 400, with the field and what is accepted.
    """
    if plan.split.documents and plan.split.sheets:
        raise ServiceError(400, "Invalid plan: split takes documents or sheets, not both.")
    if plan.marks is not None:
        _check_format(plan.marks)
    for condition in plan.hold.conditions:
        if condition == Condition(condition.value):
            raise ServiceError(
                400,
                f"Invalid plan: the condition of hold on {condition.value} has no one_of, above, below or missing.",
            )


def _check_format(marks: Marks) -> None:
    digits = _DIGITS_OF_MARKS.sub(lambda found: "0" * int(found[1] or 4), marks.format)
    longest = digits.replace("{job}", marks.job).replace("{inserts}", "0" * 4)
    if len(longest) > _MAX_MARK_LENGTH:
        raise ServiceError(
            400,
            f"Invalid plan: the format of marks makes {len(longest)} characters; accepted are up to "
            f"{_MAX_MARK_LENGTH}.",
        )
    if marks.type is MarkType.ITF and (not digits.isdecimal() or len(digits) % 2):
        raise ServiceError(
            400,
            "Invalid plan: the format of marks of type itf takes digits, and numbers with their width such as "
            "{set:06}, that are an even number of digits together.",
        )


def check_plan_name(name: str) -> None:
    """Check that a text has the form of a plan's name.

    Raises:
        ServiceError: 400, with the rule.
    """
    if len(name) > 60 or not SLUG.match(name):
        raise ServiceError(
            400,
            f"Invalid name {name[:100]!r} of a plan: accepted are up to 60 lower-case letters, digits and "
            "hyphens between them.",
        )


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


def _is_full(split: Split, documents: int, sheets: int) -> bool:
    if split.documents is not None and documents > split.documents:
        return True
    return split.sheets is not None and sheets > split.sheets
