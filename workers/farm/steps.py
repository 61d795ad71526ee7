"""What a worker's main process does beside its tasks, as steps of Celery's consumer.

It reports its presence once a second in a thread, so that a Redis server that does not answer delays no render,
and so that a stopping worker still reports what its children run. It applies drained queues, reverts counts of
deliveries when the connection is lost, and watches its child processes.
"""

from __future__ import annotations

import os
import signal
import socket
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from threading import Event, Thread
from typing import Any, ClassVar, Final, Self

from celery import bootsteps
from celery.worker import state as worker_state

from shared.errors import Unavailable
from shared.memory import read_memory
from shared.queue.commits import Commits
from shared.queue.names import RENDER_TASK
from shared.queue.queues import ADMITTED_AT, read_time_header
from shared.queue.states import JobStates
from shared.queue.worker_presence import REPORT_SECONDS, WorkerReport, remove_worker, report_worker
from shared.telemetry import metrics
from shared.telemetry.log import get_logger
from shared.telemetry.observer import NULL_OBSERVER, Observer

log: Final = get_logger(__name__)


class PresenceReporter:
    """Reports a worker and the tasks it holds, and reads which queues the operator has drained.

    Without Redis the last known state of the queues applies. `tracks_age` reports the age of the newest
    message of each queue, for brokers that do not.
    """

    def __init__(
        self, redis: Any, *, slots: int, tracks_age: bool = False, landlock: int = 0
    ) -> None:
        self.name: Final = f"{socket.gethostname()}:{os.getpid()}"
        self.queues: tuple[str, ...] = ()
        self.drained: AbstractSet[str] = frozenset()
        self._redis = redis
        self._states = JobStates(redis)
        self._slots = slots
        self._tracks_age = tracks_age
        self._landlock = landlock
        self._has_ended = Event()
        self._thread: Thread | None = None
        self._running: AbstractSet[str] = frozenset()
        self._closed: AbstractSet[str] = frozenset()

    def start(self, queues: Sequence[str]) -> None:
        """Report once, so that a new worker takes no task from a drained queue, then start the thread."""
        if self._thread is not None:
            return
        self.queues = tuple(queues)
        self.report()
        self._thread = Thread(target=self._report_repeatedly, name="presence", daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Sign off. Without Redis, the worker counts as lost seconds later."""
        self._has_ended.set()
        try:
            remove_worker(self._redis, self.name)
        except Unavailable as error:
            log.debug("worker not signed off", cause=repr(error.__cause__))

    def count_busy(self) -> int:
        """Return how many slots run a task."""
        return min(len(copy_requests(worker_state.active_requests)), self._slots)

    def report(self) -> None:
        """Report once."""
        # After a lost connection, Celery clears the reserved requests, but not the active ones.
        requests = copy_requests(worker_state.reserved_requests) + copy_requests(
            worker_state.active_requests
        )
        held = {request.id: request for request in requests}
        by_queue = Counter(_get_queue(request) for request in held.values())
        word = WorkerReport(
            self.name, self.queues, self._slots, self.count_busy(), dict(by_queue), self._landlock
        )
        passed = _find_newest(held.values()) if self._tracks_age else {}
        try:
            self.drained = report_worker(self._redis, word, list(held), passed=passed)
        except Unavailable as error:
            log.warning("worker not reported", cause=repr(error.__cause__))

    def kill_unresponsive_children(self) -> None:
        """Kill each child that still runs a job a second after it was seen to have ended.

        A child usually stops by itself (`workers.render.budget`), but not in C code that holds the
        interpreter. The message is delivered again, and its job has then ended.
        """
        requests = {request.id: request for request in copy_requests(worker_state.active_requests)}
        # Only jobs that also ran at the last check: most renders end before the next.
        watched = [job_id for job_id in requests if job_id in self._running]
        self._running = frozenset(requests)
        closed = self._find_closed(watched)
        for job_id in closed & self._closed:
            _kill(requests[job_id])
        self._closed = closed

    def _find_closed(self, job_ids: Iterable[str]) -> AbstractSet[str]:
        try:
            return {job_id for job_id in job_ids if self._states.is_stopped(job_id)}
        except Unavailable as error:
            log.warning("ends not looked for", cause=repr(error.__cause__))
            return frozenset()

    def _report_repeatedly(self) -> None:
        while not self._has_ended.wait(REPORT_SECONDS):
            try:
                self.report()
                self.kill_unresponsive_children()
            except Exception as error:
                log.error("presence report failed", exc_info=error)


class FarmStep(bootsteps.StartStopStep):  # type: ignore[misc] # Celery has no types
    """A step of one worker, which `of` binds to its subject, since Celery instantiates it."""

    requires: ClassVar[set[str]] = {"celery.worker.consumer.tasks:Tasks"}
    subject: ClassVar[Any]

    @classmethod
    def of(cls, subject: object) -> type[Self]:
        """Return the step class of one worker."""
        return type(cls.__name__, (cls,), {"subject": subject})


class RepeatedStep(FarmStep):
    """A step that runs `check` every `seconds` while the consumer is connected."""

    seconds: ClassVar[float]

    def __init__(self, consumer: Any, **options: Any) -> None:
        super().__init__(consumer, **options)
        self._timer: Any = None

    def start(self, consumer: Any) -> None:
        """Run it before the first message; Celery calls it again after each reconnect."""
        self.check(consumer)
        self._timer = consumer.timer.call_repeatedly(self.seconds, self.check, (consumer,))

    def stop(self, consumer: Any) -> None:
        """Stop repeating."""
        del consumer
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def check(self, consumer: Any) -> None:
        """Run once."""
        raise NotImplementedError


class DrainStep(RepeatedStep):
    """Consumes from all queues of the worker except the drained ones, as they change.

    The effect of `celery control cancel_consumer` and `add_consumer` on a queue lasts until the
    operator drains or resumes that queue.
    """

    seconds = 0.5
    subject: ClassVar[PresenceReporter]

    def __init__(self, consumer: Any, **options: Any) -> None:
        super().__init__(consumer, **options)
        self._applied: AbstractSet[str] = frozenset()

    def start(self, consumer: Any) -> None:
        """Start the reports, then apply drained queues."""
        self.subject.start(list(consumer.app.amqp.queues.consume_from))
        super().start(consumer)

    def check(self, consumer: Any) -> None:
        """Apply the drained queues that the reports have found."""
        reporter = self.subject
        drained = reporter.drained & set(reporter.queues)
        if drained == self._applied:
            return
        resumed = self._applied - drained
        self._applied = drained
        selected = consumer.app.amqp.queues.consume_from
        consuming = [queue for queue in reporter.queues if queue in selected]
        wanted = [
            queue
            for queue in reporter.queues
            if queue not in drained and (queue in consuming or queue in resumed)
        ]
        # All of them if one is resumed: queues are consumed in the order in which they were added.
        for queue in consuming if resumed else drained & set(consuming):
            consumer.cancel_task_queue(queue)
        if resumed:
            for queue in wanted:
                consumer.add_task_queue(queue)
        log.info("drained queues changed", drained=sorted(drained))


def copy_requests(requests: Iterable[Any]) -> list[Any]:
    """Return the elements of a set that the main thread changes at the same time."""
    while True:
        try:
            return list(requests)
        except RuntimeError:
            continue


def _get_queue(request: Any) -> str:
    delivery: Mapping[str, Any] = request.delivery_info or {}
    return str(delivery.get("routing_key", ""))


def _find_newest(requests: Iterable[Any]) -> dict[str, float]:
    """Return the latest admission time of the tasks of each queue, in seconds since 1970."""
    newest: dict[str, float] = {}
    for request in requests:
        admitted_at = read_time_header(request.request_dict, ADMITTED_AT)
        if admitted_at is not None:
            queue = _get_queue(request)
            newest[queue] = max(admitted_at, newest.get(queue, admitted_at))
    return newest


def _kill(request: Any) -> None:
    pid = request.worker_pid
    if pid:
        log.warning("child killed, it would not stop", job=request.id, child=pid)
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


class RedeliveryStep(FarmStep):
    """Reverts the delivery count of each running job when the connection is lost.

    Running jobs continue, but the broker delivers their messages again. These deliveries must not count as
    crashes: two lost connections would fail a harmless job.
    """

    subject: ClassVar[Commits]

    def stop(self, consumer: Any) -> None:
        """Revert the counts; Celery calls it when the connection is lost and when the worker stops."""
        del consumer
        for request in copy_requests(worker_state.active_requests):
            if request.name != RENDER_TASK or request.acknowledged:
                continue
            try:
                self.subject.uncount_delivery(request.id)
            except Unavailable as error:
                log.warning("delivery not taken back", job=request.id, cause=repr(error.__cause__))


_RECYCLED: Final = "recycled"
_SIGNALS: Final = {
    -int(signal.SIGKILL): "killed",
    -int(signal.SIGABRT): "watchdog",
    -int(signal.SIGTERM): "terminated",
}
EXIT_REASONS: Final = (_RECYCLED, *_SIGNALS.values(), "crashed", "failed")


class Children:
    """The child processes of one worker by slot, in its main process.

    `observer` is set before the first child starts.
    """

    observer: Observer = NULL_OBSERVER

    def __init__(self) -> None:
        self._slots: dict[int, int] = {}  # slot to process id
        self.exit_codes: dict[int, int] = {}

    def measure_memory(self) -> Mapping[tuple[str, ...], float]:
        """Return the resident memory in bytes of the child in each slot."""
        return {(str(slot),): resident_bytes(pid) for slot, pid in list(self._slots.items())}

    def record_exits(self) -> None:
        """Record the exit codes of ended children before the pool collects them."""
        for pid in self._slots.values():
            if pid not in self.exit_codes and (code := _peek_exit_code(pid)) is not None:
                self.exit_codes[pid] = code

    def update(self, pids: Sequence[int]) -> None:
        """Count starts and exits since the last call, given the current process ids."""
        for slot, pid in list(self._slots.items()):
            if pid not in pids:
                del self._slots[slot]
                reason = _find_reason(self.exit_codes.pop(pid, None))
                self.observer.count(metrics.CHILD_EXITS, reason)
        known = set(self._slots.values())
        for pid in pids:
            if pid not in known:
                self._slots[self._free_slot()] = pid
                self.observer.count(metrics.CHILD_STARTS)

    def _free_slot(self) -> int:
        return next(slot for slot in range(len(self._slots) + 1) if slot not in self._slots)


class ChildWatch(RepeatedStep):
    """Has the pool collect ended children five times a second.

    Celery checks when a child's pipe closes, a moment before the child can be collected, and then
    only 5 s later: a killed render would wait that long.
    """

    seconds = 0.2
    subject: ClassVar[Children]

    def check(self, consumer: Any) -> None:
        """Collect ended children, and count them."""
        self.subject.record_exits()
        consumer.pool.maintain_pool()
        self.subject.update(consumer.pool.info["processes"])


def _peek_exit_code(pid: int) -> int | None:
    """Return the exit code of an ended child that is not collected yet, None otherwise."""
    try:
        found = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return None
    if found is None:
        return None
    return found.si_status if found.si_code == os.CLD_EXITED else -found.si_status


def _find_reason(exit_code: int | None) -> str:
    """Return the reason of an exit; a negative code is the signal that ended the process, None is unknown."""
    # billiard's exit codes: 155 (0x9B) after the maximal number of jobs, 0 otherwise.
    if exit_code in (None, 0, 0x9B):
        return _RECYCLED
    return _SIGNALS.get(exit_code, "crashed" if exit_code < 0 else "failed")


def resident_bytes(pid: int) -> int:
    """Return the resident memory of a process, 0 if it has just ended."""
    try:
        return read_memory(pid).resident
    except OSError:
        return 0
