"""Checks of output plans that the types of their fields do not make."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import pairwise
from typing import Final

import msgspec

from shared.batches.plans import MAX_FILES, Condition, Marks, MarkType, Plan, PlanOutput
from shared.errors import ServiceError
from shared.settings import get_limits

_MAX_MARK_LENGTH: Final = 80  # characters, as of a bar code in a document
_DIGITS_OF_MARKS: Final = re.compile(r"\{(?:set|sheet|count):0([1-9])\}|\{(inserts)\}")


def check_plan(plan: Plan, documents: int = 0) -> None:
    """Check what the types of its fields do not say, and that a number of documents has not too many files.

    Raises:
        ServiceError: 400, with the field and what is accepted.
    """
    split, marks, classes = plan.split, plan.marks, plan.weight.classes if plan.weight else ()
    feeders = {insert.feeder for insert in plan.inserts}
    cuts = [split, plan.bundle] if plan.bundle else [split]
    each = 0 if plan.household else split.documents or 0
    faults = {
        f"split.documents {each:,} makes more than {MAX_FILES} files of the {documents:,} documents": (
            each and documents > each * MAX_FILES
        ),
        "split and bundle take documents, sheets, weight or bytes, one of them": any(
            sum(map(bool, cut.sizes)) > 1 for cut in cuts
        ),
        "split and bundle by weight need weight, with that of a sheet": (
            not plan.weight and any(cut.weight for cut in cuts)
        ),
        "bundle is of merged files, not of ZIPs": plan.is_package and plan.bundle,
        "an archive keeps documents as they were rendered, without duplex, marks, household and weight.paper": (
            plan.output is PlanOutput.ARCHIVE and plan.has_sheets
        ),
        "inserts are those of the plan or of marks, not both": marks and marks.inserts and feeders,
        "two inserts have one feeder": len(feeders) < len(plan.inserts),
        "up_to of weight.classes rises from one to the next": any(
            one.up_to >= other.up_to for one, other in pairwise(classes)
        ),
    }
    for fault, is_there in faults.items():
        if is_there:
            raise ServiceError(400, f"Invalid plan: {fault}.")
    if marks is not None:
        _check_format(marks)
    for name, value in msgspec.structs.asdict(plan.keep).items():
        most = getattr(get_limits(), name)
        if value is not None and not 1 <= value <= most:
            raise ServiceError(
                400,
                f"Invalid plan: keep.{name} {value} is not from 1 to {most}, the service's; result_hours 0 is a setting "
                "of accounts.",
            )
    _check_conditions("hold", plan.hold.conditions)
    _check_conditions("split.by_hand", split.by_hand)
    for insert in plan.inserts:
        _check_conditions("inserts", insert.conditions)


def _check_conditions(member: str, conditions: Iterable[Condition]) -> None:
    for condition in conditions:
        if condition == Condition(condition.value):
            raise ServiceError(
                400,
                f"Invalid plan: the condition of {member} on {condition.value} has no one_of, above, below or "
                "missing.",
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
