"""The commands of `pressroom`: a new command is an entry here, and a function that runs it."""

from __future__ import annotations

import argparse
import difflib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from textwrap import fill
from typing import Any, Final, NoReturn

from deploy.embedded.data_folder import DEFAULT_FOLDER
from shared.auth.scopes import ALL_SCOPES, Scope, parse_scopes
from shared.queue.names import QUEUES
from shared.usage.periods import find_period

_INVALID_CHOICE: Final = re.compile(r"invalid choice: '(.*)' \(choose from (.*)\)")
# The names and options of `ArgumentParser.add_argument`; those of a list exclude each other.
Argument = tuple[tuple[str, ...], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Command:
    """A command: its help, the module and function that run it, its arguments."""

    help: str
    run: str
    arguments: tuple[Argument | list[Argument], ...] = ()
    description: str | None = None


def _value(
    names: str, text: str | None = None, metavar: str | None = None, **options: Any
) -> Argument:
    return tuple(names.split()), {"help": text, "metavar": metavar} | options


def _path(names: str, metavar: str, text: str | None = None, **options: Any) -> Argument:
    return _value(names, text, metavar, type=Path, **options)


def _flag(names: str, text: str | None = None, **options: Any) -> Argument:
    return tuple(names.split()), {"help": text, "action": "store_true"} | options


def _number(lowest: int, highest: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        if not (text.isascii() and text.isdigit() and lowest <= int(text) <= highest):
            raise argparse.ArgumentTypeError(f"{text!r} is not a number from {lowest} to {highest}")
        return int(text)

    return parse


def _seconds(text: str) -> float:
    if not (text.isascii() and text.isdigit() and int(text) <= 24 * 3600):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds from 0 to 86400")
    return float(text)


def _midnight(text: str) -> datetime:
    try:
        return datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} is not a date such as 2026-11-30") from error


def _day_of_period(text: str) -> date:
    day = _midnight(text).date()
    try:
        find_period(day, renewal_day=31)  # fails at the ends of the calendar
    except (ValueError, OverflowError) as error:
        raise argparse.ArgumentTypeError(f"{text!r} is not a date such as 2026-11-30") from error
    return day


def _timestamp(text: str) -> datetime:
    try:
        instant = datetime.fromisoformat(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not an ISO 8601 timestamp such as 2027-01-31T12:00:00Z"
        ) from error
    return instant if instant.tzinfo else instant.replace(tzinfo=UTC)


def _scopes(text: str) -> frozenset[Scope]:
    try:
        return parse_scopes(text.split(","))
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


_JSON: Final = _flag("--json", "print one JSON object")
_FOLDER: Final = _path(
    "--data", "DIR", f"data folder of the farm ({DEFAULT_FOLDER})", default=DEFAULT_FOLDER
)
# Without it the URLs of the environment, then the default folder.
_FARM: Final = _path(
    "--data",
    "DIR",
    "data folder of an embedded farm (PRESSROOM_DATABASE_URL and PRESSROOM_REDIS_URL, else"
    f" {DEFAULT_FOLDER})",
)
_RUN: Final = _value("batch_id", "a batch with a plan", "BATCH")
_HELD: Final = (
    _value("--documents", "indexes of documents, such as 0,4,17 (all that are held)", "LIST"),
    _value("--reason", "why they are held, such as proof, warning or condition", "REASON"),
)
_REMOTE: Final = (
    _value("--url", "URL of the farm (PRESSROOM_URL)"),
    _value("--key", "API key (PRESSROOM_KEY)"),
)
_ACCOUNT: Final = _value("account_id", metavar="ACCOUNT_ID")
_KEY: Final = _value("key_id", metavar="KEY_ID")
_PLANS: Final = ("free", "paid")
_QUEUE: Final = _value("queue", ", ".join(QUEUES), "NAME")
_SAMPLE: Final = _flag("--sample", "with the sample values of the template")
_DOCUMENT: Final = _path("document", "FILE.xml")
_INPUTS: Final = (
    _path("document", "DOCUMENT.xml", nargs="?"),
    _path("--template", "T.xml", "template that the document overlays"),
    _path("--data", "D.json|D.csv", "data to merge"),
    _path("--markdown", "F.md", "text for one of the flows"),
    _value("--flow", "the flow that --markdown replaces (body)", "NAME"),
    _path("--images", "DIR", "image NAME is DIR/NAME.png"),
    _path(
        "--templates",
        "DIR",
        "templates to extend or import: NAME@... is DIR/NAME.xml (default: the template's folder)",
    ),
    _path("--fonts", "DIR", "font NAME is DIR/NAME.ttf"),
)


def _output(metavar: str, text: str, **options: Any) -> Argument:
    return _path("-o", metavar, text, dest="output", **options)


# The first words of commands of two.
GROUPS: Final = {
    "account": "create, change and list accounts",
    "key": "create, revoke and list API keys",
    "ledger": "export the usage ledger, and see to events that are missing from it",
    "audit": "export and verify the log of who changed what",
    "job": "show recorded jobs",
    "queue": "pause and resume queues",
    "shards": "change a farm's Redis servers, or find an account's",
    "einvoice": "check and show received electronic invoices",
    "rules": "rule packs of electronic invoices",
    "form": "read filled-in forms",
    "template": "keep the templates of a farm as files, and publish them",
    "messages": "check, export and import the translations of a document",
    "run": "release, reject and reprint the documents of a run",
}
COMMANDS: Final = {
    "up": Command(
        "run the whole farm on this machine",
        "up.run_up",
        (
            _value(
                "--port",
                "port of the front; 0 is any free one (8000)",
                type=_number(0, 65535),
                default=8000,
            ),
            _value("--workers", "number of worker processes (2)", type=_number(1, 256)),
            _value(
                "--shards",
                "number of Redis servers, each with its own workers (unchanged; 1 for a new folder)",
                "N",
                type=_number(1, 16),
            ),
            _FOLDER,
            _flag("--logs", "print the logs of all processes"),
            _flag("--seed", "create a developer account once and print its key"),
        ),
    ),
    "status": Command(
        "show processes, queues, workers, stores and the last errors",
        "status.run_status",
        (_FARM, _JSON),
        "The exit code is 0 without problems and 1 otherwise.",
    ),
    "account create": Command(
        "create an account with a key",
        "accounts.run_create",
        (
            _value("--email", "address of the account's user", required=True),
            _value("--name", "name of the account's user (the email address)"),
            _value("--plan", "plan (free)", choices=_PLANS, default="free"),
            _value("--max-pages", "pages per billing period (1000)", "N", type=int, default=1000),
            _value("--max-draft-pages", "draft pages per period (no limit)", "N", type=int),
            _value("--renewal-day", "day of the month, 1 to 31 (1)", "D", type=int, default=1),
            _flag("--no-workspace", "without slugs, images and fonts"),
            _flag("--unverified", "the email address is not verified"),
            *(_FARM, _JSON),
        ),
    ),
    "account set": Command(
        "change an account",
        "accounts.run_set",
        (
            _ACCOUNT,
            [
                _flag("--disabled", default=None),
                _flag("--enabled", action="store_false", dest="disabled", default=None),
            ],
            [
                _flag("--verified", default=None),
                _flag("--unverified", action="store_false", dest="verified", default=None),
            ],
            _value("--plan", choices=_PLANS),
            _value("--max-pages", metavar="N", type=int),
            _value("--max-draft-pages", metavar="N", type=int),
            _value("--rate-limit", metavar="N/second|N/minute"),
            _value(
                "--result-hours", "hours that results are kept; 0: until fetched", "N", type=int
            ),
            _value("--record-days", "days that records are kept", "N", type=int),
            *(_FARM, _JSON),
        ),
    ),
    "account list": Command("list all accounts", "accounts.run_list", (_FARM, _JSON)),
    "account usage": Command(
        "report the usage of an account, or of all",
        "accounts.run_usage",
        (
            _value("account_id", "an account (all)", "ACCOUNT_ID", nargs="?"),
            _value(
                "--date", "a day, UTC, of the billing period (today)", "DAY", type=_day_of_period
            ),
            *(_FARM, _JSON),
        ),
    ),
    "key create": Command(
        "create a key",
        "keys.run_create",
        (
            _ACCOUNT,
            _value(
                "--expires-at",
                "ISO 8601 timestamp with offset, or a UTC date",
                "TS",
                type=_timestamp,
            ),
            _value(
                "--scopes",
                f"scopes of the key, of {','.join(Scope)}; default is all",
                "LIST",
                type=_scopes,
                default=ALL_SCOPES,
            ),
            *(_FARM, _JSON),
        ),
    ),
    "key revoke": Command("revoke a key permanently", "keys.run_revoke", (_KEY, _FARM, _JSON)),
    "key restore": Command(
        "let a person sign in again whose key of single sign-on is revoked",
        "keys.run_restore",
        (_KEY, _FARM, _JSON),
    ),
    "key list": Command("list the keys of an account", "keys.run_list", (_ACCOUNT, _FARM, _JSON)),
    "ledger export": Command(
        "write the metered jobs of a date range",
        "ledger.run_export",
        (
            _value(
                "--from", "first day, such as 2026-10-01 (all)", "DAY", dest="since", type=_midnight
            ),
            _value(
                "--to",
                "day after the last, such as 2026-11-01 (all)",
                "DAY",
                dest="until",
                type=_midnight,
            ),
            _value("--account", "only this account (all)", "ACCOUNT_ID"),
            _value("--format", "output format (csv)", choices=("csv", "ndjson"), default="csv"),
            _output("FILE", "file, replaced if it exists (standard output)"),
            _FARM,
        ),
        "Rows are in the order in which their jobs ended. Dates are in UTC. Jobs of the last minutes may"
        " not be in the ledger yet.",
    ),
    "ledger dead": Command(
        "show the usage events that the counter could not read",
        "ledger.run_dead",
        (
            [
                _flag("--retry", "let the counter read them again, each job once"),
                _flag(
                    "--delete", "delete them after they are shown: their pages are never counted"
                ),
            ],
            _FARM,
        ),
        "Prints a JSON object a line.",
    ),
    "audit export": Command(
        "write the audit log, a JSON object a line",
        "ledger.run_audit_export",
        (_output("FILE", "file, replaced if it exists (standard output)"), _FARM),
    ),
    "audit verify": Command(
        "verify that no entry of the audit log was changed, added or removed",
        "ledger.run_audit_verify",
        (_path("file", "FILE", "an exported log (that of the farm)", nargs="?"), _FARM),
    ),
    "job show": Command(
        "show one job",
        "jobs.run_show",
        (_value("job_id", "a job, or a document of a batch", "ID"), _FARM, _JSON),
    ),
    "queue drain": Command(
        "stop workers from starting jobs of a queue",
        "queues.run_drain",
        (
            _value(
                "--wait",
                "wait until no job of the queue runs; exit 1 if jobs still run after this time",
                "SECONDS",
                type=_seconds,
            ),
            *(_QUEUE, _FARM, _JSON),
        ),
    ),
    "queue resume": Command(
        "let workers start jobs of a queue again", "queues.run_resume", (_QUEUE, _FARM, _JSON)
    ),
    "shards adopt": Command(
        "use the servers of PRESSROOM_REDIS_URL from now on; the farm must be stopped",
        "shards.run_adopt",
        (
            _value(
                "--retire",
                "a shard to remove, after its data has been moved; may be repeated",
                "NAME",
                action="append",
                default=[],
            ),
            _flag(
                "--force",
                "even if clients are connected, such as a monitor; never while the farm runs",
            ),
            *(_FARM, _JSON),
        ),
    ),
    "shards find": Command(
        "print the shard of an account", "shards.run_find", (_ACCOUNT, _FARM, _JSON)
    ),
    "render": Command(
        "render a document to PDF",
        "documents.run_render",
        (
            *(*_INPUTS, _SAMPLE, _JSON),
            _flag("--draft", "with the sample values and the DRAFT watermark, without encryption"),
            _flag("--invoice", "write the XML of the electronic invoice in place of the PDF"),
            _output("OUT", "file to write (DOCUMENT.pdf)"),
        ),
    ),
    "validate": Command(
        "print the findings of a document", "documents.run_validate", (*_INPUTS, _SAMPLE, _JSON)
    ),
    "preview": Command(
        "show the pages of a file in a browser, and again whenever it changes",
        "preview.run_preview",
        (*_INPUTS, _value("--port", "port on this machine (a free one)", "N", type=int, default=0)),
    ),
    "test": Command(
        "run the cases of the templates in a folder",
        "template_tests.run_tests",
        (
            _path("folder", "DIR"),
            _path("--junit", "FILE", "write the results as JUnit XML"),
            _flag("--approve", "write the images of pages that differ, as the approved ones"),
            _path("--differences", "FOLDER", "write pages that differ, with changes in red"),
            _path("--images", "FOLDER", "stored images (DIR/images)"),
            _path("--fonts", "FOLDER", "stored fonts (DIR/fonts)"),
            _value("--jobs", "processes (one per core)", "N", type=_number(1, 64)),
        ),
        "DIR/SLUG.xml is a template, NAME.case.json in DIR or below it a case. The exit code is 1 if one fails.",
    ),
    "einvoice check": Command(
        "check a Factur-X, ZUGFeRD, XRechnung or Peppol file by the rules of EN 16931",
        "received.run_check",
        (_path("file", "INVOICE.pdf|INVOICE.xml"), _JSON),
    ),
    "einvoice show": Command(
        "show every term of a received electronic invoice, and what the check finds",
        "received.run_show",
        (
            _path("file", "INVOICE.pdf|INVOICE.xml"),
            _path("--pdf", "FILE", "write a PDF that shows it, in place of text"),
        ),
    ),
    "rules list": Command(
        "print the rule packs that electronic invoices are checked by",
        "received.run_list",
        (_JSON,),
    ),
    "rules add": Command(
        "add rule packs: an archive as its publisher ships it, or a folder",
        "received.run_add",
        (
            _path("archive", "ARCHIVE.zip|FOLDER"),
            _value("--name", "folder of PRESSROOM_RULES; the name of the archive", "NAME"),
        ),
    ),
    "rules remove": Command(
        "remove what was added", "received.run_remove", (_value("name", metavar="NAME"),)
    ),
    "form extract": Command(
        "print the names and values of a form's fields",
        "received.run_extract",
        (_path("file", "FORM.pdf"), _JSON),
    ),
    "sign": Command(
        "sign a PDF by a certificate (PAdES)",
        "documents.run_sign",
        (
            _path("file", "FILE.pdf"),
            _path("--cert", "CERT.p12", "certificate and key, PKCS#12", required=True),
            _path("--password-file", "FILE", "file whose first line is the password"),
            _value("--field", "signature field; the only empty one, or a new one", "NAME"),
            _value("--reason", "reason that viewers show", "TEXT"),
            _value("--location", "place that viewers show", "TEXT"),
            _value(
                "--timestamp-url",
                "time-stamp authority (RFC 3161) that attests the time of the signature",
                "URL",
            ),
            _path("--trust", "ROOTS.pem", "roots of both authorities: it lasts (PAdES B-LTA)"),
            _path("-o --output", "FILE", "default: FILE-signed.pdf"),
            _JSON,
        ),
    ),
    "verify": Command(
        "say who signed a PDF, when, whether it is intact, and the level of PAdES",
        "documents.run_verify",
        (
            _path("file", "FILE.pdf"),
            _path("--trust", "ROOTS.pem", "root certificates that signers are to come from"),
            _JSON,
        ),
    ),
    "fmt": Command(
        "format templates: indentation and line breaks, never what they render",
        "documents.run_format",
        (
            _path("files", "FILE", "a template, or - for standard input", nargs="+"),
            _flag("--check", "change nothing; exit 1 if a file would change"),
        ),
    ),
    "lsp": Command(
        "language server: completion, hover, findings and formatting of templates",
        "preview.run_language_server",
    ),
    "mcp": Command(
        "serve the templates of a farm to an assistant, by the Model Context Protocol",
        "mcp.run_server",
        _REMOTE,
        "For a client of the protocol: the command `pressroom mcp`, with PRESSROOM_URL and PRESSROOM_KEY in its environment.",
    ),
    "messages check": Command(
        "list missing translations", "messages.run_check", (_DOCUMENT, _JSON)
    ),
    "messages extract": Command(
        "write a PO file",
        "messages.run_extract",
        (
            _DOCUMENT,
            _value("--lang", "language of the texts (none: only the keys)"),
            _output("OUT.po", "instead of stdout"),
        ),
    ),
    "messages import": Command(
        "merge the texts of a PO file into the document",
        "messages.run_import",
        (_DOCUMENT, _path("translations", "IN.po"), _output("OUT.xml", "instead of stdout")),
    ),
    "batch": Command(
        "render many documents on a farm",
        "batch.run_batch",
        (
            _value("template", "id or slug, optionally with @version or @tag", "TEMPLATE"),
            _path("documents", "DATA.ndjson|DATA.csv|DATA.xlsx"),
            _value(
                "-o",
                "a zip of PDFs, one merged PDF, or a folder for the PDFs",
                "OUT.zip|OUT.pdf|FOLDER/",
                dest="output",
                required=True,
            ),
            _value("--plan", "an output plan of the account: sorted files and an index", "NAME"),
            _flag("--draft", "render drafts, against the draft allowance"),
            _value(
                "--group",
                "make one document of the consecutive rows of one key, as its list rows",
                "FIELD",
            ),
            _value("--priority", "how urgent it is", choices=("express", "normal", "night")),
            _value("--deliver", "a destination that the files are delivered to", "ID"),
            _value("--subject", "whom the documents are about, to erase them by this key", "KEY"),
            *_REMOTE,
            _JSON,
        ),
        "Renders each line of an NDJSON file, or each row of a CSV file, with a template. "
        "To resume an interrupted run, repeat the same command.",
    ),
    "run release": Command(
        "release held documents of a run", "runs.run_release", (_RUN, *_HELD, *_REMOTE, _JSON)
    ),
    "run reject": Command(
        "reject held documents of a run", "runs.run_reject", (_RUN, *_HELD, *_REMOTE, _JSON)
    ),
    "run reprint": Command(
        "write delivered documents of a run again, as they were rendered",
        "runs.run_reprint",
        (
            _RUN,
            [
                _value("--documents", "their indexes, such as 0,4,17", "LIST"),
                _value("--sets", "their numbers in the run", "FIRST-LAST"),
                _value("--sheets", "sheets of a file", "FIRST-LAST"),
            ],
            _value("--file", "the file of --sheets", "NUMBER", type=_number(1, 999_999)),
            _flag("--copy", "mark each page as a copy"),
            _output("OUT.pdf", "where the pages are written", required=True),
            *_REMOTE,
            _JSON,
        ),
    ),
    "template list": Command(
        "list the templates of a farm that have a slug", "template.list_templates", _REMOTE
    ),
    "template pull": Command(
        "write the live content of templates to a folder",
        "template.pull_templates",
        (_path("folder", "DIR"), _value("templates", "slugs (all)", "SLUG", nargs="*"), *_REMOTE),
        "DIR/SLUG.xml is the template of a slug; files that are the same stay untouched.",
    ),
    "template push": Command(
        "store files as the live content of their templates",
        "template.push_templates",
        (_path("files", "DIR|SLUG.xml", nargs="+"), *_REMOTE),
        "A new slug is a new template. The exit code is 1 if one has errors; it is stored all the same.",
    ),
    "template diff": Command(
        "compare files with the live content of their templates",
        "template.diff_templates",
        (_path("files", "DIR|SLUG.xml", nargs="+"), *_REMOTE),
        "The exit code is 1 if one differs.",
    ),
    "template tag": Command(
        "let a tag name a version of a template",
        "template.tag_template",
        (
            _value("template", "id or slug of the template", "TEMPLATE"),
            _value("tag", "such as released", "TAG"),
            _value("version", "number of the version", "N", type=_number(1, 10**9)),
            *_REMOTE,
            _JSON,
        ),
    ),
    "template publish": Command(
        "store a template on a farm and publish it as a version",
        "template.publish_template",
        (
            _value("template", "id or slug of the template", "TEMPLATE"),
            _DOCUMENT,
            _value("--message", "what changed", default=""),
            _flag("--yes", "publish it even if it has errors"),
            *_REMOTE,
            _JSON,
        ),
    ),
    "migrate": Command("migrate the database to this release", "farm.run_migrate", (_FARM, _JSON)),
    "backup": Command(
        "write an embedded farm to one file, running or not",
        "backup.run_backup",
        (_path("file", "FILE"), _FOLDER, _JSON),
    ),
    "restore": Command(
        "restore an embedded farm from a backup",
        "backup.run_restore",
        (
            _path("file", "FILE"),
            _flag("--replace", "move the current data folder aside"),
            *(_FOLDER, _JSON),
        ),
    ),
    "demo": Command(
        "render four sample documents on a temporary farm",
        "up.run_demo",
        (_output("DIR", "folder (demo)", default=Path("demo")),),
    ),
}


# Calls of commands, in the order of these, which their help shows.
EXAMPLES: Final = Path(__file__).with_name("examples.txt").read_text().splitlines()


class _Parser(argparse.ArgumentParser):
    """A parser that suggests the command, action or value that is near to an unknown one."""

    def error(self, message: str) -> NoReturn:
        if wrong := _INVALID_CHOICE.search(message):
            known = re.findall(r"[\w.-]+", wrong[2])
            near = difflib.get_close_matches(wrong[1], known, n=1)
            message += f"; did you mean {near[0]}?" if near else ""
        super().error(message)


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of all commands; `run` of the parsed arguments is that of `Command`."""
    parser = _Parser(
        prog="pressroom",
        description="An asynchronous PDF render farm: the operator's commands, and the engine alone.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="store_true", help="print the version and exit")
    first = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    groups: dict[str, Any] = {}
    for words, command in COMMANDS.items():
        word, _, action = words.partition(" ")
        if action and word not in groups:
            group = first.add_parser(word, help=GROUPS[word], allow_abbrev=False)
            groups[word] = group.add_subparsers(title="actions", metavar="ACTION", required=True)
        shown = [line for line in EXAMPLES if line.startswith(f"pressroom {words}")]
        _add(groups[word] if action else first, action or word, command, shown)
    return parser


def _add(commands: Any, word: str, command: Command, examples: Sequence[str]) -> None:
    parser: argparse.ArgumentParser = commands.add_parser(
        word,
        help=command.help,
        description=command.description and fill(command.description, 78),
        epilog="\n  ".join(["for example:", *examples]),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    for each in command.arguments:
        if isinstance(each, list):
            exclusive = parser.add_mutually_exclusive_group()
            for names, options in each:
                exclusive.add_argument(*names, **options)
        else:
            parser.add_argument(*each[0], **each[1])
    parser.set_defaults(run=command.run)
