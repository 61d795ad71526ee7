"""A small OpenID Connect provider with Authlib's server: `python -m tests.oidc_provider PORT CLIENT CALLBACK`.

It signs in the person whose `claims` a test has put to `/orders`, without asking. The other orders make it do
wrong: `wrong` claims and `algorithm` of the ID token, an `other_key`, a `described_issuer`, or an `error`. With
`names_itself` it says that it does so in its answers, and does not.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import requests
from authlib.integrations.flask_oauth2 import AuthorizationServer
from authlib.oauth2.rfc6749 import ClientMixin, grants
from authlib.oauth2.rfc7636 import CodeChallenge
from authlib.oidc.core import UserInfo
from authlib.oidc.core.grants import OpenIDCode
from flask import Flask, jsonify, redirect, request
from joserfc import jwt
from joserfc.jwk import OctKey, RSAKey

from deploy.embedded.loopback import free_port
from tests.waiting import wait_until

ANNA: Mapping[str, Any] = {
    "sub": "anna",
    "email": "anna@example.org",
    "email_verified": True,
    "groups": ["authors"],
}
SECRET = "a secret that the client and the provider have"
KEY = RSAKey.generate_key(2048, {"kid": "one", "use": "sig", "alg": "RS256"})


class RunningProvider:
    """The provider as a process; `order` sets what it does next."""

    def __init__(self, port: int) -> None:
        self.issuer = f"http://127.0.0.1:{port}"

    def order(self, claims: Mapping[str, Any] = ANNA, **orders: Any) -> None:
        requests.put(f"{self.issuer}/orders", json={"claims": claims, **orders}, timeout=60)

    def visit(self, address: str) -> str:
        """Follow a redirect to the provider, as a browser does; return where it leads back to."""
        answer = requests.get(address, allow_redirects=False, timeout=60)
        assert answer.status_code == 302, answer.text
        return answer.headers["Location"]

    def answers(self) -> bool:
        with suppress(requests.ConnectionError):
            return requests.get(f"{self.issuer}/keys", timeout=60).ok
        return False


@contextmanager
def run_provider(client_id: str, callback: str) -> Iterator[RunningProvider]:
    """Run the provider with one client within the block."""
    provider_port = free_port()
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.oidc_provider", str(provider_port), client_id, callback],
        cwd=Path(__file__).parents[1],
        stderr=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )
    provider = RunningProvider(provider_port)
    try:
        wait_until(provider.answers)
        yield provider
    finally:
        process.kill()
        process.wait()


class Client(ClientMixin):
    def __init__(self, client_id: str, callback: str) -> None:
        self.client_id, self._callback = client_id, callback

    def get_client_id(self):
        return self.client_id

    def get_default_redirect_uri(self):
        return self._callback

    def get_allowed_scope(self, scope):
        return scope

    def check_redirect_uri(self, redirect_uri):
        return redirect_uri == self._callback

    def check_client_secret(self, client_secret):
        return client_secret == SECRET

    def check_endpoint_auth_method(self, method, endpoint):
        return method in ("client_secret_basic", "client_secret_post")

    def check_response_type(self, response_type):
        return response_type == "code"

    def check_grant_type(self, grant_type):
        return grant_type == "authorization_code"


class Code(SimpleNamespace):
    def get_redirect_uri(self):
        return self.redirect_uri

    def get_scope(self):
        return self.scope

    def get_nonce(self):
        return self.nonce

    def get_auth_time(self):
        return int(time.time())

    def get_acr(self):
        return None

    def get_amr(self):
        return None


def make_app(client: Client, issuer: str) -> Flask:  # noqa: C901  (its views and its grant)
    app = Flask(__name__)
    codes: dict[str, Code] = {}
    orders: dict[str, Any] = {"claims": {"sub": "unset"}}

    class CodeGrant(grants.AuthorizationCodeGrant):
        TOKEN_ENDPOINT_AUTH_METHODS: ClassVar = ["client_secret_basic", "client_secret_post"]

        def save_authorization_code(self, code, request):
            payload = request.payload
            codes[code] = Code(
                code=code,
                redirect_uri=payload.redirect_uri,
                scope=payload.scope,
                nonce=payload.data.get("nonce"),
                code_challenge=payload.data.get("code_challenge"),
                code_challenge_method=payload.data.get("code_challenge_method"),
                claims=dict(orders["claims"]),
            )

        def query_authorization_code(self, code, client):
            return codes.get(code)

        def delete_authorization_code(self, authorization_code):
            del codes[authorization_code.code]

        def authenticate_user(self, authorization_code):
            return authorization_code.claims

    class IdToken(OpenIDCode):
        def exists_nonce(self, nonce, request):
            return any(code.nonce == nonce for code in codes.values())

        def resolve_client_private_key(self, client):
            return KEY

        def get_client_claims(self, client):
            return {"iss": issuer, "aud": [client.get_client_id()]}

        def generate_user_info(self, user, scope):
            return UserInfo(user)

        def encode_id_token(self, token, request):
            right = super().encode_id_token(token, request)
            claims = {**jwt.decode(right, KEY).claims, **orders.get("wrong", {})}
            algorithm = orders.get("algorithm", "RS256")
            key = KEY if algorithm == "RS256" else OctKey.import_key(SECRET)
            if orders.get("other_key"):
                key = RSAKey.generate_key(2048)
            return jwt.encode({"alg": algorithm, "kid": "one"}, claims, key, [algorithm])

    def save_token(token, request):
        """Keep nothing: no endpoint takes the access token."""

    server = AuthorizationServer(app, query_client=lambda name: client, save_token=save_token)
    server.register_grant(CodeGrant, [IdToken(require_nonce=True), CodeChallenge(required=True)])

    @app.get("/.well-known/openid-configuration")
    def describe():
        return jsonify(
            issuer=orders.get("described_issuer", issuer),
            authorization_endpoint=f"{issuer}/authorize",
            token_endpoint=f"{issuer}/token",
            jwks_uri=f"{issuer}/keys",
            authorization_response_iss_parameter_supported="names_itself" in orders,
            id_token_signing_alg_values_supported=["RS256", "HS256", "none"],
            code_challenge_methods_supported=["S256"],
        )

    @app.get("/keys")
    def list_keys():
        return jsonify(keys=[KEY.as_dict(private=False)])

    @app.get("/authorize")
    def authorize():
        if "error" in orders:
            state = request.args["state"]
            return redirect(f"{request.args['redirect_uri']}?error={orders['error']}&state={state}")
        grant = server.get_consent_grant(end_user=orders["claims"])
        return server.create_authorization_response(
            request=None, grant_user=orders["claims"], grant=grant
        )

    @app.post("/token")
    def issue_token():
        return server.create_token_response()

    @app.put("/orders")
    def order():
        orders.clear()
        orders.update(request.json)
        return "", 204

    return app


def main() -> None:
    port, client_id, callback = sys.argv[1:]
    os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"
    app = make_app(Client(client_id, callback), f"http://127.0.0.1:{port}")
    app.run("127.0.0.1", int(port), threaded=False)


if __name__ == "__main__":
    main()
