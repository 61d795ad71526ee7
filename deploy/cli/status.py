"""`pressroom status`: the state of a farm on one screen."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from deploy.cli.farm import FarmLocation, find_farm
from deploy.cli.output import CommandFailed, print_result, write_table
from deploy.cli.status_report import collect_status

_MB: Final = 1024 * 1024
_NONE: Final = "-"


def run_status(arguments: argparse.Namespace) -> int:
    """Print the status of a farm; return 1 if there are problems."""
    found = collect_status(_find_existing(arguments.data))
    if arguments.json:
        print_result(found, as_json=True)
    else:
        print(write_status(found))
    return 1 if found["problems"] else 0


def write_status(found: dict[str, Any]) -> str:
    """Return the status as text for a terminal."""
    parts = [_head(found)]
    for name, write in _SECTIONS.items():
        if name in found:
            parts.append(write(found[name]))
    return "\n\n".join(parts)


def _head(found: dict[str, Any]) -> str:
    farm = found["farm"]
    where = " ".join(filter(None, [farm["url"], farm["data"] and f"({farm['data']})"]))
    problems = found["problems"]
    lines = [f"Pressroom {where}".rstrip(), f"checked at {farm['looked_at']}"]
    lines += [f"PROBLEM: {problem}" for problem in problems] or ["no problems"]
    drained = [_name(queue) for queue in found.get("queues", ()) if queue["drained_since"]]
    if drained:
        lines.append(f"drained until resumed by an operator: {', '.join(drained)}")
    return "\n".join(lines)


def _processes(shown: Sequence[dict[str, Any]]) -> str:
    rows = [
        [
            each["name"],
            str(each["pid"] or "down"),
            _span(each["up_seconds"]),
            _NONE if each["memory_bytes"] is None else f"{each['memory_bytes'] / _MB:.0f} MB",
            str(each["restarts"]),
        ]
        for each in shown
    ]
    return write_table(["process", "pid", "up", "memory", "restarts"], rows)


def _queues(shown: Sequence[dict[str, Any]]) -> str:
    rows = [
        [
            _name(each),
            str(each["waiting"]),
            _span(each["oldest_seconds"]) if each["waiting"] else _NONE,
            str(each["running"]),
            f"drained since {each['drained_since']}" if each["drained_since"] else "",
        ]
        for each in shown
    ]
    return write_table(["queue", "waiting", "oldest", "running", ""], rows)


def _name(shown: dict[str, Any]) -> str:
    return f"{shown['shard']}: {shown['name']}" if "shard" in shown else shown["name"]


def _workers(shown: Sequence[dict[str, Any]]) -> str:
    busy, slots = sum(each["busy"] for each in shown), sum(each["slots"] for each in shown)
    rows = [
        [
            _name(each),
            ",".join(each["queues"]),
            f"{each['busy']} of {each['slots']}",
            f"Landlock {each['landlock']}" if each["landlock"] else "none",
        ]
        for each in shown
    ]
    total = [f"all {len(shown)}", "", f"{busy} of {slots}", ""]
    return write_table(["worker", "takes from", "busy", "sandbox"], [*rows, total])


def _stores(shown: dict[str, Any]) -> str:
    rows = [
        [name.replace("_", " "), f"{each['milliseconds']} ms" if each else "does not respond"]
        for name, each in shown.items()
    ]
    return write_table(["store", "response time"], rows)


def _disks(shown: Sequence[dict[str, Any]]) -> str:
    rows = [
        [each["path"], f"{each['free_bytes'] / _MB:.0f} MB", f"{each['total_bytes'] / _MB:.0f} MB"]
        for each in shown
    ]
    return write_table(["disk of", "free", "of"], rows)


def _ledger(shown: dict[str, Any]) -> str:
    return (
        f"ledger: {shown['events_pending']} pending events, {_span(shown['lag_seconds'])} behind, "
        f"{shown['events_dead']} unreadable events"
    )


def _jobs(count: int) -> str:
    return f"unfinished asynchronous renders: {count}"


def _backlog(left: dict[str, int]) -> str:
    return (
        f"unfinished documents and renders: {left['documents']:,}; "
        f"unfinished batches: {left['batches']:,}"
    )


def _batches(shown: Sequence[dict[str, Any]]) -> str:
    if not shown:
        return "no batch is running"
    rows = [
        [
            each["id"],
            each["account_id"],
            f"{each['succeeded'] + each['failed']} of {each['documents']}",
            str(each["failed"]),
            each["created_at"],
        ]
        for each in shown
    ]
    return write_table(["batch", "account", "done", "failed", "since"], rows)


def _errors(shown: Sequence[dict[str, Any]]) -> str:
    if not shown:
        return "no errors in the logs"
    lines = ["last errors"]
    for each in shown:
        ids = " ".join(filter(None, [each["job_id"], each["request_id"]]))
        told = ": ".join(filter(None, [each["event"], each["cause"]]))
        lines.append(f"  {each['at']}  {each['process']}  {told}  {ids}".rstrip())
    return "\n".join(lines)


_SECTIONS: Final[dict[str, Callable[[Any], str]]] = {
    "processes": _processes,
    "queues": _queues,
    "workers": _workers,
    "stores": _stores,
    "disks": _disks,
    "ledger": _ledger,
    "jobs_unfinished": _jobs,
    "batch_backlog": _backlog,
    "batches": _batches,
    "last_errors": _errors,
}


def _span(seconds: float | None) -> str:
    if seconds is None:
        return _NONE
    if seconds < 60:
        return f"{seconds:g} s"
    minutes = int(seconds) // 60
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    if days:
        return f"{days} d {hours} h"
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"


def _find_existing(data: Path | None) -> FarmLocation:
    place = find_farm(data)
    if place.folder is not None and not place.folder.database.exists():
        raise CommandFailed(f"{place.folder.path} contains no farm")
    return place
