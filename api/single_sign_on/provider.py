"""The OpenID Connect provider; the only module that knows Authlib."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Any, Final

import requests
from authlib.common.errors import AuthlibBaseError
from authlib.integrations.flask_client import OAuth, OAuthError
from flask import Flask, Response, request
from joserfc.errors import JoseError

from api.single_sign_on.outcomes import Person, Problem, SignInError
from shared.auth.single_sign_on import SingleSignOn

_TIMEOUT_SECONDS: Final = 5
# Asymmetric only: `none` is no signature, and HS256 would be made with the secret of the client.
_ALGORITHMS: Final = frozenset(
    {
        "RS256",
        "RS384",
        "RS512",
        "PS256",
        "PS384",
        "PS512",
        "ES256",
        "ES384",
        "ES512",
        "EdDSA",
        "Ed25519",
    }
)
_MAX_NAME: Final = 150


class Provider:
    """The provider of an application."""

    def __init__(self, app: Flask, terms: SingleSignOn) -> None:
        self._terms = terms
        self._client = OAuth(app).register(
            "single_sign_on",
            client_id=terms.client_id,
            client_secret=terms.client_secret or None,
            server_metadata_url=f"{terms.issuer.rstrip('/')}/.well-known/openid-configuration",
            client_kwargs={
                "scope": terms.oidc_scopes,
                "code_challenge_method": "S256",
                "default_timeout": _TIMEOUT_SECONDS,
                **({} if terms.client_secret else {"token_endpoint_auth_method": "none"}),
            },
        )

    def redirect(self, callback_url: str) -> Response:
        """Return the redirect to the provider; state, nonce and PKCE verifier are in the cookie.

        Raises:
            SignInError: the provider cannot be reached, or its description is another's.
        """
        try:
            metadata = self._client.load_server_metadata()
            # OpenID Connect Discovery 1.0, 4.3
            if metadata.get("issuer") != self._terms.issuer:
                raise SignInError(
                    Problem.PROVIDER,
                    f"the provider describes the issuer {metadata.get('issuer')!r}",
                )
            response: Response = self._client.authorize_redirect(callback_url)
        except (AuthlibBaseError, requests.RequestException, ValueError, RuntimeError) as error:
            raise SignInError(Problem.PROVIDER, str(error)) from error
        return response

    def identify(self) -> Person:
        """Exchange the code of the current request, and verify the ID token.

        Raises:
            SignInError: the person cancelled, the state is not of this browser, or the answer of the
                provider is not valid.
        """
        try:
            self._check_sender(self._client.load_server_metadata(), request.args.get("iss"))
            token = self._client.authorize_access_token(
                claims_options={
                    "iss": {"essential": True, "value": self._terms.issuer},
                    "aud": {"essential": True, "value": self._terms.client_id},
                    "sub": {"essential": True},
                }
            )
        except OAuthError as error:
            raise SignInError(_PROBLEMS.get(error.error, Problem.PROVIDER), str(error)) from error
        except (AuthlibBaseError, JoseError, requests.RequestException, ValueError) as error:
            raise SignInError(Problem.PROVIDER, str(error)) from error
        claims: Mapping[str, Any] | None = token.get("userinfo")
        if claims is None or _read_algorithm(token["id_token"]) not in _ALGORITHMS:
            raise SignInError(Problem.PROVIDER, "the provider sent no ID token that is signed")
        return self._read_person(claims)

    def _check_sender(self, metadata: Mapping[str, Any], sender: str | None) -> None:
        """Refuse the answer of another provider (RFC 9207, 2.4)."""
        is_required = metadata.get("authorization_response_iss_parameter_supported") is True
        if sender != self._terms.issuer and (is_required or sender is not None):
            raise SignInError(Problem.PROVIDER, f"the answer is of the issuer {sender!r:.200}")

    def _read_person(self, claims: Mapping[str, Any]) -> Person:
        subject, given = claims["sub"], claims.get(self._terms.claim)
        if not isinstance(subject, str) or not subject:
            raise SignInError(Problem.PROVIDER, "the subject is not a text")
        is_verified = claims.get("email_verified") is True
        if self._terms.claim == "email" and not is_verified:
            raise SignInError(Problem.UNVERIFIED, f"the address of {subject!r} is not verified")
        shown = claims.get("email") if is_verified else claims.get("name")
        values = given if isinstance(given, list) else [given]
        return Person(
            subject,
            _clean(shown if isinstance(shown, str) and shown else subject),
            tuple(value for value in values if isinstance(value, str)),
        )


_PROBLEMS: Final = {"access_denied": Problem.CANCELLED, "mismatching_state": Problem.EXPIRED}


def _read_algorithm(token: str) -> str | None:
    """Return the algorithm in the header of a token that was verified."""
    header = token.partition(".")[0]
    algorithm = json.loads(base64.urlsafe_b64decode(header + "=" * (-len(header) % 4))).get("alg")
    return algorithm if isinstance(algorithm, str) else None


def _clean(name: str) -> str:
    return "".join(sign if sign.isprintable() else " " for sign in name).strip()[:_MAX_NAME]
