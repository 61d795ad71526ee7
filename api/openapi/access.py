"""The operations and schemas of the account, keys, sessions and the Studio."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from api.openapi.json_schema import (
    PRINTABLE_PATTERN,
    TIMESTAMP_PATTERN,
    Schema,
    array_of,
    boolean,
    date_time,
    integer,
    object_schema,
    ref,
    strict_object,
    string,
)
from api.openapi.model import (
    LIMIT,
    NO_CONTENT,
    Operation,
    OperationResponse,
    Parameter,
    RequestBody,
    json_content,
)
from api.openapi.schemas import DRAFT_USAGE, PERIOD
from shared.scopes import Scope, list_scopes

KEY_ID: Final = Parameter(
    "key_id",
    string("A key's id.", pattern="^key_[a-z2-7]{24}$", examples=["key_3ocgfeeghiuyg5wnorrj2owg"]),
    "A key of the account, by its id.",
)
FILE: Final = Parameter(
    "file",
    string(
        "A file's name.",
        minLength=1,
        maxLength=100,
        pattern="^[A-Za-z0-9.-]+$",
        examples=["index.html"],
    ),
    "A file of the page.",
)
_DATE: Final = Parameter(
    "date",
    {"type": "string", "pattern": TIMESTAMP_PATTERN, "examples": ["2026-11-26"]},
    "A date in the billing period, YYYY-MM-DD or an ISO 8601 timestamp; default is the current period.",
)
_FROM_STUDIO: Final = Parameter(
    "X-Pressroom-Studio",
    {"type": "string", "enum": ["1"]},
    "Marks requests of the Studio's page. Sec-Fetch-Site or Origin must be those of the page, too.",
    is_required=True,
)
_SCOPES: Final[Schema] = {
    "type": "array",
    "items": {"type": "string", "enum": list_scopes(Scope)},
    "minItems": 1,
    "uniqueItems": True,
    "description": "The permissions of the key.",
}
_USED: Final[dict[str, Schema]] = {
    "pagesGenerated": integer("Production pages."),
    "apiCalls": integer("Production renders that returned a PDF."),
    "draft": DRAFT_USAGE,
}
_KEY: Final[dict[str, Schema]] = {
    "id": string("Id of the key."),
    "display": string(
        "Its first 7 and last 4 characters; `sign-in` for one of a person who signs in at a provider."
    ),
    "name": string("The name set at its creation."),
    "scopes": _SCOPES,
    "user": ref("UserRef"),
    "created_at": date_time("When it was created."),
    "expires_at": date_time("When it expires; absent if never."),
    "revoked_at": date_time("When it was revoked."),
    "is_own": boolean("Whether the request was authenticated with it."),
}
_OPTIONAL: Final = ("name", "expires_at", "revoked_at")

ACCESS_SCHEMAS: Final[Mapping[str, Schema]] = {
    "Account": object_schema(
        {
            "id": string("Id of the account."),
            "user": ref("UserRef"),
            "key_id": string("Id of the key of the request."),
            "scopes": _SCOPES,
            "plan": string("The plan.", enum=["free", "paid"]),
            "has_workspace": boolean(
                "Whether the account has a workspace for slugs, images and fonts."
            ),
            "rate_limit": ref("RateLimit"),
        },
        optional=("rate_limit",),
    ),
    "RateLimit": object_schema(
        {
            "requests": integer("Maximum number of requests in a window.", minimum=1),
            "window_seconds": integer("Length of the window in seconds.", minimum=1),
        }
    ),
    "UsageDays": object_schema(
        {
            **PERIOD,
            "days": array_of("UsageDay", description="Days with usage, in order."),
        }
    ),
    "UsageDay": object_schema({"date": string("The day, in UTC.", format="date")} | _USED),
    "UsageTemplates": object_schema(
        {
            **PERIOD,
            "templates": array_of("UsageTemplate", description="Templates, most pages first."),
            "has_more": boolean("Whether there are more than the limit."),
        }
    ),
    "UsageTemplate": object_schema(
        {
            "template": string("Id of the template; absent for documents without one."),
            "name": string("Its name, also if it was deleted; absent for documents without one."),
        }
        | _USED,
        optional=("template", "name"),
    ),
    "Key": object_schema(_KEY, optional=_OPTIONAL),
    "KeyWithSecret": object_schema(
        _KEY | {"key": string("The secret of the key, returned only here.")}, optional=_OPTIONAL
    ),
    "KeyList": object_schema({"keys": array_of("Key")}),
    "KeyRequest": strict_object(
        {
            "name": string(
                "Name of the key.", minLength=1, maxLength=200, pattern=PRINTABLE_PATTERN
            ),
            "expires_at": string(
                "When the key expires, a date or ISO 8601 timestamp in the future; without an offset in UTC.",
                pattern=TIMESTAMP_PATTERN,
                examples=["2031-01-31T12:00:00Z"],
            ),
            "scopes": _SCOPES
            | {
                "description": "The permissions of the key; default is the scopes of the request's key."
            },
        },
        optional=("name", "expires_at", "scopes"),
    ),
    "Session": object_schema(
        {
            "opened_at": date_time("When it was opened."),
            "expires_at": date_time("When it ends at the latest; idle sessions end earlier."),
        }
    ),
    "SignIn": object_schema(
        {
            "provider": string(
                "The name of the provider, null if there is none.", type=["string", "null"]
            )
        }
    ),
}

_BEGUN: Final = "What the callback needs: HttpOnly, SameSite=Lax, Secure."

ACCESS_OPERATIONS: Final = (
    Operation(
        "get", "/v2/account/usage", "reportUsage", "Account", "Report usage",
        "Pages and renders of a billing period, which runs from renewal day to renewal day.",
        {200: OperationResponse("The report.", json_content("Usage"))},
        query_parameters=(_DATE,),
    ),
    Operation(
        "get", "/v2/account", "readAccount", "Account", "Read the account",
        "The plan and rate limit of the account, and the user of the key.",
        {200: OperationResponse("The account.", json_content("Account"))},
    ),
    Operation(
        "get", "/v2/account/usage/days", "reportUsageByDay", "Account", "Report usage by day",
        "Pages and renders of a billing period by day. A render is included a few seconds after it has ended.",
        {200: OperationResponse("The report.", json_content("UsageDays"))},
        query_parameters=(_DATE,),
    ),
    Operation(
        "get", "/v2/account/usage/templates", "reportUsageByTemplate", "Account", "Report usage by template",
        "Pages and renders of a billing period by template, those with most pages first. A render is included a few "
        "seconds after it has ended.",
        {200: OperationResponse("The report.", json_content("UsageTemplates"))},
        query_parameters=(_DATE, LIMIT),
    ),
    Operation(
        "get", "/v2/keys", "listKeys", "Account", "List keys",
        "Oldest first, including revoked and expired keys.",
        {200: OperationResponse("The keys.", json_content("KeyList"))},
    ),
    Operation(
        "post", "/v2/keys", "createKey", "Account", "Create a key",
        "The key belongs to the account's user. Its scopes are at most those of the request's key, else 403. An account has at most 100 keys that are neither revoked nor "
        "expired; more are 409.",
        {201: OperationResponse("The key with its secret, which is returned only here.", json_content("KeyWithSecret"))},
        body=RequestBody(json_content("KeyRequest"), "Optional name and expiry.", is_required=False),
        errors={409: ()},
    ),
    Operation(
        "delete", "/v2/keys/{key_id}", "revokeKey", "Account", "Revoke a key",
        "Permanent; takes effect within a second, and ends the sessions of the key. The key of the request can "
        "be revoked, too.",
        {204: NO_CONTENT},
        errors={404: ()},
    ),
    Operation(
        "post", "/v2/session", "openSession", "Account", "Open a Studio session",
        "For the Studio's page: exchanges an API key for a session cookie. By default a session ends after an hour "
        "without requests, after 12 hours, or with its key. Other clients send the key with each request.",
        {
            201: OperationResponse(
                "The session.", json_content("Session"),
                {"Set-Cookie": "The session's cookie: HttpOnly, SameSite=Strict, Secure."},
            )
        },
        headers=(_FROM_STUDIO,),
    ),
    Operation(
        "get", "/v2/session", "readSession", "Account", "Read the session",
        "404 if the request has an API key instead of a session.",
        {200: OperationResponse("The session.", json_content("Session"))},
        errors={404: ()},
    ),
    Operation(
        "delete", "/v2/session", "endSession", "Account", "Sign out",
        "Ends the session of the request, and deletes its cookie.",
        {204: OperationResponse("Done; the response has no body.", headers={"Set-Cookie": "Deletes the cookie."})},
    ),
    Operation(
        "get", "/studio", "openStudio", "Operation", "Open the Studio",
        "The web page for template authors, which uses this API.",
        {200: OperationResponse("The page.", {"text/html": {"type": "string"}})},
    ),
    Operation(
        "get", "/studio/sign-in", "describeSignIn", "Operation", "Name the provider of single sign-on",
        "The OpenID Connect provider at which people may sign in to the Studio.",
        {200: OperationResponse("The provider.", json_content("SignIn"))},
    ),
    Operation(
        "get", "/studio/sign-in/begin", "beginSignIn", "Operation", "Sign in at the provider",
        "For browsers. Redirects to the provider, with state, nonce and a PKCE challenge. 400 for another parameter, 404 without a provider.",
        {302: OperationResponse("To the provider.", headers={"Location": "An address of the provider.", "Set-Cookie": _BEGUN})},
        query_parameters=(Parameter("account", string("An account's id."), "The account to sign in to, where a person has several."),),
        errors={400: (), 404: ()},
    ),
    Operation(
        "get", "/studio/sign-in/callback", "finishSignIn", "Operation", "Come back from the provider",
        "For browsers. Opens a session and shows the Studio, or shows why the sign-in failed.",
        {303: OperationResponse("To the Studio.", headers={"Location": "The Studio.", "Set-Cookie": "The session's cookie."})},
        query_parameters=(
            Parameter("code", string("From the provider."), "The authorization code."),
            Parameter("state", string("From the provider."), "The state of the sign-in."),
            Parameter("iss", string("From the provider."), "The issuer (RFC 9207)."),
            Parameter("error", string("From the provider."), "Why there is no code."),
        ),
        errors={404: ()},
    ),
    Operation(
        "get", "/studio/{file}", "readStudioFile", "Operation", "Read a file of the Studio",
        "File names contain a digest of the content.",
        {
            200: OperationResponse(
                "The file.",
                {
                    media: {"type": "string"}
                    for media in ("text/html", "text/javascript", "text/css", "application/json", "image/svg+xml", "text/plain")
                },
            )
        },
        errors={404: ()},
    ),
)  # fmt: skip
