"""The backlog of batches as the usage counter exports it: of every shard, from the rows of the database."""

from __future__ import annotations

from array import array
from datetime import timedelta
from functools import partial

import pytest
from prometheus_client import CollectorRegistry, generate_latest
from sqlalchemy import update

from shared.batches.chunk_results import StoredPart, commit_slice, start_slice
from shared.batches.records import BatchOutput, DocumentResult, JobSlice, split_into_chunks
from shared.batches.repository import add_batch, cancel_batch
from shared.batches.slice_scheduling import claim_slices, ensure_in_rotation
from shared.blobs.factory import open_store
from shared.clock import now
from shared.db.tables import jobs
from shared.identifiers import new_id
from shared.jobs.repository import JobStatus, add_jobs, claim_jobs
from shared.shards import PerShard, ShardAddress
from shared.telemetry.readings import FarmDepth
from tests.bench.feeding import make_batch
from tests.shared.jobs.test_slices import record
from workers.counter.main import FarmCollector, StatisticsCollector

SHARDS = ("a", "b")
HOMES = PerShard([ShardAddress(name, "redis://x") for name in SHARDS], lambda shard: shard.name)


class Idle:
    def read_depth(self):
        return FarmDepth({})


def account_of(shard):
    return next(name for name in iter(partial(new_id, "acc"), "") if HOMES.of(name) == shard)


@pytest.fixture
def accept(database):
    def accept(account, documents, *, ago):
        batch = make_batch(account, now() - timedelta(seconds=ago))
        starts = array("q", range(0, documents * 10, 10))
        chunks = split_into_chunks(batch.id, starts, end=documents * 10, output=BatchOutput.ZIP)
        with database.session() as session:
            add_batch(session, batch, chunks)
        return batch.id

    return accept


@pytest.fixture
def exported(database, tmp_path):
    """Collect the statistics and return the gauges of the backlog, by name and shard."""

    def exported(shards=SHARDS):
        statistics = StatisticsCollector(
            database, open_store(f"file://{tmp_path}/blobs"), accounts=1, shards=shards
        )
        statistics.collect()
        collector = FarmCollector(
            {name: Idle() for name in shards}, read_statistics=lambda: statistics.latest
        )
        registry = CollectorRegistry()
        registry.register(collector)
        text = generate_latest(registry).decode()
        lines = [line for line in text.splitlines() if line.startswith("pressroom_batch")]
        return {name: float(value) for name, value in (line.split() for line in lines)}

    return exported


def test_a_farm_without_batches_exports_zeros_for_each_shard(exported):
    assert exported() == {
        f'pressroom_{name}{{shard="{shard}"}}': 0.0
        for name in ("batches_unfinished", "batch_documents_left", "batch_oldest_seconds")
        for shard in SHARDS
    }


def test_15000_documents_are_left_wherever_they_wait(accept, exported):
    mine, other = account_of("a"), account_of("b")
    accept(mine, 9_000, ago=500)
    accept(mine, 6_000, ago=100)
    accept(other, 10, ago=20)
    found = exported()
    assert found['pressroom_batches_unfinished{shard="a"}'] == 2
    assert found['pressroom_batch_documents_left{shard="a"}'] == 15_000
    assert found['pressroom_batch_documents_left{shard="b"}'] == 10
    assert 500 <= found['pressroom_batch_oldest_seconds{shard="a"}'] < 560
    assert 20 <= found['pressroom_batch_oldest_seconds{shard="b"}'] < 80
    assert exported(["only"])['pressroom_batch_documents_left{shard="only"}'] == 15_010


def test_accepted_renders_are_left_until_they_have_ended(accept, exported, database):
    account = account_of("a")
    accept(account, 10, ago=20)
    with database.session() as session:
        ensure_in_rotation(session, [account], at=now())
        add_jobs(session, [record("x", number) for number in range(30)])
        session.execute(
            update(jobs).values(account_id=account, queued_at=now() - timedelta(seconds=70))
        )
        asked = next(
            e for e in claim_slices(session, window=9, at=now()) if isinstance(e, JobSlice)
        )
        assert len(claim_jobs(session, asked, limit=5, at=now())) == 5
        session.execute(
            update(jobs).where(jobs.c.id == "job_x000000").values(status=JobStatus.SUCCEEDED)
        )
    found = exported()
    assert found['pressroom_batch_documents_left{shard="a"}'] == 10 + 29
    assert found['pressroom_batches_unfinished{shard="a"}'] == 1
    assert 70 <= found['pressroom_batch_oldest_seconds{shard="a"}'] < 130


def test_documents_that_have_ended_are_not_left_and_those_at_work_are(accept, exported, database):
    batch_id = accept(account_of("a"), 640, ago=5)
    with database.session() as session:
        first, second = claim_slices(session, window=2, at=now())
        start_slice(session, second, at=now())
        _, chunk = start_slice(session, first, at=now())
        ended = [DocumentResult(index, pages=1) for index in range(4)]
        commit_slice(session, chunk, ended, StoredPart(None, 0), done_bytes=40, at=now())
    assert exported()['pressroom_batch_documents_left{shard="a"}'] == 636
    with database.session() as session:
        cancel_batch(session, batch_id, at=now())
    found = exported()
    assert found['pressroom_batch_documents_left{shard="a"}'] == 0
    assert found['pressroom_batch_oldest_seconds{shard="a"}'] == 0
