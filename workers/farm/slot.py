"""What a job tells the slot it runs in."""

from __future__ import annotations

from typing import Final, Protocol


class End(Protocol):
    """The end of a job whose commit was sent, and not answered yet."""

    def has_come(self) -> bool:
        """Wait for the answer; False where it was lost on its way."""

    def settle(self, *, has_next: bool) -> None:
        """Do what the answer says, once it is there; wait for it as long as it takes.

        `has_next` says whether the slot has another job, with which something may be left to do.
        """


class Slot(Protocol):
    """The slot of one child process; for its main thread."""

    def nearly_done(self) -> None:
        """Have the next job given to this slot, while the one at hand comes to its end."""

    def put_off(self, end: End) -> None:
        """Let the job at hand end, and settle its end as the next one begins."""

    def look(self) -> None:
        """Settle the end that was put off, if its answer is there."""

    def settle(self) -> None:
        """Settle the end that was put off, however long that takes: long work begins."""


class SingleSlot:
    """A slot that knows of no next job."""

    def nearly_done(self) -> None:
        """Do nothing."""

    def put_off(self, end: End) -> None:
        """Settle the end now."""
        end.settle(has_next=False)

    def look(self) -> None:
        """Do nothing: nothing is put off."""

    def settle(self) -> None:
        """Do nothing: nothing is put off."""


SINGLE_SLOT: Final = SingleSlot()
