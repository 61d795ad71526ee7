"""What concerns the key of the request: /v2/authcheck, /v2/account, and /v2/session, its cookie (decision 0362)."""

from __future__ import annotations

from typing import Any, Final

from flask import Response, request

from api.admission.gate import find_rate
from api.auth.guard import (
    check_same_origin,
    current_principal,
    find_session_token,
    write_cleared_cookie,
    write_session_cookie,
)
from api.http import write_json
from api.operations.model import (
    OperationResponse,
    Parameter,
    Routes,
    delete,
    get,
    json_response,
    post,
)
from shared.auth.accounts import Account
from shared.auth.scopes import ALL_SCOPES, Scope, list_scopes
from shared.auth.studio_sessions import StudioSession
from shared.clock import timestamp
from shared.errors import ServiceError

_FROM_STUDIO: Final = Parameter(
    "X-Pressroom-Studio",
    {"type": "string", "enum": ["1"]},
    "Marks requests of the Studio's page. Sec-Fetch-Site or Origin must be those of the page, too.",
    is_required=True,
)


class AccountRoutes(Routes):
    """The views."""

    tag = "Account"
    scopes = ALL_SCOPES  # as it concerns the key of the request itself

    @get("/v2/authcheck", {200: json_response("The key is valid.", "Confirmation")})
    def check_key(self) -> Response:
        """Check a key.

        Confirms that the key is valid and names its account.
        """
        principal = current_principal()
        user, state = principal.user, principal.state
        status = f"Authenticated as account {state.account_id}, user {user.name} <{user.email}>."
        return write_json({"status": status})

    @get("/v2/account", {200: json_response("The account.", "Account")})
    def read_account(self) -> Response:
        """Read the account.

        The plan and rate limit of the account, and the user of the key.
        """
        principal = current_principal()
        state = principal.state
        account = Account(
            id=state.account_id,
            user=principal.user,
            key_id=state.key_id,
            scopes=[*map(Scope, list_scopes(state.scopes))],
            plan=state.plan,
            has_workspace=state.workspace_id is not None,
            rate_limit=find_rate(principal, self._ports),
            max_cpu_seconds=state.max_cpu_seconds,
        )
        return write_json(account.show())

    @post(
        "/v2/session",
        {
            201: json_response(
                "The session.",
                "Session",
                {"Set-Cookie": "The session's cookie: HttpOnly, SameSite=Strict, Secure."},
            )
        },
        headers=(_FROM_STUDIO,),
    )
    def open_session(self) -> Response:
        """Open a Studio session.

        For the Studio's page: exchanges an API key for a session cookie. By default a session ends after an
        hour without requests, after 12 hours, or with its key. Other clients send the key with each
        request.
        """
        principal = current_principal()
        if principal.session is not None:
            raise ServiceError(
                400, "To open a session, send an API key in the Authorization header."
            )
        check_same_origin(request.headers, self._ports, method=request.method)
        former = find_session_token(request.headers, self._ports)
        if former is not None:
            self._ports.sessions.end(former)
        opened = self._ports.sessions.open(principal.state.key_id, principal.key_digest)
        cookie = write_session_cookie(opened.token, request.headers, self._ports)
        return write_json(_write(opened.info), 201, headers={"Set-Cookie": cookie})

    @get("/v2/session", {200: json_response("The session.", "Session")}, errors={404: ()})
    def read_session(self) -> Response:
        """Read the session.

        404 if the request has an API key instead of a session.
        """
        session = current_principal().session
        if session is None:
            raise ServiceError(404, "The request has an API key and no session.")
        return write_json(_write(session))

    @delete(
        "/v2/session",
        {
            204: OperationResponse(
                "Done; the response has no body.", headers={"Set-Cookie": "Deletes the cookie."}
            )
        },
    )
    def end_session(self) -> Response:
        """Sign out.

        Ends the session of the request, and deletes its cookie.
        """
        if current_principal().session is not None:
            self._ports.sessions.end(find_session_token(request.headers, self._ports) or "")
        cookie = write_cleared_cookie(request.headers, self._ports)
        return Response(status=204, headers={"Set-Cookie": cookie})


def _write(session: StudioSession) -> dict[str, Any]:
    return {"opened_at": timestamp(session.opened_at), "expires_at": timestamp(session.expires_at)}
