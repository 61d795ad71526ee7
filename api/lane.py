"""Requests that share a thread: while one waits for what is written for many, the next one begins.

A front's time went into waking threads rather than into requests: each call that lets the
interpreter go wakes one that wants it. Here one thread reads, answers and waits for clients, and
each request is a greenlet of it; what may take long gives way first, and has the thread to itself
(`api.gunicorn_worker`). Decision 0171.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import Context
from typing import Final

from greenlet import getcurrent, greenlet

from shared.db.idempotency import FirstCall
from shared.db.jobs import JobRecord
from shared.job_intake import Entry, Intake, KeyedCall
from shared.jobs import RenderJob


class Turn(greenlet):
    """A request that began on a thread which leads, and the others that follow it.

    A new greenlet has the kernel give and take a stack: 5 µs of a request.
    """

    def __init__(self, lane: Lane) -> None:
        super().__init__()
        self.lane: Final = lane
        self.is_sharing = False
        self._answer: Callable[[], None] | None = None

    def take(self, answer: Callable[[], None]) -> None:
        """Begin a request; no variable of the one before is seen by it."""
        self._answer = answer
        self.is_sharing = True
        self.gr_context = Context()
        self.switch()

    def run(self) -> None:
        """Answer requests until the lane ends."""
        while self._answer is not None:
            self._answer()
            self._answer = None
            if not self.lane.is_ending:
                self.lane.spare.append(self)
                self.pause()

    def pause(self) -> None:
        """Let the thread go on with others."""
        thread = self.parent
        assert thread is not None
        thread.switch()


class Lane:
    """The requests of one thread that began while it led, and have not ended."""

    def __init__(self) -> None:
        self.leaving: Final[list[Turn]] = []  # they want the thread for themselves
        self.spare: Final[list[Turn]] = []  # they have ended
        self.is_ending = False
        self._waiting: list[tuple[Turn, Intake, Entry]] = []

    def __len__(self) -> int:
        """Count those that wait for their jobs to be written."""
        return len(self._waiting)

    def begin(self, answer: Callable[[], None]) -> None:
        """Begin a request; it has ended, waits or is leaving after this."""
        turn = self.spare.pop() if self.spare else Turn(self)
        turn.take(answer)

    def wait(self, turn: Turn, intake: Intake, entry: Entry) -> None:
        """Have a request wait until its job is written with those of others."""
        self._waiting.append((turn, intake, entry))
        turn.pause()

    def settle(self) -> None:
        """Write the jobs that are waited for, and go on with those requests."""
        waiting, self._waiting = self._waiting, []
        entries: dict[Intake, list[Entry]] = {}
        for _, intake, entry in waiting:
            entries.setdefault(intake, []).append(entry)
        for intake, gathered in entries.items():
            intake.write(gathered)
        for turn, _, _ in waiting:
            turn.switch()

    def end(self) -> None:
        """Bring all requests to their end, one after the other; none is begun here afterwards."""
        self.is_ending = True
        while self.spare:
            self.spare.pop().switch()
        self.settle()
        while self.leaving:
            self.leaving.pop().switch()


def give_way() -> None:
    """Let another thread wait for clients: what follows here may take long."""
    turn = getcurrent()
    if isinstance(turn, Turn) and turn.is_sharing:
        turn.is_sharing = False
        turn.lane.leaving.append(turn)
        turn.pause()


def accept(
    intake: Intake, job: RenderJob, record: JobRecord, call: KeyedCall | None
) -> FirstCall | None:
    """Put a job on record with those of the requests beside this one; see `Intake.accept`.

    Raises:
        Unavailable: the database is away; nothing is on record.
    """
    turn = getcurrent()
    if not (isinstance(turn, Turn) and turn.is_sharing):
        return intake.accept(job, record, call)
    entry = Entry(job, record, call)
    turn.lane.wait(turn, intake, entry)
    return entry.result()
