"""What the chart gives to KEDA is of KEDA's own schema, and asks Prometheus what it can answer."""

import copy
import json
import subprocess

import pytest

from tests.deploy.deployment import documents

CHECK_SCALED = """
import { readFileSync } from 'node:fs';
import { ScaledObject } from '@kubernetes-models/keda/keda.sh/v1alpha1';
for (const each of JSON.parse(readFileSync(0, 'utf8'))) new ScaledObject(each).validate();
"""
SCALED = [
    each
    for shards in (1, 2)
    for each in documents("ScaledObject", json.dumps({"shards": shards})).values()
]


def check_scaled(schemas, scaled):
    (schemas / "scaled.mjs").write_text(CHECK_SCALED)
    return subprocess.run(
        ["node", "scaled.mjs"], cwd=schemas, input=json.dumps(scaled), text=True, check=False
    ).returncode


def test_the_pools_hold_against_kedas_schema_and_a_wrong_one_does_not(schemas):
    assert check_scaled(schemas, SCALED) == 0
    wrong = copy.deepcopy(SCALED[:1])
    wrong[0]["spec"]["maxReplicaCount"] = "many"
    assert check_scaled(schemas, wrong) != 0


@pytest.mark.parametrize("each", SCALED, ids=lambda each: each["metadata"]["name"])
def test_the_scaling_query_of_a_pool_is_valid_promql(each, tmp_path):
    rules = [
        {"record": f"pool:asked{number}", "expr": trigger["metadata"]["query"]}
        for number, trigger in enumerate(each["spec"]["triggers"])
    ]
    file = tmp_path / "rules.yml"
    file.write_text(json.dumps({"groups": [{"name": "asked", "rules": rules}]}))
    subprocess.run(["promtool", "check", "rules", str(file)], check=True, capture_output=True)
