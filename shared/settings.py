"""The configuration of every process: environment variables only, checked at start (contract.md 7)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Annotated, Final, TypeVar

from pydantic import Field, ValidationError, ValidationInfo, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from shared.encryption import SecretCipher
from shared.shards import ShardAddress, parse_shards

_ORIGIN: Final = re.compile(r"https?://[a-z0-9._-]{1,253}(:[0-9]{1,5})?")
_BROKER: Final = re.compile(r"rediss?://")
_QUEUE: Final = "interactive|validate|batch"


class FetcherSettings(BaseSettings):
    """What the fetcher reads: it goes out to servers of strangers, and is told no secret."""

    model_config = SettingsConfigDict(env_prefix="PRESSROOM_", frozen=True, extra="ignore")

    outbound_allow_private: bool = False
    fetcher_bind: Annotated[str, Field(pattern=r"^[^:/\s]+:[0-9]{1,5}$")] = Field(
        default="127.0.0.1:9106", description="address and port that the fetcher is asked on"
    )
    fetcher_cache_mb: Annotated[int, Field(ge=0, le=65536)] = 256
    fetcher_metrics_port: Annotated[int, Field(ge=0, le=65535)] = 0
    metrics_address: str = Field(
        default="", description="address the metrics ports listen on; empty is every one"
    )
    log_level: str = "INFO"
    log_format: Annotated[str, Field(pattern="^(json|text)$")] = "json"


class Settings(FetcherSettings):
    """What operators can set; each field is `PRESSROOM_` and its name in capitals."""

    database_url: str = Field(
        description="SQLAlchemy URL: sqlite:////path or postgresql+psycopg://user:pw@host/db"
    )
    database_connections: Annotated[int, Field(ge=2, le=100)] = Field(
        default=5, description="connections that one process may have to PostgreSQL at once"
    )
    redis_url: str = Field(
        description="redis://[:password@]host:port/0; append-only and noeviction are required; "
        "several, each as URL or NAME=URL with spaces between, are the farm's shards"
    )
    broker_url: str = Field(
        default="",
        description="the broker of tasks, as redis://… or rediss://…; empty is the Redis server itself, "
        "and with several shards each shard's",
    )
    task_events: bool = Field(
        default=False,
        description="whether workers publish task events, which flower and `celery events` show",
    )
    redis_shard: str = Field(
        default="",
        description="the shard whose queues a worker takes from, where there are several",
    )
    blob_url: str = Field(
        description="file:///folder, or s3://key:secret@host:port/bucket (s3+http:// without TLS)"
    )

    secret_keys: str = Field(
        default="",
        description="what encrypts the secrets of webhooks in the database: 32 random bytes in "
        "Base64; several, with spaces between, the newest first. The front and hooks need it",
    )

    render_budget: Annotated[float, Field(gt=0, le=3600)] = 60.0
    worker_concurrency: Annotated[int, Field(ge=1, le=256)] = 2
    worker_queues: Annotated[str, Field(pattern=f"^({_QUEUE})(,({_QUEUE}))*$")] = Field(
        default="interactive,validate,batch",
        description="what a worker takes from, in order of precedence",
    )
    worker_nice: Annotated[int, Field(ge=0, le=19)] = 0
    record_days: Annotated[int, Field(ge=2, le=3650)] = Field(
        default=7, description="days that the records of jobs and batches that have ended are kept"
    )
    ledger_months: Annotated[int, Field(ge=0, le=1200)] = Field(
        default=0, description="whole months that rows of the usage ledger are kept; 0 is for ever"
    )
    max_unfinished_batches: Annotated[int, Field(ge=0, le=100_000)] = 100
    child_memory_mb: Annotated[int, Field(ge=128, le=65536)] = 1024
    child_max_jobs: Annotated[int, Field(ge=1)] = 10_000
    api_processes: Annotated[int, Field(ge=1, le=64)] = 2
    api_connections: Annotated[int, Field(ge=10, le=100_000)] = Field(
        default=1000,
        description="connections of clients that each process of the front has at once",
    )
    enforce_rate_limits: bool = Field(
        default=True,
        description="whether plans have rates; one that was set for an account always holds",
    )
    cors_origins: str = Field(
        default="",
        description="origins whose pages may call the front from a browser, separated by spaces, each "
        "as https://host[:port]; * is any; empty is none",
    )
    fetcher_url: Annotated[str, Field(pattern="^http://[^/@]+$")] = Field(
        default="http://127.0.0.1:9106", description="where fronts and workers ask the fetcher"
    )
    metrics_dir: str | None = Field(
        default=None, description="folder for the metric files of the front's processes"
    )
    worker_metrics_port: Annotated[int, Field(ge=0, le=65535)] = 0
    counter_metrics_port: Annotated[int, Field(ge=0, le=65535)] = 0
    keeper_metrics_port: Annotated[int, Field(ge=0, le=65535)] = 0
    hooks_metrics_port: Annotated[int, Field(ge=0, le=65535)] = 0
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
    def _check_broker(cls, text: str, read: ValidationInfo) -> str:
        if text and not _BROKER.match(text):
            raise ValueError("accepted is redis://… or rediss://…")
        if text and " " in str(read.data.get("redis_url", "")).strip():
            raise ValueError(
                "each shard is a broker of its own; leave it empty with several shards"
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
        """Return what encrypts secrets at rest.

        Raises:
            WrongSetting: no key is set.
        """
        if not self.secret_keys:
            raise WrongSetting(
                "PRESSROOM_SECRET_KEYS: the front and hooks need a key that encrypts the secrets of "
                "webhooks; `openssl rand -base64 32` makes one"
            )
        return _read_keys(self.secret_keys)

    @field_validator("cors_origins")
    @classmethod
    def _check_origins(cls, text: str) -> str:
        for origin in text.split():
            if origin != "*" and not _ORIGIN.fullmatch(origin):
                raise ValueError(
                    f"{origin!r} is no origin; accepted are https://host[:port] and http://host[:port] in "
                    "lower case, without a path, separated by spaces, or *"
                )
        return text

    @property
    def shards(self) -> tuple[ShardAddress, ...]:
        """Give the farm's Redis servers."""
        return parse_shards(self.redis_url)

    def broker_url_of(self, shard: ShardAddress) -> str:
        """Return the URL of the broker that the tasks of a shard pass through."""
        return self.broker_url or shard.url

    @property
    def own_shard(self) -> ShardAddress:
        """Give the Redis server that this worker takes from.

        Raises:
            WrongSetting: there are several and none is chosen, or there is no such one.
        """
        shards = {shard.name: shard for shard in self.shards}
        if not self.redis_shard and len(shards) == 1:
            return self.shards[0]
        if self.redis_shard not in shards:
            raise WrongSetting(
                "PRESSROOM_REDIS_SHARD: a worker takes from one shard; accepted is one of "
                f"{', '.join(shards)}"
            )
        return shards[self.redis_shard]


def _read_keys(text: str) -> SecretCipher:
    try:
        return SecretCipher(text.split())
    except ValueError:
        # Without the cause, whose text may show a key.
        raise ValueError(
            "each key must be 32 bytes in Base64; `openssl rand -base64 32` makes one"
        ) from None


_S = TypeVar("_S", bound=FetcherSettings)


class WrongSetting(Exception):
    """A setting is missing or wrong; the text names the variable and what it accepts."""


@lru_cache(maxsize=1)
def get_settings() -> Settings:
    """Read the settings once per process.

    Raises:
        WrongSetting: with one line per variable that is missing or wrong.
    """
    return load_settings({})


def load_settings(given: Mapping[str, str]) -> Settings:
    """Check settings given by their variables' names; what is not given is the environment's.

    Raises:
        WrongSetting: with one line per variable that is missing or wrong.
    """
    return _check(Settings, given)


def get_fetcher_settings() -> FetcherSettings:
    """Read what the fetcher is told by the environment, which need not name a store.

    Raises:
        WrongSetting: with one line per variable that is wrong.
    """
    return _check(FetcherSettings, {})


def _check(kind: type[_S], given: Mapping[str, str]) -> _S:
    named = {field: f"PRESSROOM_{field.upper()}" for field in kind.model_fields}
    try:
        return kind(
            **{field: given[name] for field, name in named.items() if name in given}  # type: ignore[arg-type]
        )
    except ValidationError as error:
        lines = [
            f"PRESSROOM_{'_'.join(str(part) for part in problem['loc']).upper()}: {problem['msg']}"
            for problem in error.errors()
        ]
        raise WrongSetting("\n".join(lines)) from error
