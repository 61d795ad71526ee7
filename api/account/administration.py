"""The routes under /v2/admin, for keys of an operator, and /v2/audit: who changed what."""

from __future__ import annotations

import csv
import hmac
import io
from collections.abc import Callable, Sequence
from datetime import UTC
from enum import StrEnum
from hashlib import sha256
from typing import Any, Final, TypeVar

import msgspec
from flask import Response, g, request
from werkzeug.exceptions import NotFound

from api.account.keys import create_key, receive_key_request, revoke_key
from api.admission.body import receive_record
from api.auth.guard import current_principal, find_api_key
from api.http import read_choice, read_date, read_limit, write_json, write_page
from api.operations.model import (
    OperationResponse,
    Parameter,
    RequestBody,
    Routes,
    current_query,
    delete,
    get,
    json_content,
    json_response,
    patch,
    post,
    string,
)
from api.operations.parameters import LIMIT, NO_CONTENT, start_after
from api.ports import Ports
from shared.auth import accounts, audit
from shared.auth.administration import (
    change_account,
    delete_account,
    list_all_accounts,
    report_usage,
)
from shared.auth.scopes import ALL_SCOPES, Scope
from shared.clock import now
from shared.db.session import Session
from shared.errors import MisconfiguredPartError, ServiceError
from shared.identifiers import digest_api_key
from shared.jobs.records import Allowance
from shared.limits import MB
from shared.queue.depth import read_depth
from shared.queue.names import QUEUES
from shared.records import TIMESTAMP_PATTERN, Record

MAX_ACCOUNTS: Final = 1000
_MAX_BODY: Final = 4 * MB
_ACCOUNT_ID: Final = string(
    "The id.", pattern="^acc_[a-z0-9]{1,60}$", examples=["acc_3ocgfeeghiuyg5wnorrj2owg"]
)
_ENTRY_NUMBER: Final = string("A number.", pattern="^[1-9][0-9]{0,14}$", examples=["100"])
_ACCOUNT: Final = Parameter("account_id", _ACCOUNT_ID, "An account.")
_QUEUE: Final = Parameter("queue", {"type": "string", "enum": list(QUEUES)}, "A queue.")
_COUNTED: Final = tuple(
    f"{allowance}_{name}" for allowance in Allowance for name in ("pages", "renders", "max_pages")
)
_USAGE_FIELDS: Final = (
    "account_id",
    "plan",
    "period_start",
    "period_end",
    *_COUNTED,
    "cpu_seconds",
    "max_cpu_seconds",
)
T = TypeVar("T")
R = TypeVar("R", bound=Record)


class UsageFormat(StrEnum):
    """The formats of the usage of all accounts."""

    NDJSON = "ndjson"
    CSV = "csv"


class NewAccounts(Record, frozen=True, forbid_unknown_fields=True):
    """The accounts of one call."""

    accounts: list[accounts.NewAccount]


class QueueChange(Record, frozen=True, forbid_unknown_fields=True):
    """A change of a queue."""

    is_drained: bool


def authenticate_operator(ports: Ports) -> str:
    """Check the key of a request under /v2/admin, and return the name of its holder in the audit log.

    Raises:
        NotFound: no key of an operator is set, or the request came in by another port than theirs.
        ServiceError: 401, the key is none of them.
    """
    # gunicorn has the port from its socket, not from the request.
    port, keys = ports.settings.admin_port, ports.settings.admin_keys.split()
    if not keys or (port and request.environ["SERVER_PORT"] != str(port)):
        raise NotFound
    given = sha256((find_api_key(request.headers) or "").encode("utf-8", "surrogateescape"))
    # All are compared, in constant time.
    digests = map(digest_api_key, keys)
    found = [each for each in digests if hmac.compare_digest(each, given.hexdigest())]
    if not found:
        raise ServiceError(401, "The key is not one of an operator.")
    return f"{audit.OPERATOR}:{found[0][:12]}"


class AdminRoutes(Routes):
    """The views."""

    tag = "Administration"
    is_operator = True

    @post(
        "/v2/admin/accounts",
        {200: json_response("The accounts, in their order.", "CreatedAccounts")},
        body=RequestBody(json_content("NewAccounts"), "Up to 1,000 accounts."),
        errors={409: ()},
    )
    def create_accounts(self) -> Response:
        """Create accounts.

        Each has one user and one key, whose secret is returned only here. All are created or none. One whose `reference` exists is left as it
        is, and returned without a key: a call can be repeated.
        """
        given = _receive(NewAccounts).accounts
        if not 1 <= len(given) <= MAX_ACCOUNTS:
            raise ServiceError(400, f"The field accounts must have 1 to {MAX_ACCOUNTS} entries.")
        made = self._change(lambda session: self._create(session, given))
        shown = [
            {"id": account_id, "is_new": created is not None}
            | ({"reference": each.reference} if each.reference is not None else {})
            | ({"key_id": created.key_id, "key": created.api_key} if created else {})
            for each, (account_id, created) in zip(given, made.items(), strict=True)
        ]
        return write_json({"accounts": shown})

    def _create(
        self, session: Session, given: Sequence[accounts.NewAccount]
    ) -> dict[str, accounts.CreatedAccount | None]:
        made = accounts.create_accounts(session, given)
        new = [account_id for account_id, created in made.items() if created]
        if new:
            subject = new[0] if len(new) == 1 else f"{len(new)} accounts"
            audit.record(session, audit.FARM, g.operator, "accounts.created", subject, {"ids": new})
        return made

    @get(
        "/v2/admin/accounts",
        {200: json_response("One page.", "AccountList")},
        query=(LIMIT, start_after(_ACCOUNT_ID)),
    )
    def list_accounts(self) -> Response:
        """List accounts.

        Ordered by id.
        """
        query = current_query()
        limit, after = read_limit(query), query.get("start_after")
        with self._ports.database.snapshot() as session:
            found = accounts.list_accounts(session, after=after, limit=limit + 1)
        return write_json(write_page("accounts", [each.show() for each in found], limit=limit))

    @get(
        "/v2/admin/accounts/{account_id}",
        {200: json_response("The account.", "AccountInfo")},
        path_parameters=(_ACCOUNT,),
        errors={404: ()},
        name="readAnyAccount",
    )
    def read_account(self, account_id: str) -> Response:
        """Read any account."""
        with self._ports.database.snapshot() as session:
            found = _known(lambda: accounts.get_account(session, account_id))
        return write_json(found.show())

    @patch(
        "/v2/admin/accounts/{account_id}",
        {200: json_response("The changed account.", "AccountInfo")},
        path_parameters=(_ACCOUNT,),
        body=RequestBody(json_content("AccountChanges"), "What changes."),
        errors={404: ()},
    )
    def change_account(self, account_id: str) -> Response:
        """Change an account.

        Its plan, limits and state; every front applies them on the next request.
        """
        changes = _receive(accounts.AccountChanges)

        def change(session: Session) -> tuple[accounts.AccountInfo, Sequence[str]]:
            digests = change_account(session, account_id, changes, actor=g.operator)
            return accounts.get_account(session, account_id), digests

        changed, digests = self._change(change)
        self._ports.admissions.drop(account_id, list(digests))
        return write_json(changed.show())

    @delete(
        "/v2/admin/accounts/{account_id}",
        {204: NO_CONTENT},
        path_parameters=(_ACCOUNT,),
        errors={404: (), 409: ()},
    )
    def delete_account(self, account_id: str) -> Response:
        """Delete an account.

        With its keys, templates, images, fonts, webhooks and recorded work; what was metered stays, for bills. 409 unless it is disabled
        and its work has ended. Files are deleted within a day.
        """

        def remove(session: Session) -> Sequence[str]:
            digests = accounts.key_digests_of(session, account_id)
            delete_account(session, account_id)
            audit.record(session, audit.FARM, g.operator, "account.deleted", account_id)
            return digests

        digests = self._change(remove)
        self._ports.admissions.drop(account_id, list(digests))
        return Response(status=204)

    @post(
        "/v2/admin/accounts/{account_id}/keys",
        {201: json_response("The key with its secret, returned only here.", "KeyWithSecret")},
        path_parameters=(_ACCOUNT,),
        body=RequestBody(json_content("KeyRequest"), "Optional name, expiry and scopes."),
        errors={404: ()},
    )
    def create_account_key(self, account_id: str) -> Response:
        """Create a key of any account."""
        wanted = receive_key_request(own=ALL_SCOPES, at=now())
        shown = self._change(
            lambda session: create_key(session, account_id, wanted, actor=g.operator)
        )
        return write_json(shown, 201)

    @delete(
        "/v2/admin/accounts/{account_id}/keys/{key_id}",
        {204: NO_CONTENT},
        path_parameters=(_ACCOUNT,),
        errors={404: ()},
    )
    def revoke_account_key(self, account_id: str, key_id: str) -> Response:
        """Revoke a key of any account."""
        digest = self._change(
            lambda session: revoke_key(session, account_id, key_id, actor=g.operator)
        )
        self._ports.admissions.drop(account_id, [digest])
        return Response(status=204)

    @get(
        "/v2/admin/usage",
        {
            200: OperationResponse(
                "A row for each account.",
                {"application/x-ndjson": {"type": "string"}, "text/csv": {"type": "string"}},
            )
        },
        query=(
            Parameter(
                "date",
                {"type": "string", "pattern": TIMESTAMP_PATTERN, "examples": ["2026-11-26"]},
                "A date in the billing periods to report; default is today.",
            ),
            Parameter(
                "format",
                {"type": "string", "enum": [each.value for each in UsageFormat]},
                "The format; NDJSON by default.",
            ),
        ),
    )
    def report_all_usage(self) -> Response:
        """Report the usage of all accounts.

        Each by the billing period of its own that has the date; for bills, ask a few minutes after the period has ended.
        """
        query = current_query()
        chosen = read_choice(query, "format", UsageFormat) or UsageFormat.NDJSON
        day = read_date(query) or now().astimezone(UTC).date()
        ports = self._ports
        found = list_all_accounts(ports.database)
        with ports.database.snapshot() as session:
            rows = [_flatten(report_usage(session, ports.admissions, each, day)) for each in found]
        if chosen is UsageFormat.NDJSON:
            lines = msgspec.json.Encoder().encode_lines(rows)
            return Response(lines, content_type="application/x-ndjson")
        return Response(_write_csv(rows), content_type="text/csv; charset=utf-8")

    @patch(
        "/v2/admin/queues/{queue}",
        {200: json_response("The queue.", "Queue")},
        path_parameters=(_QUEUE,),
        body=RequestBody(json_content("QueueChange"), "Whether it is drained."),
        errors={404: ()},
    )
    def change_queue(self, queue: str) -> Response:
        """Drain or resume a queue.

        While it is drained, running jobs end, queued jobs stay, and synchronous requests are rejected.
        """
        action = "drain" if _receive(QueueChange).is_drained else "resume"
        cells = list(self._ports.cells.values())
        changed = _known(lambda: [getattr(cell.drains, action)(queue) for cell in cells])
        details = {"changed": any(changed)}
        with self._ports.database.session() as session:
            audit.record(session, audit.FARM, g.operator, f"queue.{action}", queue, details)
        return write_json(self._read_queue(queue))

    @get("/v2/admin/status", {200: json_response("The status.", "FarmStatus")})
    def read_status(self) -> Response:
        """Read the status of the farm.

        Its stores and queues, each as it answers now.
        """
        checks: dict[str, Callable[[], object]] = {
            "database": self._ports.database.check,
            "object_store": self._ports.blobs.check,
            **self._ports.queue_checks,
            **self._ports.memory_checks,
        }
        problems = [name for name, check in checks.items() if not _is_up(check)]
        is_read = self._ports.queue_checks.keys().isdisjoint(problems)
        queues = [self._read_queue(name) for name in QUEUES] if is_read else []
        return write_json({"healthy": not problems, "problems": problems, "queues": queues})

    def _read_queue(self, queue: str) -> dict[str, Any]:
        depth = read_depth([cell.depth for cell in self._ports.cells.values()], queue)
        return {
            "name": queue,
            "waiting": depth.waiting,
            "running": depth.running,
            "is_drained": depth.is_drained,
        }

    def _change(self, work: Callable[[Session], T]) -> T:
        """Run a change in a transaction.

        Raises:
            ServiceError: 404, the account does not exist; 400, a value is out of range.
        """
        with self._ports.database.session() as session:
            return _known(lambda: work(session))


class AuditRoutes(Routes):
    """The views."""

    tag = "Account"
    scopes = frozenset((Scope.ACCOUNT,))
    is_readable = False  # it says what the keys of others did

    @get(
        "/v2/audit",
        {200: json_response("One page.", "AuditLog")},
        query=(LIMIT, start_after(_ENTRY_NUMBER)),
    )
    def read_audit_log(self) -> Response:
        """Read the audit log.

        Who published, tagged, deleted, released and changed what of the account, by which key and when; newest first. Each entry has a hash
        that covers the one before, so that a later change of the log is noticed.
        """
        query = current_query()
        cursor = query.get("start_after")
        with self._ports.database.snapshot() as session:
            found, has_more = audit.list_entries(
                session,
                current_principal().state.account_id,
                before=int(cursor) if cursor else None,
                limit=read_limit(query),
            )
        page: dict[str, Any] = {"entries": [each.show() for each in found]}
        if has_more:
            page["next_cursor"] = str(found[-1].number)
        return write_json(page)


def _receive(kind: type[R]) -> R:
    return receive_record(request, kind, is_required=True, limit=_MAX_BODY)


def _known(work: Callable[[], T]) -> T:
    try:
        return work()
    except LookupError as error:
        raise ServiceError(404, str(error.args[0])) from error
    except ValueError as error:
        raise ServiceError(400, f"Invalid field {error}") from error


def _is_up(check: Callable[[], object]) -> bool:
    try:
        check()
    except (ServiceError, MisconfiguredPartError):
        return False
    return True


def _flatten(report: dict[str, Any]) -> dict[str, Any]:
    for allowance in Allowance:
        report |= {f"{allowance}_{name}": value for name, value in report[allowance].items()}
    return {name: report[name] for name in _USAGE_FIELDS}


def _write_csv(rows: Sequence[dict[str, Any]]) -> str:
    written = io.StringIO()
    writer = csv.DictWriter(written, _USAGE_FIELDS)
    writer.writeheader()
    writer.writerows(rows)
    return written.getvalue()
