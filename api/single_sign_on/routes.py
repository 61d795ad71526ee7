"""The routes of /studio/sign-in: begin, come back from the provider, and open a session (decision 0376)."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final, cast

from flask import Blueprint, Flask, Response, request, session

from api.auth.guard import authenticate_digest, find_session_token, write_session_cookie
from api.http import read_query, write_json
from api.operations.model import OperationResponse, Parameter, Routes, get, json_response, string
from api.ports import Ports
from api.single_sign_on.outcomes import Person, Problem, SignInError
from shared.auth.sign_in_keys import SignInRevokedError, digest_person, record_sign_in
from shared.auth.single_sign_on import Role, SingleSignOn
from shared.clock import now
from shared.errors import ServiceError, Unavailable
from shared.settings import WrongSetting
from shared.telemetry import log

if TYPE_CHECKING:
    from api.single_sign_on.provider import Provider  # of the extra `oidc`

_CALLBACK: Final = "/studio/sign-in/callback"
_ACCOUNT: Final = "account"
_MAX_ACCOUNT: Final = 64  # characters
_MAX_LISTED: Final = 20  # accounts to choose from
_STATE_MINUTES: Final = 10  # to sign in at the provider
_log: Final = log.get_logger(__name__)


def configure_sign_in(app: Flask, terms: SingleSignOn) -> None:
    """Configure the cookie of a sign-in that has begun.

    It is `Lax`: the provider's redirect back is a request from another site, which brings no `Strict`
    cookie.
    """
    app.secret_key = terms.state_keys[0]
    app.config.update(
        SECRET_KEY_FALLBACKS=list(terms.state_keys[1:]),
        SESSION_COOKIE_NAME="__Host-pressroom-sign-in"
        if terms.is_secure
        else "pressroom-sign-in-local",
        SESSION_COOKIE_SECURE=terms.is_secure,
        SESSION_COOKIE_HTTPONLY=True,
        SESSION_COOKIE_SAMESITE="Lax",
        SESSION_COOKIE_PATH="/",
        PERMANENT_SESSION_LIFETIME=timedelta(minutes=_STATE_MINUTES),
    )


_BEGUN: Final = "What the callback needs: HttpOnly, SameSite=Lax, Secure."


class SignInRoutes(Routes):
    """The views."""

    tag = "Operation"

    def __init__(self, ports: Ports) -> None:
        super().__init__(ports)
        self._provider: Provider | None = None

    def blueprint(self) -> Blueprint:
        """Return the views at their paths, which configure the app."""
        routes = super().blueprint()
        routes.record_once(lambda state: self._configure(cast("Flask", state.app)))
        return routes

    def _configure(self, app: Flask) -> None:
        terms = self._ports.settings.single_sign_on
        if terms is not None:
            configure_sign_in(app, terms)
            self._provider = open_provider(app, terms)

    @get("/studio/sign-in", {200: json_response("The provider.", "SignIn")})
    def describe_sign_in(self) -> Response:
        """Name the provider of single sign-on.

        The OpenID Connect provider at which people may sign in to the Studio.
        """
        read_query(request, ())
        terms = self._ports.settings.single_sign_on
        return write_json({"provider": None if terms is None else terms.name})

    @get(
        "/studio/sign-in/begin",
        {
            302: OperationResponse(
                "To the provider.",
                headers={"Location": "An address of the provider.", "Set-Cookie": _BEGUN},
            )
        },
        query=(
            Parameter(
                "account",
                string("An account's id."),
                "The account to sign in to, where a person has several.",
            ),
        ),
        errors={400: (), 404: ()},
    )
    def begin_sign_in(self) -> Response:
        """Sign in at the provider.

        For browsers. Redirects to the provider, with state, nonce and a PKCE challenge. 400 for another
        parameter, 404 without a provider.
        """
        terms, provider = self._get_provider()
        query = read_query(request, (_ACCOUNT,))
        session.clear()  # an earlier sign-in that this browser began is void
        if _ACCOUNT in query:
            session[_ACCOUNT] = query[_ACCOUNT][:_MAX_ACCOUNT]
        try:
            return provider.redirect(terms.studio_url + _CALLBACK)
        except SignInError as error:
            return _fail(error)

    @get(
        "/studio/sign-in/callback",
        {
            303: OperationResponse(
                "To the Studio.",
                headers={"Location": "The Studio.", "Set-Cookie": "The session's cookie."},
            )
        },
        query=(
            Parameter("code", string("From the provider."), "The authorization code."),
            Parameter("state", string("From the provider."), "The state of the sign-in."),
            Parameter("iss", string("From the provider."), "The issuer (RFC 9207)."),
            Parameter("error", string("From the provider."), "Why there is no code."),
        ),
        errors={404: ()},
    )
    def finish_sign_in(self) -> Response:
        """Come back from the provider.

        For browsers. Opens a session and shows the Studio, or shows why the sign-in failed.
        """
        terms, provider = self._get_provider()
        wanted = session.get(_ACCOUNT)
        try:
            person = provider.identify()
            account_id, role = _choose_account(terms, person, wanted)
            cookie = self._open_session(terms, person, account_id, role)
        except SignInError as error:
            return _fail(error)
        finally:
            session.clear()
        _log.info("signed in", account=account_id, role=role.value, subject=person.subject[:200])
        return _redirect("", cookie=cookie)

    def _get_provider(self) -> tuple[SingleSignOn, Provider]:
        terms = self._ports.settings.single_sign_on
        if terms is None or self._provider is None:
            raise ServiceError(404, "Single sign-on is not configured.")
        return terms, self._provider

    def _open_session(
        self, terms: SingleSignOn, person: Person, account_id: str, role: Role
    ) -> str:
        """Return the Set-Cookie value of a new session; the browser's previous one is ended."""
        digest = digest_person(account_id, terms.issuer, person.subject)
        try:
            with self._ports.database.session() as unit:
                record_sign_in(
                    unit,
                    account_id,
                    digest,
                    name=f"{terms.name}: {person.name}",
                    scopes=terms.roles[role],
                    expires_at=now() + timedelta(seconds=terms.key_seconds),
                )
        except SignInRevokedError as error:
            reason = f"the key of {person.subject!r} is revoked"
            raise SignInError(Problem.REVOKED, reason) from error
        except LookupError as error:
            raise SignInError(Problem.ACCOUNT, str(error)) from error
        self._ports.admissions.drop(account_id, [digest])
        try:
            principal = authenticate_digest(digest, self._ports)
        except ServiceError as error:
            if isinstance(error, Unavailable):
                raise
            raise SignInError(Problem.ACCOUNT, error.body.message) from error
        if former := find_session_token(request.headers, self._ports):
            self._ports.sessions.end(former)
        opened = self._ports.sessions.open(principal.state.key_id, digest)
        return write_session_cookie(opened.token, request.headers, self._ports)


def open_provider(app: Flask, terms: SingleSignOn) -> Provider:
    """Return the provider of an application.

    Raises:
        WrongSetting: the extra `oidc` is not installed.
    """
    try:
        from api.single_sign_on.provider import Provider
    except ImportError as error:
        raise WrongSetting(
            "PRESSROOM_OIDC_ISSUER: Authlib is not installed; install pressroom[oidc]"
        ) from error
    return Provider(app, terms)


def _choose_account(terms: SingleSignOn, person: Person, wanted: str | None) -> tuple[str, Role]:
    """Return the account to sign in to, and the role there.

    Raises:
        SignInError: the person has access to none, not to the wanted one, or to several.
    """
    roles = terms.find_roles(person.values)
    if wanted is not None and wanted in roles:
        return wanted, roles[wanted]
    if not roles or wanted is not None:
        reason = f"no grant for {person.subject!r} with {terms.claim} {person.values!r:.300}"
        raise SignInError(Problem.NO_ACCESS, reason)
    if len(roles) > 1:
        raise SignInError(Problem.SEVERAL, "several accounts", accounts=sorted(roles))
    return next(iter(roles.items()))


def _fail(error: SignInError) -> Response:
    """Return to the sign-in page, which has a text for each problem."""
    _log.warning("sign-in failed", problem=error.problem.value, reason=str(error)[:500])
    return _redirect("/".join(("#", "sign-in", error.problem.value, *error.accounts[:_MAX_LISTED])))


def _redirect(fragment: str, *, cookie: str | None = None) -> Response:
    """Redirect to the Studio on this host; the address has nothing of the request in it."""
    headers = {"Location": f"/studio/{fragment}", "Referrer-Policy": "no-referrer"}
    response = Response(status=303, headers=headers)
    if cookie is not None:
        response.headers.add("Set-Cookie", cookie)
    return response
