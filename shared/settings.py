"""The configuration of all processes: environment variables, checked at start."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import timedelta
from functools import lru_cache
from typing import Annotated, Final, TypeVar

from pydantic import Field, ValidationError, ValidationInfo, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

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
_QUEUE: Final = "interactive|preview|validate|batch"


class ProcessSettings(BaseSettings):
    """Settings of every process."""

    model_config = SettingsConfigDict(env_prefix="PRESSROOM_", frozen=True, extra="ignore")

    metrics_address: str = Field(
        default="", description="address that the metrics ports listen on; empty means all"
    )
    log_level: str = "INFO"
    log_format: Annotated[str, Field(pattern="^(json|text)$")] = "json"


class LimitSettings(ProcessSettings):
    """Limits and retention, which an operator may change; `get_limits` returns them wherever they apply."""

    body_mb: Annotated[int, Field(ge=1, le=256)] = Field(
        default=MAX_BODY_BYTES // MB, description="largest body of a render, in MB, unpacked"
    )
    batch_mb: Annotated[int, Field(ge=1, le=4096)] = Field(
        default=MAX_BATCH_BYTES // MB, description="largest body of a batch, in MB, unpacked"
    )
    batch_documents: Annotated[int, Field(ge=1, le=1_000_000)] = Field(
        default=MAX_BATCH_DOCUMENTS, description="most documents of a batch"
    )
    result_hours: Annotated[int, Field(ge=1, le=8760)] = Field(
        default=24, description="hours that PDFs of jobs and batches are kept after their end"
    )
    record_days: Annotated[int, Field(ge=2, le=3650)] = Field(
        default=7, description="days that records of ended jobs and batches are kept"
    )

    @field_validator("record_days")
    @classmethod
    def _check_records(cls, days: int, info: ValidationInfo) -> int:
        if days * 24 < info.data.get("result_hours", 0):
            raise ValueError(
                "records are kept at least as long as results (PRESSROOM_RESULT_HOURS)"
            )
        return days

    @property
    def body_bytes(self) -> int:
        """The largest body of a render."""
        return self.body_mb * MB

    @property
    def batch_bytes(self) -> int:
        """The largest body of a batch."""
        return self.batch_mb * MB

    @property
    def result_retention(self) -> timedelta:
        """How long PDFs are kept after the end of their job or batch."""
        return timedelta(hours=self.result_hours)

    @property
    def record_retention(self) -> timedelta:
        """How long records are kept after the end of their job or batch."""
        return timedelta(days=self.record_days)


class FetcherSettings(ProcessSettings):
    """Settings of the fetcher, which connects to servers on the internet and gets no secrets."""

    outbound_allow_private: bool = False
    fetcher_bind: Annotated[str, Field(pattern=r"^[^:/\s]+:[0-9]{1,5}$")] = Field(
        default="127.0.0.1:9106", description="address and port that the fetcher listens on"
    )
    fetcher_cache_mb: Annotated[int, Field(ge=0, le=65536)] = 256
    fetcher_metrics_port: Annotated[int, Field(ge=0, le=65535)] = 0


class SignerSettings(ProcessSettings):
    """Settings of the signer, which has the keys of accounts and runs no document."""

    signer_bind: Annotated[str, Field(pattern=r"^[^:/\s]+:[0-9]{1,5}$")] = Field(
        default="127.0.0.1:9108", description="address and port that the signer listens on"
    )
    signer_certificates: str = Field(
        default="",
        description="folder with the certificates of accounts, ACCOUNT_ID.NAME.p12, and their passwords, "
        "ACCOUNT_ID.NAME.password; `pressroom up` starts a signer if it is set",
    )
    signer_timestamp_url: str = Field(
        default="",
        description="time-stamp authority (RFC 3161) that attests when files were signed; empty is none",
    )
    signer_metrics_port: Annotated[int, Field(ge=0, le=65535)] = 0


class Settings(LimitSettings, FetcherSettings, SignerSettings):
    """The settings; the variable of a field is `PRESSROOM_` and its name in capitals."""

    database_url: str = Field(
        description="SQLAlchemy URL: sqlite:////path or postgresql+psycopg://user:pw@host/db"
    )
    database_connections: Annotated[int, Field(ge=2, le=100)] = Field(
        default=5, description="connections to PostgreSQL that one process may open"
    )
    redis_url: str = Field(
        description="redis://[:password@]host:port/0; append-only and noeviction are required; "
        "several, each as URL or NAME=URL separated by spaces, are the farm's shards"
    )
    broker_url: str = Field(
        default="",
        description="amqp://user:password@host:port/vhost, or amqps:// for TLS: RabbitMQ as the broker of "
        "tasks; empty is Redis, which has all else either way",
    )
    task_events: bool = Field(
        default=False,
        description="whether workers publish task events for flower and `celery events`",
    )
    redis_shard: str = Field(
        default="",
        description="the shard whose queues a worker consumes, required if there are several",
    )
    blob_url: str = Field(
        description="file:///folder, or s3://key:secret@host:port/bucket (s3+http:// without TLS)"
    )

    secret_keys: str = Field(
        default="",
        description="keys that encrypt the secrets of webhooks in the database: 32 random bytes in "
        "Base64 each, separated by spaces, the newest first. The front and webhooks need them",
    )

    render_budget: Annotated[float, Field(gt=0, le=3600)] = 60.0
    preview_budget: Annotated[float, Field(gt=0, le=600)] = Field(
        default=10.0, description="seconds that a preview may take, including its wait"
    )
    preview_rate: Annotated[str, Field(pattern="^[1-9][0-9]{0,8}/(second|minute)$")] = Field(
        default="20/second", description="rate of previews of each account"
    )
    worker_concurrency: Annotated[int, Field(ge=1, le=256)] = 2
    worker_queues: Annotated[str, Field(pattern=f"^({_QUEUE})(,({_QUEUE}))*$")] = Field(
        default="interactive,preview,validate,batch",
        description="queues that a worker consumes, in order of precedence",
    )
    worker_nice: Annotated[int, Field(ge=0, le=19)] = 0
    ledger_months: Annotated[int, Field(ge=0, le=1200)] = Field(
        default=0,
        description="whole months that rows of the usage ledger are kept; 0 means forever",
    )
    max_waiting: Annotated[int, Field(ge=1, le=100_000)] = Field(
        default=500,
        description="requests of one account that may wait at once to be rendered, validated or drawn; "
        "more are answered 429",
    )
    max_unfinished_batches: Annotated[int, Field(ge=0, le=100_000)] = 100
    # Its address space is some 330 MB before it renders anything.
    child_memory_mb: Annotated[int, Field(ge=512, le=65536)] = 1024
    child_max_jobs: Annotated[int, Field(ge=1)] = 10_000
    api_processes: Annotated[int, Field(ge=1, le=64)] = 2
    api_connections: Annotated[int, Field(ge=10, le=100_000)] = Field(
        default=1000,
        description="client connections that each process of the front accepts at once",
    )
    enforce_rate_limits: bool = Field(
        default=True,
        description="whether the rates of plans apply; a rate set for an account always applies",
    )
    cors_origins: str = Field(
        default="",
        description="origins allowed to call the front from a browser (CORS), separated by spaces, each "
        "as https://host[:port]; * allows all, empty none",
    )
    studio_idle_minutes: Annotated[int, Field(ge=1, le=10_080)] = Field(
        default=60, description="minutes after which an unused session of the Studio ends"
    )
    studio_session_hours: Annotated[int, Field(ge=1, le=720)] = Field(
        default=12, description="hours after which a session of the Studio ends in any case"
    )
    studio_local_http: bool = Field(
        default=False,
        description="whether the Studio works without TLS, on localhost only",
    )
    studio_url: Annotated[str, Field(pattern=_STUDIO_URL)] = Field(
        default="",
        description="address of the service in browsers, https://host[:port] without a path; single "
        "sign-on needs it",
    )
    oidc_issuer: Annotated[str, Field(pattern=r"^(https?://[^\s?#]{1,500})?$")] = Field(
        default="",
        description="issuer of the OpenID Connect provider at which people sign in to the Studio; empty "
        "is none",
    )
    oidc_client_id: str = ""
    oidc_client_secret: str = ""
    oidc_name: Annotated[str, Field(pattern=r"^[^\x00-\x1f\x7f]{1,40}$")] = "Single sign-on"
    oidc_scopes: Annotated[str, Field(pattern=r"^(\S+ )*openid( \S+)*$")] = "openid email profile"
    oidc_claim: Annotated[str, Field(pattern=r"^\S{1,200}$")] = Field(
        default="groups", description="claim of the ID token whose values the grants name"
    )
    oidc_grants: str = Field(
        default="",
        description="VALUE=ACCOUNT_ID:ROLE, separated by spaces: who has which role in which account",
    )
    oidc_roles: str = DEFAULT_ROLES
    fetcher_url: Annotated[str, Field(pattern="^http://[^/@]+$")] = Field(
        default="http://127.0.0.1:9106", description="URL of the fetcher for fronts and workers"
    )
    signer_url: Annotated[str, Field(pattern="^(http://[^/@]+)?$")] = Field(
        default="", description="URL of the signer for workers; empty is a farm that signs no files"
    )
    metrics_dir: str | None = Field(
        default=None, description="folder in memory of the metric files of fronts and workers"
    )
    worker_metrics_port: Annotated[int, Field(ge=0, le=65535)] = 0
    counter_metrics_port: Annotated[int, Field(ge=0, le=65535)] = 0
    maintenance_metrics_port: Annotated[int, Field(ge=0, le=65535)] = 0
    webhooks_metrics_port: Annotated[int, Field(ge=0, le=65535)] = 0
    traces: bool = False
    account_metrics: Annotated[int, Field(ge=0, le=10_000)] = 100
    blob_quota_gb: Annotated[int, Field(ge=0)] = 0

    @field_validator("redis_url")
    @classmethod
    def _check_shards(cls, text: str) -> str:
        parse_shards(text)
        return text

    @field_validator("broker_url")
    @classmethod
    def _check_broker(cls, text: str, info: ValidationInfo) -> str:
        if text:
            check_amqp_url(text)
        if text and len(info.data.get("redis_url", "").split()) > 1:
            raise ValueError(
                "a farm of several shards has its tasks on their Redis servers; leave it out"
            )
        return text

    @field_validator("secret_keys")
    @classmethod
    def _check_keys(cls, text: str) -> str:
        if text:
            _read_keys(text)
        return text

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

    @field_validator("cors_origins")
    @classmethod
    def _check_origins(cls, text: str) -> str:
        for origin in text.split():
            if origin != "*" and not _ORIGIN.fullmatch(origin):
                raise ValueError(
                    f"{origin!r} is not an origin; accepted are https://host[:port] and http://host[:port] in "
                    "lower case, without a path, separated by spaces, or *"
                )
        return text

    @field_validator("oidc_grants")
    @classmethod
    def _check_grants(cls, text: str) -> str:
        parse_grants(text)
        return text

    @field_validator("oidc_roles")
    @classmethod
    def _check_roles(cls, text: str) -> str:
        parse_roles(text)
        return text

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
    return _check(Settings, given)


@lru_cache(maxsize=1)
def get_limits() -> LimitSettings:
    """Read the limits once per process.

    Raises:
        WrongSetting: one line for each variable that is invalid.
    """
    return _check(LimitSettings, {})


def get_fetcher_settings() -> FetcherSettings:
    """Read the fetcher's settings from the environment, which need not name any store.

    Raises:
        WrongSetting: one line for each variable that is invalid.
    """
    return _check(FetcherSettings, {})


def get_signer_settings() -> SignerSettings:
    """Read the signer's settings from the environment, which need not name any store.

    Raises:
        WrongSetting: one line for each variable that is invalid.
    """
    return _check(SignerSettings, {})


def _check(kind: type[_S], given: Mapping[str, str]) -> _S:
    named = {field: f"PRESSROOM_{field.upper()}" for field in kind.model_fields}
    try:
        return kind(**{field: given[name] for field, name in named.items() if name in given})
    except ValidationError as error:
        lines = [
            f"PRESSROOM_{'_'.join(str(part) for part in problem['loc']).upper()}: {problem['msg']}"
            for problem in error.errors()
        ]
        raise WrongSetting("\n".join(lines)) from error
