"""One front for all tests of a file, on SQLite: they only use its sockets."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from shared.encryption import new_key
from shared.settings import Settings
from tests.api.conftest import running_front
from tests.conftest import copy_database
from tests.servers import RedisServer


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.system)


@pytest.fixture(scope="module")
def settings(
    redis_server: RedisServer,
    migrated_database: Path,
    fetcher_url: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> Settings:
    folder = tmp_path_factory.mktemp("front")
    return Settings(
        database_url=copy_database(migrated_database, folder),
        redis_url=redis_server.url,
        blob_url=f"file://{folder}/blobs",
        fetcher_url=fetcher_url,
        secret_keys=new_key(),
        render_budget=30,
        enforce_rate_limits=False,
    )


@pytest.fixture
def database_url(settings: Settings) -> str:
    return settings.database_url


@pytest.fixture(scope="module")
def port(settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    with running_front(settings, tmp_path_factory.mktemp("gunicorn")) as front:
        yield front.port
