"""The configuration of all processes: environment variables, checked at start."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields
from datetime import timedelta
from functools import lru_cache
from types import MappingProxyType
from typing import Annotated, Any, Final, TypeVar, get_type_hints

from msgspec import Meta, ValidationError, convert

from shared.auth.single_sign_on import (
    DEFAULT_ROLES,
    SingleSignOn,
    derive_state_keys,
    parse_grants,
    parse_roles,
)
from shared.broker_url import check_amqp_url
from shared.encryption import SecretCipher
from shared.limits import MAX_BATCH_BYTES, MAX_BATCH_DOCUMENTS, MAX_BODY_BYTES, MB
from shared.shards import ShardAddress, parse_shards

_ORIGIN: Final = re.compile(r"https?://[a-z0-9._-]{1,253}(:[0-9]{1,5})?")
_STUDIO_URL: Final = r"^(https?://(\[[0-9a-f:]+\]|[a-z0-9._-]{1,253})(:[0-9]{1,5})?)?$"
_LOOPBACK: Final = re.compile(r"http://(localhost|127\.0\.0\.1|\[::1\])(:[0-9]{1,5})?(/\S*)?")
_Port = Annotated[int, Meta(ge=0, le=65535)]
_QUEUE: Final = "interactive|preview|validate|batch"


@dataclass(frozen=True, kw_only=True)
class ProcessSettings:
    """Settings of every process."""

    # Address that the metrics ports listen on; empty means all.
    metrics_address: str = ""
    log_level: str = "INFO"
    log_format: Annotated[str, Meta(pattern="^(json|text)$")] = "json"


@dataclass(frozen=True, kw_only=True)
class LimitSettings(ProcessSettings):
    """Limits and retention, which an operator may change; `get_limits` returns them wherever they apply."""

    # Largest body of a render, in MB, unpacked.
    body_mb: Annotated[int, Meta(ge=1, le=256)] = MAX_BODY_BYTES // MB
    # Largest body of a batch, in MB, unpacked.
    batch_mb: Annotated[int, Meta(ge=1, le=4096)] = MAX_BATCH_BYTES // MB
    # Most documents of a batch.
    batch_documents: Annotated[int, Meta(ge=1, le=1_000_000)] = MAX_BATCH_DOCUMENTS
    # Hours that PDFs of jobs and batches are kept after their end.
    result_hours: Annotated[int, Meta(ge=1, le=8760)] = 24
    # Days that records of ended jobs and batches are kept.
    record_days: Annotated[int, Meta(ge=2, le=3650)] = 7

    @property
    def body_bytes(self) -> int:
        """The largest body of a render."""
        return self.body_mb * MB

    @property
    def batch_bytes(self) -> int:
        """The largest body of a batch."""
        return self.batch_mb * MB

    @property
    def record_retention(self) -> timedelta:
        """How long records are kept after the end of their job or batch."""
        return timedelta(days=self.record_days)


@dataclass(frozen=True, kw_only=True)
class FetcherSettings(ProcessSettings):
    """Settings of the fetcher, which connects to servers on the internet and gets no secrets."""

    outbound_allow_private: bool = False
    # Address and port that the fetcher listens on.
    fetcher_bind: Annotated[str, Meta(pattern=r"^[^:/\s]+:[0-9]{1,5}$")] = "127.0.0.1:9106"
    fetcher_cache_mb: Annotated[int, Meta(ge=0, le=65536)] = 256
    fetcher_metrics_port: _Port = 0


@dataclass(frozen=True, kw_only=True)
class SignerSettings(ProcessSettings):
    """Settings of the signer, which has the keys of accounts and runs no document."""

    # Address and port that the signer listens on.
    signer_bind: Annotated[str, Meta(pattern=r"^[^:/\s]+:[0-9]{1,5}$")] = "127.0.0.1:9108"
    # Folder with the certificates of accounts, ACCOUNT_ID.NAME.p12 or .toml, and their passwords, ACCOUNT_ID.NAME.password;
    # `pressroom up` starts a signer if it is set.
    signer_certificates: str = ""
    # Time-stamp authority (RFC 3161) that attests when files were signed; empty is none.
    signer_timestamp_url: str = ""
    signer_metrics_port: _Port = 0


@dataclass(frozen=True, kw_only=True)
class RuleSettings(ProcessSettings):
    """Settings of the rules that electronic invoices are checked by."""

    # Folder of rule packs, each in a folder of its own, beside those of installed packages; empty is none.
    rules: str = ""


@dataclass(frozen=True, kw_only=True)
class Settings(LimitSettings, FetcherSettings, SignerSettings, RuleSettings):
    """The settings; the variable of a field is `PRESSROOM_` and its name in capitals."""

    # SQLAlchemy URL: sqlite:////path or postgresql+psycopg://user:pw@host/db.
    database_url: str
    # Connections to PostgreSQL that one process may open.
    database_connections: Annotated[int, Meta(ge=2, le=100)] = 5
    # redis://[:password@]host:port/0; append-only and noeviction are required; several, each as URL or NAME=URL
    # separated by spaces, are the farm's shards.
    redis_url: str
    # amqp://user:password@host:port/vhost, or amqps:// for TLS: RabbitMQ as the broker of tasks; empty is Redis,
    # which has all else either way.
    broker_url: str = ""
    # A Redis without persistence, which has all content of renders of accounts that keep no results.
    memory_redis_url: str = ""
    # Whether workers publish task events for flower and `celery events`.
    task_events: bool = False
    # The shard whose queues a worker consumes, required if there are several.
    redis_shard: str = ""
    # file:///folder, or s3://key:secret@host:port/bucket (s3+http:// without TLS).
    blob_url: str

    # Keys that encrypt the secrets of webhooks in the database: 32 random bytes in Base64 each, separated by spaces,
    # the newest first. The front and webhooks need them.
    secret_keys: str = ""

    # Keys of an operator for /v2/admin, which is 404 without one: 32 or more letters and digits each, separated by spaces.
    admin_keys: Annotated[str, Meta(pattern=r"^([A-Za-z0-9_-]{32,200}( |$))*$")] = ""
    # The port of the front, among those that it listens on, that alone serves /v2/admin; 0 means all.
    admin_port: Annotated[int, Meta(ge=0, le=65535)] = 0
    # Whether the audit log has who read stored results and templates, beside who changed what.
    audit_reads: bool = False
    # Days that entries of the audit log are kept; 0 means forever.
    audit_days: Annotated[int, Meta(ge=0, le=36500)] = 730

    render_budget: Annotated[float, Meta(gt=0, le=3600)] = 60.0
    # Seconds that a preview may take, including its wait.
    preview_budget: Annotated[float, Meta(gt=0, le=600)] = 10.0
    # Rate of previews of each account.
    preview_rate: Annotated[str, Meta(pattern="^[1-9][0-9]{0,8}/(second|minute)$")] = "20/second"
    worker_concurrency: Annotated[int, Meta(ge=1, le=256)] = 2
    # Queues that a worker consumes, in order of precedence.
    worker_queues: Annotated[str, Meta(pattern=f"^({_QUEUE})(,({_QUEUE}))*$")] = (
        "interactive,preview,validate,batch"
    )
    worker_nice: Annotated[int, Meta(ge=0, le=19)] = 0
    # Whole months that rows of the usage ledger are kept; 0 means forever.
    ledger_months: Annotated[int, Meta(ge=0, le=1200)] = 0
    # Requests of one account that may wait at once to be rendered, validated or drawn; more are answered 429.
    max_waiting: Annotated[int, Meta(ge=1, le=100_000)] = 500
    max_unfinished_batches: Annotated[int, Meta(ge=0, le=100_000)] = 100
    # Its address space is some 230 MB before it renders anything.
    child_memory_mb: Annotated[int, Meta(ge=512, le=65536)] = 1024
    child_max_jobs: Annotated[int, Meta(ge=1)] = 10_000
    api_processes: Annotated[int, Meta(ge=1, le=64)] = 2
    # Client connections that each process of the front accepts at once.
    api_connections: Annotated[int, Meta(ge=10, le=100_000)] = 1000
    # Whether the rates of plans apply; a rate set for an account always applies.
    enforce_rate_limits: bool = True
    # Origins allowed to call the front from a browser (CORS), separated by spaces, each as https://host[:port]; *
    # allows all, empty none.
    cors_origins: str = ""
    # Minutes after which an unused session of the Studio ends.
    studio_idle_minutes: Annotated[int, Meta(ge=1, le=10_080)] = 60
    # Hours after which a session of the Studio ends in any case.
    studio_session_hours: Annotated[int, Meta(ge=1, le=720)] = 12
    # Whether the Studio works without TLS, on localhost only.
    studio_local_http: bool = False
    # Address of the service in browsers, https://host[:port] without a path; single sign-on and links in mails need it.
    studio_url: Annotated[str, Meta(pattern=_STUDIO_URL)] = ""
    # Issuer of the OpenID Connect provider at which people sign in to the Studio; empty is none.
    oidc_issuer: Annotated[str, Meta(pattern=r"^(https?://[^\s?#]{1,500})?$")] = ""
    oidc_client_id: str = ""
    oidc_client_secret: str = ""
    oidc_name: Annotated[str, Meta(pattern=r"^[^\x00-\x1f\x7f]{1,40}$")] = "Single sign-on"
    oidc_scopes: Annotated[str, Meta(pattern=r"^(\S+ )*openid( \S+)*$")] = "openid email profile"
    # Claim of the ID token whose values the grants name.
    oidc_claim: Annotated[str, Meta(pattern=r"^\S{1,200}$")] = "groups"
    # VALUE=ACCOUNT_ID:ROLE, separated by spaces: who has which role in which account.
    oidc_grants: str = ""
    oidc_roles: str = DEFAULT_ROLES
    # URL of the fetcher for fronts and workers.
    fetcher_url: Annotated[str, Meta(pattern="^http://[^/@]+$")] = "http://127.0.0.1:9106"
    # URL of the signer for workers; empty is a farm that signs no files.
    signer_url: Annotated[str, Meta(pattern="^(http://[^/@]+)?$")] = ""
    # Folder in memory of the metric files of fronts and workers.
    metrics_dir: str | None = None
    worker_metrics_port: _Port = 0
    counter_metrics_port: _Port = 0
    maintenance_metrics_port: _Port = 0
    webhooks_metrics_port: _Port = 0
    traces: bool = False
    account_metrics: Annotated[int, Meta(ge=0, le=10_000)] = 100
    blob_quota_gb: Annotated[int, Meta(ge=0)] = 0

    @property
    def secret_cipher(self) -> SecretCipher:
        """The cipher for secrets at rest.

        Raises:
            WrongSetting: no key is set.
        """
        if not self.secret_keys:
            raise WrongSetting(
                "PRESSROOM_SECRET_KEYS: the front and webhooks need a key that encrypts the secrets of "
                "webhooks; `openssl rand -base64 32` creates one"
            )
        return _read_keys(self.secret_keys)

    @property
    def single_sign_on(self) -> SingleSignOn | None:
        """The provider at which people sign in to the Studio, None without one.

        Raises:
            WrongSetting: what it needs is missing, or sent without TLS.
        """
        if not self.oidc_issuer:
            return None
        needed = ("oidc_client_id", "oidc_grants", "studio_url", "secret_keys")
        if missing := [name for name in needed if not getattr(self, name)]:
            raise WrongSetting(
                "\n".join(f"PRESSROOM_{name.upper()}: single sign-on needs it" for name in missing)
            )
        for name, url in (("oidc_issuer", self.oidc_issuer), ("studio_url", self.studio_url)):
            is_local = self.studio_local_http and _LOOPBACK.fullmatch(url)
            if not url.startswith("https://") and not is_local:
                raise WrongSetting(
                    f"PRESSROOM_{name.upper()}: single sign-on needs an https address; http is for "
                    "localhost with PRESSROOM_STUDIO_LOCAL_HTTP only"
                )
        return SingleSignOn(
            issuer=self.oidc_issuer,
            client_id=self.oidc_client_id,
            client_secret=self.oidc_client_secret,
            name=self.oidc_name,
            oidc_scopes=self.oidc_scopes,
            studio_url=self.studio_url,
            claim=self.oidc_claim,
            grants=parse_grants(self.oidc_grants),
            roles=parse_roles(self.oidc_roles),
            state_keys=derive_state_keys(self.secret_keys),
            key_seconds=self.studio_session_hours * 3600,
        )

    @property
    def shards(self) -> tuple[ShardAddress, ...]:
        """The farm's Redis servers."""
        return parse_shards(self.redis_url)

    def broker_of(self, shard: ShardAddress) -> str:
        """Return the URL of the broker that has a shard's tasks."""
        return self.broker_url or shard.url

    @property
    def own_shard(self) -> ShardAddress:
        """The shard that this worker consumes from.

        Raises:
            WrongSetting: there are several shards and none is chosen, or the chosen one does not exist.
        """
        shards = {shard.name: shard for shard in self.shards}
        if not self.redis_shard and len(shards) == 1:
            return self.shards[0]
        if self.redis_shard not in shards:
            raise WrongSetting(
                "PRESSROOM_REDIS_SHARD: a worker consumes from one shard; accepted is one of "
                f"{', '.join(shards)}"
            )
        return shards[self.redis_shard]


def _read_keys(text: str) -> SecretCipher:
    try:
        return SecretCipher(text.split())
    except ValueError:
        # Without the cause, whose message may contain a key.
        raise ValueError(
            "each key must be 32 bytes in Base64; `openssl rand -base64 32` creates one"
        ) from None


_S = TypeVar("_S", bound=ProcessSettings)


class WrongSetting(Exception):
    """A setting is missing or invalid; the message names the variable and what it accepts."""


@lru_cache(maxsize=1)
def get_settings() -> Settings:
    """Read the settings once per process.

    Raises:
        WrongSetting: one line for each variable that is missing or invalid.
    """
    return load_settings({})


def load_settings(given: Mapping[str, str]) -> Settings:
    """Check settings given by variable name; others come from the environment.

    Raises:
        WrongSetting: one line for each variable that is missing or invalid.
    """
    return read_settings(Settings, given)


@lru_cache(maxsize=1)
def get_limits() -> LimitSettings:
    """Read the limits once per process.

    Raises:
        WrongSetting: one line for each variable that is invalid.
    """
    return read_settings(LimitSettings)


def read_settings(kind: type[_S], given: Mapping[str, str] = MappingProxyType({})) -> _S:
    """Read the settings of a kind of process, given by variable name or else from the environment.

    Raises:
        WrongSetting: one line for each variable that is missing or invalid.
    """
    found = {**os.environ, **given}
    values: dict[str, Any] = {}
    problems: list[str] = []
    types = get_type_hints(kind, include_extras=True)
    for field in fields(kind):
        variable = f"PRESSROOM_{field.name.upper()}"
        try:
            if variable in found:
                value = convert(found[variable], types[field.name], strict=False)
                if field.name in _CHECKS:
                    _CHECKS[field.name](value, values)
                values[field.name] = value
            elif field.default is MISSING:
                raise ValueError("is required")
        except (ValidationError, ValueError) as error:
            problems.append(f"{variable}: {error}")
    if problems:
        raise WrongSetting("\n".join(problems))
    return kind(**values)


def _check_records(days: int, others: Mapping[str, Any]) -> None:
    if days * 24 < others.get("result_hours", 0):
        raise ValueError("records are kept at least as long as results (PRESSROOM_RESULT_HOURS)")


def _check_broker(text: str, others: Mapping[str, Any]) -> None:
    if text:
        check_amqp_url(text)
    if text and len(others.get("redis_url", "").split()) > 1:
        raise ValueError(
            "a farm of several shards has its tasks on their Redis servers; leave it out"
        )


def _check_origins(text: str, _others: Mapping[str, Any]) -> None:
    for origin in text.split():
        if origin != "*" and not _ORIGIN.fullmatch(origin):
            raise ValueError(
                f"{origin!r} is not an origin; accepted are https://host[:port] and http://host[:port] in "
                "lower case, without a path, separated by spaces, or *"
            )


# What the type of a field does not say. A check gets the fields before it too, which it may depend on.
_CHECKS: Final[Mapping[str, Callable[[Any, Mapping[str, Any]], object]]] = {
    "record_days": _check_records,
    "redis_url": lambda text, _: parse_shards(text),
    "broker_url": _check_broker,
    "secret_keys": lambda text, _: _read_keys(text) if text else None,
    "cors_origins": _check_origins,
    "oidc_grants": lambda text, _: parse_grants(text),
    "oidc_roles": lambda text, _: parse_roles(text),
}
